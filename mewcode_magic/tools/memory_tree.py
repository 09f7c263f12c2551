"""The memories as the memory tool sees them: files and directories below `/memories`.

::

    /memories/user/…      types user, feedback       <home>/memory
    /memories/project/…   types project, reference   <project>/.mewcode/memory

What the store lists is all that there is: hidden files, other files than Markdown, links that lead out, and
`MEMORY.md`, which follows from the rest, are not. A path is looked up in that list and never opened as it is.
"""

from __future__ import annotations

import contextlib
import unicodedata
from urllib.parse import unquote

from mewcode_magic.errors import InvalidMemory
from mewcode_magic.memory import PLACE_OF, PLACES, Memory, MemoryStore, Place

__all__ = ["ROOTS", "MemoryTree", "canonical", "directory_target", "file_target"]

ROOT = "/memories"
ROOTS = (ROOT, *(f"{ROOT}/{place}" for place in PLACES))
"""The directories that are always there."""

LEVELS = 2
"""Levels of a directory that are listed."""


class MemoryTree:
    """The memories by path, as they stand at one moment."""

    def __init__(self, store: MemoryStore) -> None:
        self._files = {
            unicodedata.normalize("NFC", f"{ROOT}/{memory.place}/{memory.slug}.md"): memory
            for memory in store.list()
        }

    def file(self, path: str) -> Memory | None:
        """Return the memory of a canonical path."""
        return self._files.get(path)

    def below(self, path: str) -> dict[str, Memory]:
        """Return the memories in a directory and its subdirectories, by path."""
        return {file: m for file, m in self._files.items() if file.startswith(f"{path}/")}

    def exists(self, path: str) -> bool:
        """Return whether there is such a file or directory."""
        return path in self._files or self.is_directory(path)

    def is_directory(self, path: str) -> bool:
        """Return whether there is such a directory; but for the roots, one without files is none."""
        return path in ROOTS or bool(self.below(path))

    def listing(self, path: str) -> list[str]:
        """Return a line for a directory and each entry two levels deep: its size, a tab, its path.

        A directory is as large as all that is in it, and ends in a slash.
        """
        sizes = {path: 0, **{f"{root}/": 0 for root in ROOTS if root.startswith(f"{path}/")}}
        for file, memory in self.below(path).items():
            size = _bytes_of(memory)
            sizes[path] += size
            parts = file[len(path) + 1 :].split("/")
            for level in range(1, min(LEVELS, len(parts)) + 1):
                entry = "/".join([path, *parts[:level]]) + ("/" if level < len(parts) else "")
                sizes[entry] = sizes.get(entry, 0) + size
        return [f"{_in_units(sizes[entry])}\t{entry}" for entry in sorted(sizes, key=lambda e: e.split("/"))]


def canonical(path: str) -> str:
    """Return a path without empty parts and without `.`.

    Raises:
        InvalidMemory: it does not lead into /memories, or leads out of it, be it only once it is decoded.
    """
    decoded = path
    while (plain := unquote(decoded)) != decoded:  # each pass makes it shorter
        decoded = plain
    hidden = decoded.count("/") != path.count("/")
    if hidden or "\\" in decoded or "\0" in decoded or ".." in decoded.split("/"):
        raise InvalidMemory(f"Path {path} would escape {ROOT} directory")
    parts = [part for part in unicodedata.normalize("NFC", path).split("/") if part not in ("", ".")]
    if not path.startswith("/") or parts[:1] != [ROOT[1:]]:
        raise InvalidMemory(f"Path must start with {ROOT}, got: {path}")
    return "/".join(["", *parts])


def file_target(path: str) -> tuple[Place, str]:
    """Return the place of a canonical path at which a memory is to stand, and its slug.

    Raises:
        InvalidMemory: no memory can stand there.
    """
    place, slug = directory_target(path)
    if not slug.endswith(".md"):
        raise InvalidMemory(f"{path} cannot be a memory: its files are Markdown and end in .md")
    return place, slug.removesuffix(".md")


def directory_target(path: str) -> tuple[Place, str]:
    """Return the place of a canonical path, and the rest of the path below it.

    Raises:
        InvalidMemory: it lies in neither place.
    """
    for place in PLACES:
        start = f"{ROOT}/{place}/"
        if path.startswith(start):
            return place, path[len(start) :]
    types = [f"{ROOT}/{place} for the types {' and '.join(_types_of(place))}" for place in PLACES]
    raise InvalidMemory(f"{path} cannot be a memory: memories stand in {', in '.join(types)}")


def _types_of(place: Place) -> list[str]:
    return [type_ for type_, where in PLACE_OF.items() if where == place]


def _bytes_of(memory: Memory) -> int:
    with contextlib.suppress(OSError):  # deleted since it was listed
        if memory.path is not None:
            return memory.path.stat().st_size
    return 0


def _in_units(size: int) -> str:
    """Return a number of bytes as the tool's documentation shows them: 0B, 512B, 1.5K, 2M."""
    for unit, bytes_ in (("M", 1 << 20), ("K", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.1f}".removesuffix(".0") + unit
    return f"{size}B"
