"""The memory store: all that reads and writes memories.

What is about the person (`user`, `feedback`) stands in `<home>/memory`, what is about the project (`project`,
`reference`) in `.mewcode/memory` of its main checkout. One memory is one Markdown file, named by its slug;
the folder is the truth, and its `MEMORY.md` is derived. Files may change by hand at any time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from mewcode_magic.config import MewCode
from mewcode_magic.errors import MemoryAmbiguous, MemoryNotFound, one_line
from mewcode_magic.files import shown
from mewcode_magic.memory.arrivals import Arrivals
from mewcode_magic.memory.changes import Changes
from mewcode_magic.memory.check import check_folder, check_memories
from mewcode_magic.memory.deleted import DeletedMemory, discard, gone, latest, purge_file, put_back, versions
from mewcode_magic.memory.fix import Mended, mend, places_to_mend
from mewcode_magic.memory.folder import Problem
from mewcode_magic.memory.names import matching, similar_names
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import PLACE_OF, PLACES, Memory, Place
from mewcode_magic.memory.screened import Screen, named, refuse_credentials
from mewcode_magic.memory.sent_index import fullness, sent_index
from mewcode_magic.memory.validity import place_of, validate, validate_slug
from mewcode_magic.memory.writing import Saved, Writing, namesakes

__all__ = ["MemoryStore"]

LOCK_SECONDS = 10.0

# Inside the class, `list` is a method.
Memories: TypeAlias = list[Memory]
DeletedMemories: TypeAlias = list[DeletedMemory]
Problems: TypeAlias = list[Problem]
Mendings: TypeAlias = list[Mended]
Notes: TypeAlias = list[str]


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
        self._places = MemoryPlaces(Path(project_dir).absolute(), Path(home).absolute())
        self._arrivals = Arrivals(self._places, Path(home).absolute())
        self._writing = Writing(self._places, self._arrivals)
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
        return sent_index(self._places, place, self.settings)

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
        return self._arrivals.take()

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
                standing = None if rename_if_taken else self._writing.standing(memory)
                if standing is None or standing.place in places:
                    if if_unchanged is not None:
                        self._places.refuse_if_changed(if_unchanged)
                    if not force:
                        stays = standing is not None and standing.place == PLACE_OF[memory.type]
                        given = memory if at is None else replace(memory, file_slug=at)
                        refuse_credentials(given, standing if stays else None)
                    saved = self._writing.save(memory, standing, rename=rename_if_taken, at=at)
                    saved = self._settled(saved, places)
                    if force and (found := self._screen.found(saved.memory)):
                        note = f"it seems to hold a credential, masked when it is sent: {named(found)}"
                        saved = replace(saved, notes=[*saved.notes, note])
                    return saved
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
                self._places.refuse_if_changed(source)
            saved = self._writing.merge(sources, memory)
            return self._settled(saved, {saved.memory.place, *(source.place for source in sources)})

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
                self._places.refuse_if_changed(replace(if_unchanged, path=found.path))
            if purge:
                purge_file(self._places, found, found.path)
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
        trashed = latest(self._places, name)
        place = trashed.memory.place
        with self._places.locked({place}, self.lock_seconds):
            path = put_back(self._places, trashed)
            self._settle({place})
        return self._places.at(path) or replace(trashed.memory, path=path)

    def deleted(self) -> DeletedMemories:
        """Return what `restore` brings back and nothing stands for, each name once, the latest first."""
        return gone(self._places)

    def _delete_trashed(self, name: str, type: str | None, *, purge: bool) -> Memory:
        """Remove from the trash what stands nowhere else, if `purge` says so."""
        found = versions(self._places, name, None if type is None else place_of(type))
        if not found:
            near = similar_names(self.list(), name)
            raise MemoryNotFound(f"no memory has the name or slug {name!r}{near}")
        if not purge:
            raise MemoryNotFound(f"{name!r} is deleted already; it can be restored, or purged from the trash")
        with self._places.locked({item.memory.place for item in found}, self.lock_seconds):
            discard(self._places, found)
        return found[0].memory

    def _settled(self, saved: Saved, places: set[Place]) -> Saved:
        """Return what a save did with what else the user should know, once the places are settled."""
        notes = list(saved.notes)
        if saved.action != "unchanged":
            notes += namesakes(self._places, saved.memory)
            notes += self._fullness(PLACE_OF[saved.memory.type])
        return replace(saved, notes=[*notes, *self._settle(places)])

    def _settle(self, places: set[Place]) -> Notes:
        """Mend the indexes and empty the trash of what is old, under the locks; return what went wrong."""
        folders = dict.fromkeys(self._places[place] for place in PLACES if place in places)
        for folder in folders:
            folder.clean_up(self.settings.trash_days)
        return [note for folder in folders if (note := folder.mend_index())]

    def _fullness(self, place: Place) -> Notes:
        return fullness(self._places, place, self.settings)
