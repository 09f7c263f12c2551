"""The two memory folders: the home's for what is about the person, the project's for the rest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mewcode_magic.errors import MemoryChanged, StorageError
from mewcode_magic.files import private_folder, shown
from mewcode_magic.memory.folder import MemoryFolder, real
from mewcode_magic.memory.record import PLACE_OF, PLACES, Memory, Place
from mewcode_magic.project import main_checkout, mark_private

__all__ = ["MemoryPlaces"]


class MemoryPlaces:
    """Both places of one project. Where its `.mewcode` is the MewCode home, one folder serves as both."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project = main_checkout(project)
        personal = MemoryFolder(home / "memory", "user")
        ours = MemoryFolder(self.project / ".mewcode" / "memory", "project", within=self.project)
        self.shared = real(personal.path) == real(ours.path)
        self._folders: dict[Place, MemoryFolder] = {
            "user": personal,
            "project": personal if self.shared else ours,
        }

    def __getitem__(self, place: Place) -> MemoryFolder:
        return self._folders[place]

    def folders(self) -> list[MemoryFolder]:
        """Return the folders, one if it serves as both."""
        return list(dict.fromkeys(self._folders.values()))

    def memories(self, place: Place) -> list[Memory]:
        """Return a place's memories.

        Of the home's folder only `user` and `feedback` count: the others are about the home as a project.
        """
        found = self._folders[place].contents().memories
        if self.shared:
            return [replace(m, found_in=place) for m in found if PLACE_OF[m.type] == place]
        return [m for m in found if place == "project" or PLACE_OF[m.type] == place]

    def all_memories(self) -> list[Memory]:
        """Return both places' memories."""
        return [memory for place in PLACES for memory in self.memories(place)]

    def at(self, path: Path) -> Memory | None:
        """Return the memory of that file."""
        return next((memory for memory in self.all_memories() if memory.path == path), None)

    def refuse_if_changed(self, read: Memory) -> None:
        """Refuse what was decided about a memory that is no longer as it was `read`.

        Raises:
            MemoryChanged: its file holds something else by now, or is gone.
        """
        now = self.at(read.path) if read.path else None
        if now != read:
            what = "changed on disk" if now else "was deleted or moved"
            raise MemoryChanged(
                f"the memory {read.name!r} {what} since it was read; read it again, then repeat the change"
            )

    @contextlib.contextmanager
    def locked(self, places: set[Place], seconds: float) -> Iterator[None]:
        """Make the places' folders where they are missing, and hold their locks.

        Raises:
            StorageError: a folder cannot be made, or a lock was not to be had in `seconds`.
        """
        with contextlib.ExitStack() as locks:
            # In one order, so that two who want both do not wait for each other.
            for folder in dict.fromkeys(self._folders[place] for place in PLACES if place in places):
                if refusal := folder.refusal():
                    raise StorageError(f"cannot change {shown(folder.path)}: {refusal}")
                if folder is self._folders["project"]:
                    mark_private(self.project)
                private_folder(folder.path)
                locks.enter_context(folder.locked(seconds))
            yield
