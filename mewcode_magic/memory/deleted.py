"""Memories in the trash of both places: found by name, and brought back."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from mewcode_magic.errors import StorageError
from mewcode_magic.memory.document import read_document
from mewcode_magic.memory.names import has_name
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import PLACE_OF, Memory
from mewcode_magic.memory.trash import TrashedFile

__all__ = ["DeletedMemory", "in_trash", "put_back"]


@dataclass(frozen=True)
class DeletedMemory:
    """A memory in the trash: one that was deleted, or an earlier version of one that stands."""

    memory: Memory
    when: datetime
    """When it was put there, in UTC."""
    file: TrashedFile


def in_trash(places: MemoryPlaces) -> list[DeletedMemory]:
    """Return what the trash of both places holds, the latest first."""
    found = []
    for folder in places.folders():
        for file in folder.trash.files():
            if file.relative == folder.index_path.relative_to(folder.path):
                continue
            with contextlib.suppress(StorageError):
                slug = file.relative.as_posix().removesuffix(".md")
                memory, _ = read_document(folder.read(file.path)[0], slug, folder.place, path=file.path)
                place = PLACE_OF[memory.type] if places.shared else folder.place
                found.append(DeletedMemory(replace(memory, found_in=place), file.when, file))
    return sorted(found, key=lambda item: item.when, reverse=True)


def put_back(places: MemoryPlaces, deleted: DeletedMemory) -> Path:
    """Move a memory from the trash to where it stood, and what stands under its name into the trash.

    Needs the lock of its place.

    Raises:
        StorageError: it cannot be moved; all stays as it was.
    """
    memory, file = deleted.memory, deleted.file
    folder = places[memory.place]
    standing = next((m for m in places.memories(memory.place) if has_name(m, memory.name)), None)
    replaced = folder.trash.take(standing.path) if standing and standing.path else None
    target = folder.path / file.relative
    if os.path.lexists(target):  # something else has been put there since
        target = folder.free_path(memory.slug)
    try:
        folder.trash.put_back(file, target)
    except StorageError:
        if replaced:
            folder.trash.put_back(replaced, folder.path / replaced.relative)
        raise
    return target
