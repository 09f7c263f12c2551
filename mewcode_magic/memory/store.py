"""The memory store: all that reads and writes memories.

What is about the person (`user`, `feedback`) stands in `<home>/memory`, what is about the project (`project`,
`reference`) in `.mewcode/memory` of its main checkout. One memory is one Markdown file, named by its slug;
the folder is the truth, and its `MEMORY.md` is derived. Files may change by hand at any time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from mewcode_magic.config import MewCode
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import (
    InvalidMemory,
    MemoryAmbiguous,
    MemoryChanged,
    MemoryNotFound,
    one_line,
)
from mewcode_magic.files import shown, storage_errors
from mewcode_magic.memory.changes import Changes
from mewcode_magic.memory.check import check_folder, check_memories
from mewcode_magic.memory.deleted import DeletedMemory, in_trash, put_back
from mewcode_magic.memory.document import write_document
from mewcode_magic.memory.first_use import unknown_memories
from mewcode_magic.memory.fix import Mended, mend, places_to_mend
from mewcode_magic.memory.folder import Problem
from mewcode_magic.memory.index import IndexLine, capped, merged, size
from mewcode_magic.memory.names import free_name, has_name, matching, similar_names
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import PLACE_OF, PLACES, Memory, Place, slug_of
from mewcode_magic.memory.screened import Screen, named, refuse_credentials
from mewcode_magic.memory.validity import place_of, validate, validate_slug

__all__ = ["DeletedMemory", "MemoryStore", "Saved"]

LOCK_SECONDS = 10.0

_LISTED = "; %memory lists what there is"

Action: TypeAlias = Literal["created", "updated", "unchanged", "moved"]

# Inside the class, `list` is a method.
Memories: TypeAlias = list[Memory]
DeletedMemories: TypeAlias = list[DeletedMemory]
Lines: TypeAlias = list[IndexLine]
Problems: TypeAlias = list[Problem]
Mendings: TypeAlias = list[Mended]
Notes: TypeAlias = list[str]


@dataclass(frozen=True)
class Saved:
    """What a save did."""

    memory: Memory
    """As it stands now; where nothing was written, the one that stood already."""
    path: Path
    action: Action
    notes: list[str] = field(default_factory=list)
    """What the user should know besides, one line each."""


class MemoryStore:
    """The memories of a person and of one project.

    Args:
        project_dir: the project's folder; a linked git worktree shares its main checkout's memories.
        home: the MewCode folder.
        settings: the index's limits and the trash's days, read whenever they are needed.
    """

    def __init__(self, project_dir: Path | str, home: Path | str, *, settings: MewCode | None = None) -> None:
        self.settings = settings or MewCode()
        self.lock_seconds = LOCK_SECONDS
        """Seconds for which a change waits while another process is writing."""
        self._home = Path(home).absolute()
        self._places = MemoryPlaces(Path(project_dir).absolute(), self._home)
        self._told: set[str] = set()
        self._screen = Screen()

    def folder(self, place: Place) -> Path:
        """Return the folder of a place; it need not exist yet."""
        return self._places[place].path

    def list(self, place: Place | None = None) -> Memories:
        """Return the memories of one place or both, expired ones too; unchanged files are not read again."""
        return self._places.all_memories() if place is None else self._places.memories(place)

    def get(self, name: str, *, type: str | None = None) -> Memory | None:
        """Return the memory of that name or slug; a type says in which place.

        Raises:
            MemoryAmbiguous: it stands in both places, and no type says which is meant.
            InvalidMemory: the type is unknown.
        """
        found = matching(self.list(None if type is None else place_of(type)), name)
        if len({memory.place for memory in found}) > 1:
            types = " or ".join(memory.type for memory in found)
            raise MemoryAmbiguous(f"{name!r} stands in both places; say which one by its type, {types}")
        return found[0] if found else None

    def text(self, memory: Memory) -> str:
        """Return the text of a memory's file as it stands, its line ends Unix ones; it is not masked.

        Raises:
            MemoryNotFound: it has no file, or no longer.
            StorageError: it cannot be read.
        """
        if memory.path is None or not os.path.lexists(memory.path):
            raise MemoryNotFound(f"the file of {memory.name!r} was deleted or moved; look at the list again")
        text, _ = self._places[memory.place].read(memory.path)
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def index(self, place: Place) -> str:
        """Return what of a place goes into a request: its index lines within the limits, or "".

        It follows from the folder; MEMORY.md gives the order, the titles, and what people wrote there.
        Credentials in it are masked. It is data: escape it before wrapping it.
        """
        lines, most = self._live_lines(place), self.settings.index_max_bytes
        room = most
        while True:
            text = capped(lines, max_lines=self.settings.index_max_lines, max_bytes=room)
            masked = mask_credentials(text)
            excess = len(masked.encode()) - most  # masks can be longer than what they stand for
            if excess <= 0 or masked == text:
                return masked
            room -= excess

    def sendable(self, memory: Memory) -> Memory:
        """Return a memory as it may be sent: with masks for the credentials in its texts and its path.

        Files change by hand. One that did not change since is not looked through again.
        """
        return self._screen.sendable(memory)

    @property
    def notices(self) -> Notes:
        """One line for each file that cannot be read or sent as it is, and each index that is nearly full."""
        found = [p for folder in self._places.folders() for p in folder.contents().problems]
        problems = [p for p in found if p.kind in ("unreadable", "encoding")]
        problems += self._screen.problems(self._places)
        lines = [one_line(f"{shown(p.path)}: {p.text}") for p in problems]
        return lines + [note for place in PLACES for note in self._fullness(place)]

    def check(self) -> Problems:
        """Return all that a person should look at; nothing is changed."""
        shared = self._places.shared
        problems = [p for folder in self._places.folders() for p in check_folder(folder, shared=shared)]
        problems += check_memories(self.list(), datetime.now(UTC))
        problems += self._screen.problems(self._places)
        for place in PLACES:
            path = self._places[place].index_path
            problems += [Problem("index full", path, note) for note in self._fullness(place)]
        return problems

    def fix(self) -> Mendings:
        """Mend what `check` lists and can be mended with nothing lost; return what was done.

        Raises:
            StorageError: a folder cannot be changed at the moment; nothing was.
        """
        places = places_to_mend(self._places)
        with self._places.locked(places, self.lock_seconds):
            return mend(self._places, datetime.now(UTC))

    def arrivals(self) -> Memories:
        """Return the project's memories that came from elsewhere, such as a cloned repository; each once.

        Expired ones are not used, so that there is nothing to tell of them.
        """
        if self._places.shared:
            return []
        now = datetime.now(UTC)
        here = [memory for memory in self.list("project") if not memory.is_expired(now)]
        unknown = self._unknown(memory.slug for memory in here)
        return [memory for memory in here if memory.slug in unknown]

    def snapshot(self) -> dict[str, Memory]:
        """Return what the agent may know at this moment, by place and slug."""
        now = datetime.now(UTC)
        return {f"{m.place}/{m.slug}": m for m in self.list() if not m.is_expired(now)}

    @staticmethod
    def changes(before: dict[str, Memory], after: dict[str, Memory]) -> Changes:
        """Return what happened between two snapshots."""
        return Changes.between(before, after)

    def save(
        self,
        memory: Memory,
        *,
        rename_if_taken: bool = False,
        if_unchanged: Memory | None = None,
        force: bool = False,
        at: str | None = None,
    ) -> Saved:
        """Write a memory into the place of its type; what it replaces goes to the trash.

        It replaces the memory that it was read as, else the one of its name; another type moves it. What
        another memory says already, ignoring case and space, is not written again.

        Args:
            memory: what to write. On a replacement `updated` is set, `created` and other keys are kept.
            rename_if_taken: put a number behind the name instead of replacing the memory that has it.
            if_unchanged: the memory as it was read; if its file differs by now, nothing is written.
            force: write it also with what looks like a credential; for the user alone. What was forced once
                may stay where it is when the memory is updated.
            at: the file to write in the place of its type, as a path without `.md`, instead of the one that
                follows from the name. The memory of another file is not replaced then.

        Raises:
            CredentialRefused: it seems to hold a credential.
            InvalidMemory: a part is missing or too large, its type is unknown, or `at` cannot be used.
            MemoryChanged: the file is not what `if_unchanged` says.
            StorageError: it cannot be written; what stood still stands.
        """
        validate(memory)
        if at is not None and (memory.path is None or at != memory.slug):
            validate_slug(at)
        places = {place_of(memory.type)}
        while True:
            with self._places.locked(places, self.lock_seconds):
                standing = None if rename_if_taken else self._standing(memory)
                if standing is None or standing.place in places:
                    if if_unchanged is not None:
                        self._refuse_if_changed(if_unchanged)
                    if not force:
                        stays = standing is not None and standing.place == PLACE_OF[memory.type]
                        given = memory if at is None else replace(memory, file_slug=at)
                        refuse_credentials(given, standing if stays else None)
                    saved = self._save(memory, standing, rename=rename_if_taken, at=at)
                    notes = [*saved.notes, *self._settle(places)]
                    if force and (found := self._screen.found(saved.memory)):
                        notes.append(f"it seems to hold a credential, masked when it is sent: {named(found)}")
                    return replace(saved, notes=notes)
            places.add(standing.place)

    def merge(self, sources: Sequence[Memory], memory: Memory) -> Saved:
        """Write one memory in the place of several, which go to the trash.

        Raises:
            MemoryChanged: one of them is not as it was read; nothing is written.
            CredentialRefused: it seems to hold a credential.
            InvalidMemory: a part is missing or too large, or another memory has its name.
            StorageError: it cannot be written; what stood still stands.
        """
        validate(memory)
        refuse_credentials(memory, None)
        with self._places.locked({place_of(memory.type), *(s.place for s in sources)}, self.lock_seconds):
            for source in sources:
                self._refuse_if_changed(source)
            paths = {source.path for source in sources}
            if any(has_name(m, memory.name) for m in self.list() if m.path not in paths):
                raise InvalidMemory(f"there is another memory {memory.name!r} by now; look at the list again")
            saved = self._written(memory, None, "created", None)
            for source in sources:
                if source.path and source.path != saved.path:
                    self._places[source.place].trash.take(source.path)
            notes = self._settle({saved.memory.place, *(source.place for source in sources)})
        return replace(saved, notes=[*saved.notes, *notes])

    def delete(
        self, name: str, *, type: str | None = None, purge: bool = False, if_unchanged: Memory | None = None
    ) -> Memory:
        """Move a memory to the trash; with `purge` remove it for good, with its earlier versions there.

        `purge` also removes what is only in the trash. `if_unchanged` is the memory as it was read: its file
        is meant then, whatever else has the name, and if that differs by now, nothing is deleted.

        Raises:
            MemoryNotFound: no memory has that name or slug.
            MemoryAmbiguous: it stands in both places, and no type says which is meant.
            MemoryChanged: the file is not what `if_unchanged` says.
            StorageError: it cannot be moved or removed.
        """
        found = if_unchanged if if_unchanged and if_unchanged.path else self.get(name, type=type)
        if found is None or found.path is None:
            return self._delete_trashed(name, type, purge=purge)
        with self._places.locked({found.place}, self.lock_seconds):
            if not os.path.lexists(found.path):
                raise MemoryNotFound(
                    f"{name!r} was deleted or moved by another process; look at the list again"
                )
            if if_unchanged is not None:
                self._refuse_if_changed(replace(if_unchanged, path=found.path))
            if purge:
                with storage_errors("delete", found.path):
                    found.path.unlink()
                self._discard(self._versions(found.name, found.place))
            else:
                self._places[found.place].trash.take(found.path)
            self._settle({found.place})
        return found

    def restore(self, name: str) -> Memory:
        """Bring back what went to the trash last under that name; what stands under it goes there instead.

        Raises:
            MemoryNotFound: the trash has nothing of that name.
            StorageError: it cannot be moved; all stays as it was.
        """
        trashed = in_trash(self._places)
        found = matching((item.memory for item in trashed), name)
        if not found:
            near = similar_names((item.memory for item in trashed), name)
            raise MemoryNotFound(f"nothing named {name!r} is in the trash{near or _LISTED}")
        latest = next(item for item in trashed if item.memory is found[0])
        place = latest.memory.place
        with self._places.locked({place}, self.lock_seconds):
            path = put_back(self._places, latest)
            self._settle({place})
        return self._at(path) or replace(latest.memory, path=path)

    def deleted(self) -> DeletedMemories:
        """Return what `restore` brings back and nothing stands for, each name once, the latest first."""
        known = self.list()
        result = []
        for item in in_trash(self._places):
            if not any(has_name(memory, item.memory.name) for memory in known):
                result.append(item)
                known.append(item.memory)
        return result

    def _save(self, memory: Memory, standing: Memory | None, *, rename: bool, at: str | None) -> Saved:
        """Write under the locks that are held; `standing` is what the memory replaces."""
        now = datetime.now(UTC)
        everything = self.list()
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
        return replace(saved, action="moved", notes=[note, *saved.notes])

    def _written(self, memory: Memory, standing: Memory | None, action: Action, at: str | None) -> Saved:
        """Write a memory over what has its name in its type's place, or to a path that is free.

        With `at` that path is given: it must be free, or the memory's own.
        """
        place = PLACE_OF[memory.type]
        folder = self._places[place]
        occupant = next((m for m in self.list(place) if has_name(m, memory.name)), None)
        if standing and self._places[standing.place] is folder and has_name(standing, memory.name):
            occupant = standing
        if at is None:
            path = (occupant and occupant.path) or folder.free_path(slug_of(memory.name))
        else:
            path = folder.path / f"{at}.md"
            if standing is None or path != standing.path:
                folder.make_room(path)
        if place == "project" and not self._places.shared:
            # Before it is there: another process would tell the user that it came from elsewhere.
            self._unknown([path.relative_to(folder.path).as_posix().removesuffix(".md")])
        folder.write(path, write_document(memory))
        return Saved(self._at(path) or replace(memory, path=path), path, action, self._fullness(place))

    def _delete_trashed(self, name: str, type: str | None, *, purge: bool) -> Memory:
        """Remove from the trash what stands nowhere else, if `purge` says so."""
        versions = self._versions(name, None if type is None else place_of(type))
        if not versions:
            near = similar_names(self.list(), name)
            raise MemoryNotFound(f"no memory has the name or slug {name!r}{near or _LISTED}")
        if not purge:
            raise MemoryNotFound(f"{name!r} is deleted already; it can be restored, or purged from the trash")
        with self._places.locked({item.memory.place for item in versions}, self.lock_seconds):
            self._discard(versions)
        return versions[0].memory

    def _versions(self, name: str, place: Place | None) -> DeletedMemories:
        """Return what the trash has of a name, the latest first."""
        found = [item for item in in_trash(self._places) if place in (None, item.memory.place)]
        return [item for item in found if matching([item.memory], name)]

    def _discard(self, versions: DeletedMemories) -> None:
        for item in versions:
            self._places[item.memory.place].trash.discard(item.file)

    def _standing(self, memory: Memory) -> Memory | None:
        """Return the memory that a save of `memory` replaces: its own file's, else its name's."""
        everything = self.list()
        if own := next((m for m in everything if m.path == memory.path), None):
            return own
        same = [m for m in everything if has_name(m, memory.name)]
        return next((m for m in same if m.place == PLACE_OF[memory.type]), next(iter(same), None))

    def _unknown(self, slugs: Iterable[str]) -> set[str]:
        """Return those of the project's memories that this home does not know; from now on it does."""
        unknown = unknown_memories(self._home, self._places.project, slugs) - self._told
        self._told |= unknown  # where the home cannot be written
        return unknown

    def _at(self, path: Path) -> Memory | None:
        """Return the memory of that file."""
        return next((m for m in self.list() if m.path == path), None)

    def _refuse_if_changed(self, read: Memory) -> None:
        now = self._at(read.path) if read.path else None
        if now != read:
            what = "changed on disk" if now else "was deleted or moved"
            raise MemoryChanged(
                f"the memory {read.name!r} {what} since it was read; read it again, then repeat the change"
            )

    def _settle(self, places: set[Place]) -> Notes:
        """Mend the indexes and empty the trash of what is old, under the locks; return what went wrong."""
        folders = dict.fromkeys(self._places[place] for place in PLACES if place in places)
        for folder in folders:
            folder.clean_up(self.settings.trash_days)
        return [note for folder in folders if (note := folder.mend_index())]

    def _live_lines(self, place: Place) -> Lines:
        now = datetime.now(UTC)
        live = [memory for memory in self.list(place) if not memory.is_expired(now)]
        return merged(self._places[place].index_lines(), live)

    def _fullness(self, place: Place) -> Notes:
        """Return a line that asks to condense a place's index if it is nearly full."""
        count, total = size(self._live_lines(place))
        most_lines, most_bytes = self.settings.index_max_lines, self.settings.index_max_bytes
        if max(count / most_lines, total / most_bytes) < self.settings.index_warn_ratio:
            return []
        lines, room = f"{count} of {most_lines} lines", f"{total:,} of {most_bytes:,} bytes"
        advice = "%memory condense merges what overlaps; beyond the limits the oldest are not sent"
        return [f"the {place} memory index has {lines} and {room}; {advice}"]


def _succeeding(memory: Memory, standing: Memory) -> Memory:
    """Return `memory` with what it takes over from the one that it replaces."""
    return replace(
        memory,
        created=standing.created or memory.created,
        updated=standing.updated,
        source=memory.source or standing.source,
        extra={**standing.extra, **memory.extra},
    )
