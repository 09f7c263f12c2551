"""Memories in the trash of both places: found by name, brought back, or removed for good."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from mewcode_magic.errors import MemoryNotFound, StorageError
from mewcode_magic.files import storage_errors
from mewcode_magic.memory.document import read_document
from mewcode_magic.memory.names import has_name, matching, similar_names
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import PLACE_OF, Memory, Place
from mewcode_magic.memory.trash import TrashedFile

__all__ = ["DeletedMemory", "discard", "gone", "latest", "purge_file", "put_back", "versions"]


@dataclass(frozen=True)
class DeletedMemory:
    """A memory in the trash: one that was deleted, or an earlier version of one that stands."""

    memory: Memory
    when: datetime
    """When it was put there, in UTC."""
    file: TrashedFile


def versions(places: MemoryPlaces, name: str, place: Place | None = None) -> list[DeletedMemory]:
    """Return what the trash of a place or of both has of a name, the latest first."""
    found = [item for item in _in_trash(places) if place in (None, item.memory.place)]
    return [item for item in found if matching([item.memory], name)]


def latest(places: MemoryPlaces, name: str) -> DeletedMemory:
    """Return what went to the trash last of those that `name` means best.

    Raises:
        MemoryNotFound: the trash has nothing of that name.
    """
    trashed = _in_trash(places)
    found = matching((item.memory for item in trashed), name)
    if not found:
        near = similar_names((item.memory for item in trashed), name)
        raise MemoryNotFound(f"nothing named {name!r} is in the trash{near}")
    return next(item for item in trashed if item.memory is found[0])


def gone(places: MemoryPlaces) -> list[DeletedMemory]:
    """Return what is in the trash and no memory stands for, each name once, the latest first."""
    known = places.all_memories()
    result = []
    for item in _in_trash(places):
        if not any(has_name(memory, item.memory.name) for memory in known):
            result.append(item)
            known.append(item.memory)
    return result


def purge_file(places: MemoryPlaces, memory: Memory, path: Path) -> None:
    """Remove the file of a memory for good, with its earlier versions in the trash. Needs its place's lock.

    Raises:
        StorageError: it cannot be removed.
    """
    with storage_errors("delete", path):
        path.unlink()
    discard(places, versions(places, memory.name, memory.place))


def discard(places: MemoryPlaces, items: Iterable[DeletedMemory]) -> None:
    """Remove for good what is in the trash. Needs the locks of its places.

    Raises:
        StorageError: it cannot be removed.
    """
    for item in items:
        places[item.memory.place].trash.discard(item.file)


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


def _in_trash(places: MemoryPlaces) -> list[DeletedMemory]:
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
