"""Writing a memory into its place: what it replaces, which file it gets, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from mewcode_magic.errors import InvalidMemory
from mewcode_magic.files import shown
from mewcode_magic.memory.arrivals import Arrivals
from mewcode_magic.memory.document import write_document
from mewcode_magic.memory.names import free_name, has_name
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import PLACE_OF, Memory, slug_of

__all__ = ["Saved", "Writing", "namesakes"]

Action: TypeAlias = Literal["created", "updated", "unchanged", "moved"]


@dataclass(frozen=True)
class Saved:
    """What a save did."""

    memory: Memory
    """As it stands now; where nothing was written, the one that stood already."""
    path: Path
    action: Action
    notes: list[str] = field(default_factory=list)
    """What the user should know besides, one line each."""


class Writing:
    """Writes memories into their places. Whoever calls it holds the locks of the places that it changes."""

    def __init__(self, places: MemoryPlaces, arrivals: Arrivals) -> None:
        self._places, self._arrivals = places, arrivals

    def standing(self, memory: Memory) -> Memory | None:
        """Return the memory that a save of `memory` replaces: its own file's, else its name's."""
        everything = self._places.all_memories()
        if own := next((m for m in everything if m.path == memory.path), None):
            return own
        same = [m for m in everything if has_name(m, memory.name)]
        return next((m for m in same if m.place == PLACE_OF[memory.type]), next(iter(same), None))

    def save(self, memory: Memory, standing: Memory | None, *, rename: bool, at: str | None) -> Saved:
        """Write `memory` in the place of `standing`, if there is one.

        Raises:
            InvalidMemory: another memory has its name, or something stands at `at`.
            StorageError: it cannot be written; what stood still stands.
        """
        now = datetime.now(UTC)
        everything = self._places.all_memories()
        if at is not None and standing is not None and standing.path != memory.path:
            raise InvalidMemory(
                f"there is a {standing.type} memory {standing.name!r} already, in {standing.slug}.md: change "
                "that one, or give another name"
            )
        others = [m for m in everything if standing is None or m.path != standing.path]
        twin = next((m for m in others if m.body_key == memory.body_key and not m.is_expired(now)), None)
        if twin and twin.path:
            note = f"the {twin.type} memory {twin.name!r} says this already, so nothing was written"
            if twin.type != memory.type:
                note += f"; save it under that name to make it a {memory.type} memory"
            return Saved(twin, twin.path, "unchanged", [note])
        if rename:
            memory = replace(memory, name=free_name(everything, memory.name))
        if standing is None or standing.path is None:
            memory = replace(memory, created=memory.created or now, updated=memory.updated or now)
            return self._written(memory, None, "created", at)
        if not has_name(standing, memory.name) and any(has_name(m, memory.name) for m in others):
            raise InvalidMemory(f"cannot rename {standing.name!r}: there is a memory {memory.name!r} already")
        memory = _succeeding(memory, standing)
        renamed = at not in (None, standing.slug)
        if memory == standing and PLACE_OF[memory.type] == standing.place and not renamed:
            return Saved(standing, standing.path, "unchanged")
        # A new path makes nothing newer that the memory says.
        updated = standing.when if renamed and memory.body == standing.body else now
        memory = replace(memory, created=memory.created or standing.modified, updated=updated)
        saved = self._written(memory, standing, "updated", at)
        if saved.path == standing.path:
            return saved
        self._places[standing.place].trash.take(standing.path)
        note = f"before, it was the {standing.type} memory {standing.name!r} in {shown(standing.path.parent)}"
        return replace(saved, action="moved", notes=[note])

    def merge(self, sources: Sequence[Memory], memory: Memory) -> Saved:
        """Write `memory` in the place of `sources`, which go to the trash.

        Raises:
            InvalidMemory: another memory has its name.
            StorageError: it cannot be written, or one of them not be moved.
        """
        paths = {source.path for source in sources}
        others = [m for m in self._places.all_memories() if m.path not in paths]
        if any(has_name(m, memory.name) for m in others):
            raise InvalidMemory(f"there is another memory {memory.name!r} by now; look at the list again")
        saved = self._written(memory, None, "created", None)
        for source in sources:
            if source.path and source.path != saved.path:
                self._places[source.place].trash.take(source.path)
        return saved

    def _written(self, memory: Memory, standing: Memory | None, action: Action, at: str | None) -> Saved:
        """Write a memory over what has its name in its type's place, or to a path that is free.

        With `at` that path is given: it must be free, or the memory's own.
        """
        place = PLACE_OF[memory.type]
        folder = self._places[place]
        occupant = next((m for m in self._places.memories(place) if has_name(m, memory.name)), None)
        if standing and self._places[standing.place] is folder and has_name(standing, memory.name):
            occupant = standing
        if at is None:
            path = (occupant and occupant.path) or folder.free_path(slug_of(memory.name))
        else:
            path = folder.path / f"{at}.md"
            if standing is None or path != standing.path:
                folder.make_room(path)
        if place == "project":
            self._arrivals.expect(path)
        folder.write(path, write_document(memory))
        return Saved(self._places.at(path) or replace(memory, path=path), path, action)


def namesakes(places: MemoryPlaces, memory: Memory) -> list[str]:
    """Return a line if the other place has a memory of that name too, else none.

    So it is where two processes save one name at the same time, each in a place of its own: neither holds
    the other's lock, but whoever looks last sees both.
    """
    others = [m for m in places.all_memories() if m.place != memory.place and has_name(m, memory.name)]
    return [
        f"the {m.type} memory {m.name!r} in {shown(m.path)} has the same name; --type says which one is meant"
        for m in others
        if m.path
    ]


def _succeeding(memory: Memory, standing: Memory) -> Memory:
    """Return `memory` with what it takes over from the one that it replaces."""
    return replace(
        memory,
        created=standing.created or memory.created,
        updated=standing.updated,
        source=memory.source or standing.source,
        extra={**standing.extra, **memory.extra},
    )
