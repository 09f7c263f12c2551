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

from mewcode_magic.errors import InvalidMemory, StorageError
from mewcode_magic.files import Lock, private_folder, read_text, reason, shown, storage_errors, write_atomic
from mewcode_magic.memory.document import read_document
from mewcode_magic.memory.index import IndexLine, merged, parsed
from mewcode_magic.memory.record import Memory, Place, moment
from mewcode_magic.memory.trash import Trash

__all__ = ["MAX_BYTES", "Contents", "MemoryFolder", "Problem", "ProblemKind", "changed_at", "real"]

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
    "alike",
    "too long",
    "stale",
    "expired",
    "index full",
    "credential",
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


Reading: TypeAlias = tuple[tuple[int, int, int], Contents]
"""What tells one state of a file from another (mtime in ns, bytes, inode), and what was read then."""

_UNREAD = (0, 0, 0)


class MemoryFolder:
    """A folder of memory files and its `MEMORY.md`. Reading takes no lock.

    Args:
        path: the folder; it need not exist.
        place: the place that it is.
        within: a folder that no link on the way may lead out of; a repository can bring links along.
    """

    def __init__(self, path: Path, place: Place, *, within: Path | None = None) -> None:
        self.path = path
        self.place = place
        self._within = within
        self.trash = Trash(path)
        self.index_path = path / "MEMORY.md"
        self._read: dict[str, Reading] = {}

    def contents(self) -> Contents:
        """Return what is in the folder and its subfolders; files that did not change are not read again."""
        read: dict[str, Reading] = {}
        problems: list[Problem] = []
        if refusal := self.refusal():
            return Contents((), (Problem("unreadable", self.path, refusal),))
        waiting = [os.fspath(self.path)]
        while waiting:
            folder = waiting.pop(0)
            try:
                with os.scandir(folder) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except FileNotFoundError:
                continue
            except OSError as error:
                text = f"the folder cannot be read: {reason(error)}"
                problems.append(Problem("unreadable", Path(folder), text))
                continue
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.name.endswith(".md") and not self._is_index(folder, entry.name):
                    read[entry.path] = self._file(entry)
        self._read = read
        files = [contents for _, contents in read.values()]
        return Contents(
            tuple(memory for file in files for memory in file.memories),
            (*problems, *(problem for file in files for problem in file.problems)),
        )

    def refusal(self) -> str:
        """Return why the folder must not be used, or ""."""
        if self._within is None or real(self.path).is_relative_to(real(self._within)):
            return ""
        return "it leads out of the project over a link, which is not followed; put a folder there"

    def read(self, path: Path) -> tuple[str, bool]:
        """Return the text of a file in the folder, and whether all of it was UTF-8.

        Raises:
            StorageError: it cannot be read, or must not be: a link that leads out, no plain file, too large.
        """
        with storage_errors("read", path):
            info = path.stat()
        if refusal := self.refusal() or self._refusal_of(path, info):
            raise StorageError(f"cannot read {shown(path)}: {refusal}")
        return read_text(path)

    def write(self, path: Path, text: str) -> None:
        """Write a file in the folder; what stands there goes to the trash. Needs the lock.

        Raises:
            StorageError: it cannot be written; what stood still stands.
        """
        kept = self.trash.keep(path) if os.path.lexists(path) else None
        try:
            write_atomic(path, text)
        except StorageError:
            if kept:
                self.trash.discard(kept)
            raise

    def index_text(self) -> tuple[str, bool]:
        """Return the text of the index file, "" if there is none, and whether all of it was UTF-8.

        Raises:
            StorageError: it cannot be read, or must not be.
        """
        return self.read(self.index_path) if os.path.lexists(self.index_path) else ("", True)

    def index_lines(self) -> list[IndexLine]:
        """Return the lines of the index file, none if it cannot be read."""
        try:
            return parsed(self.index_text()[0])
        except StorageError:
            return []

    def mend_index(self) -> str:
        """Bring the index file up to date, and return why it could not be, or "".

        It is derived, so a failure loses nothing: whoever holds the lock next does it.
        """
        try:
            text, clean = self.index_text()
            before = parsed(text)
            contents = self.contents()
            unread = [self._slug(p.path) for p in contents.problems if p.kind == "unreadable"]
            after = [line.text for line in merged(before, contents.memories, unread=unread)]
            if after == [line.text for line in before]:
                return ""
            if not clean:
                self.trash.keep(self.index_path)
            write_atomic(self.index_path, "".join(f"{line}\n" for line in after))
        except StorageError as error:
            return f"the memory is safe, but {error}"
        return ""

    @contextlib.contextmanager
    def locked(self, seconds: float) -> Iterator[None]:
        """Hold the folder's lock, waiting at most `seconds` for it.

        Raises:
            StorageError: nothing may be changed in the folder, another process holds the lock all that time,
                or it cannot be made.
        """
        if not os.access(self.path, os.W_OK | os.X_OK):  # a lock file that is there already would not tell
            raise StorageError(f"cannot change {shown(self.path)}: permission denied; change its permissions")
        if (self.path / ".lock").is_symlink():  # its target would be overwritten
            raise StorageError(f"{shown(self.path / '.lock')} is a link; remove it")
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

    def make_room(self, path: Path) -> None:
        """Make the subfolders for a new file. Needs the lock.

        Raises:
            InvalidMemory: something stands at `path` already.
            StorageError: a link stands in the way, which may lead anywhere, or a subfolder cannot be made.
        """
        if os.path.lexists(path):
            raise InvalidMemory(f"something stands at {shown(path)} already; choose another path")
        for parent in path.parents:
            if parent == self.path:
                break
            if parent.is_symlink():
                raise StorageError(f"{shown(parent)} is a link, which is not followed; choose another path")
        private_folder(path.parent)

    def clean_up(self, trash_days: float) -> None:
        """Empty the trash of what is too old, and remove what crashes left behind. Needs the lock."""
        self.trash.empty(timedelta(days=trash_days))
        oldest = time.time() - STRAY_SECONDS
        for stray in self.path.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if stray.stat().st_mtime < oldest:
                    stray.unlink()

    def _slug(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix().removesuffix(".md")

    def _is_index(self, folder: str, name: str) -> bool:
        # Without case: on some file systems `memory.md` is the same file.
        return name.lower() == "memory.md" and folder == os.fspath(self.path)

    def _file(self, entry: os.DirEntry[str]) -> Reading:
        """Return a file's signature and what it holds."""
        try:
            info = entry.stat()
        except OSError as error:
            if not os.path.lexists(entry.path):  # deleted since the folder was listed
                return _UNREAD, Contents()
            text = "it is a broken link" if entry.is_symlink() else f"it cannot be read: {reason(error)}"
            return _UNREAD, Contents((), (Problem("unreadable", Path(entry.path), text),))
        signature = (info.st_mtime_ns, info.st_size, info.st_ino)
        known = self._read.get(entry.path)
        if known and known[0] == signature:
            return known
        path = Path(entry.path)
        if refusal := self._refusal_of(path, info):
            return signature, Contents((), (Problem("unreadable", path, refusal),))
        try:
            text, clean = read_text(path)
        except StorageError as error:
            return _UNREAD, Contents((), (Problem("unreadable", path, str(error)),))
        modified = changed_at(info)
        memory, faults = read_document(text, self._slug(path), self.place, path=path, modified=modified)
        problems = [Problem("frontmatter", path, fault) for fault in faults]
        if not clean:
            text = "it is not UTF-8; what could not be read is shown as \N{REPLACEMENT CHARACTER}"
            problems.append(Problem("encoding", path, text))
        return signature, Contents((memory,), tuple(problems))

    def _refusal_of(self, path: Path, info: os.stat_result) -> str:
        """Return why a file must not be read, or ""."""
        if path.is_symlink() and not real(path).is_relative_to(real(self.path)):
            return "it is a link that leads out of the memory folder, which is not followed"
        if not stat.S_ISREG(info.st_mode):
            return "it is not a regular file"
        if info.st_size > MAX_BYTES:
            return f"it is larger than {MAX_BYTES >> 20} MiB, too large for a memory"
        return ""


def real(path: Path) -> Path:
    """Return `path` with its links followed as far as they lead; links in a circle are no error."""
    return Path(os.path.realpath(path))


def changed_at(info: os.stat_result) -> datetime | None:
    """Return when a file last changed, or None for a time that no calendar has."""
    try:
        return moment(datetime.fromtimestamp(info.st_mtime, UTC))
    except (ValueError, OverflowError, OSError):
        return None
