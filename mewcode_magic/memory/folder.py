"""One memory folder: what is in it, its lock, its index file and its trash."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from mewcode_magic.errors import StorageError
from mewcode_magic.files import Lock, read_text, shown, write_atomic
from mewcode_magic.memory.document import read_document
from mewcode_magic.memory.index import IndexLine, merged, parsed
from mewcode_magic.memory.record import Memory, Place
from mewcode_magic.memory.trash import Trash

__all__ = ["MAX_BYTES", "Contents", "MemoryFolder", "Problem", "ProblemKind", "is_index"]

MAX_BYTES = 1 << 20
"""Larger files are not read: a memory is a note."""

STRAY_SECONDS = 3600
"""Age at which a temporary file was left behind by a crash."""

ProblemKind: TypeAlias = Literal[
    "unreadable",
    "encoding",
    "frontmatter",
    "misplaced",
    "dangling",
    "not indexed",
    "stale index",
    "same name",
    "same body",
    "expired",
    "index full",
]


@dataclass(frozen=True)
class Problem:
    """Something that a person should look at; `text` is one line, without the path."""

    kind: ProblemKind
    path: Path
    text: str


@dataclass(frozen=True)
class Contents:
    """The memories of a folder by path, and what is wrong with its files."""

    memories: tuple[Memory, ...] = ()
    problems: tuple[Problem, ...] = ()


class MemoryFolder:
    """A folder of memory files and its `MEMORY.md`. Reading takes no lock."""

    def __init__(self, path: Path, place: Place) -> None:
        self.path = path
        self.place = place
        self.trash = Trash(path)
        self.index_path = path / "MEMORY.md"
        self._read: dict[Path, tuple[tuple[int, int, int], Contents]] = {}

    def contents(self) -> Contents:
        """Return what is in the folder and its subfolders; files that did not change are not read again."""
        read: dict[Path, tuple[tuple[int, int, int], Contents]] = {}
        root = self.path.resolve()
        problems: list[Problem] = []

        def unreadable(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                path = Path(error.filename)
                problems.append(Problem("unreadable", path, f"the folder cannot be read: {error.strerror}"))

        for parent, folders, names in os.walk(self.path, onerror=unreadable):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(parent, name)
                if (
                    name.endswith(".md")
                    and not name.startswith(".")
                    and not is_index(path.relative_to(self.path))
                ):
                    read[path] = self._file(path, root)
        self._read = read
        files = [contents for _, contents in read.values()]
        return Contents(
            tuple(memory for file in files for memory in file.memories),
            (*problems, *(problem for file in files for problem in file.problems)),
        )

    def index_lines(self) -> list[IndexLine]:
        """Return the lines of the index file, none if it is missing or cannot be read."""
        try:
            return parsed(read_text(self.index_path)[0])
        except StorageError:
            return []

    def mend_index(self) -> str:
        """Bring the index file up to date, and return why it could not be, or "".

        It is derived, so a failure loses nothing: whoever holds the lock next does it.
        """
        try:
            text, clean = read_text(self.index_path) if os.path.lexists(self.index_path) else ("", True)
            before = parsed(text)
            after = [line.text for line in merged(before, self.contents().memories)]
            if after == [line.text for line in before]:
                return ""
            if not self.holds(self.index_path):
                return f"{shown(self.index_path)} is a link that leads out of its folder; it was left alone"
            if not clean:
                self.trash.keep(self.index_path)
            write_atomic(self.index_path, "".join(f"{line}\n" for line in after))
        except StorageError as error:
            return f"the memory is safe, but {error}"
        return ""

    def holds(self, path: Path) -> bool:
        """Return whether `path` lies in this folder after following its links."""
        return _resolved(path).is_relative_to(self.path.resolve())

    @contextlib.contextmanager
    def locked(self, seconds: float) -> Iterator[None]:
        """Hold the folder's lock, waiting at most `seconds` for it.

        Raises:
            StorageError: another process holds it all that time, or it cannot be made.
        """
        lock = Lock(self.path / ".lock")
        if not lock.acquire(timeout=seconds):
            raise StorageError(
                f"cannot change {shown(self.path)}: {lock.owner()} has been writing there for {seconds:g} s; "
                "run the command again when it is done"
            )
        try:
            yield
        finally:
            lock.release()

    def free_path(self, slug: str) -> Path:
        """Return the path for a new memory, with a number behind the slug where something stands already."""
        number, path = 1, self.path / f"{slug}.md"
        while os.path.lexists(path):
            number += 1
            path = self.path / f"{slug}-{number}.md"
        return path

    def clean_up(self, trash_days: float) -> None:
        """Empty the trash of what is too old, and remove what crashes left behind. Needs the lock."""
        self.trash.empty(timedelta(days=trash_days))
        oldest = time.time() - STRAY_SECONDS
        for stray in self.path.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if stray.stat().st_mtime < oldest:
                    stray.unlink()

    def _file(self, path: Path, root: Path) -> tuple[tuple[int, int, int], Contents]:
        """Return a file's signature and what it holds."""
        try:
            info = path.stat()
        except OSError as error:
            if not os.path.lexists(path):  # deleted since the folder was listed
                return (0, 0, 0), Contents()
            text = "it is a broken link" if path.is_symlink() else f"it cannot be read: {error.strerror}"
            return (0, 0, 0), Contents((), (Problem("unreadable", path, text),))
        signature = (info.st_mtime_ns, info.st_size, info.st_ino)
        known = self._read.get(path)
        if known and known[0] == signature:
            return known
        refusal = ""
        if path.is_symlink() and not _resolved(path).is_relative_to(root):
            refusal = "it is a link that leads out of the memory folder, which is not followed"
        elif not stat.S_ISREG(info.st_mode):
            refusal = "it is not a regular file"
        elif info.st_size > MAX_BYTES:
            refusal = f"it is larger than {MAX_BYTES >> 20} MiB, too large for a memory"
        if refusal:
            return signature, Contents((), (Problem("unreadable", path, refusal),))
        try:
            text, clean = read_text(path)
        except StorageError as error:
            return (0, 0, 0), Contents((), (Problem("unreadable", path, str(error)),))
        slug = path.relative_to(self.path).as_posix().removesuffix(".md")
        changed = datetime.fromtimestamp(info.st_mtime, UTC)
        memory, faults = read_document(text, slug, self.place, path=path, modified=changed)
        problems = [Problem("frontmatter", path, fault) for fault in faults]
        if not clean:
            problems.append(
                Problem("encoding", path, "it is not UTF-8; what could not be read is shown as �")
            )
        return signature, Contents((memory,), tuple(problems))


def is_index(relative: Path) -> bool:
    """Return whether a path in a memory folder is that of its index file."""
    return str(relative).lower() == "memory.md"


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle
        return Path(path.anchor)
