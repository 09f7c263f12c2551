"""The file of one open session: appended to record by record, under a lock that is held meanwhile.

A record is one `write` on a descriptor that only appends. What could not be written waits, in order, and is
written before the next record; a line that was cut off gets its end first.
"""

from __future__ import annotations

import errno
import os
import weakref
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from mewcode_magic.errors import SessionInUse
from mewcode_magic.files import Lock, private_folder, storage_errors
from mewcode_magic.messages import Message
from mewcode_magic.project import mark_private
from mewcode_magic.sessions.encode import Entry

__all__ = ["RecordFile", "is_locked", "lock_session"]

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_NO_FILE = -1
_write = os.write
"""Looked up once, as the slots below are: an append may cost no more than the write itself does."""


def lock_session(path: Path) -> Lock:
    """Take the lock of the session whose JSONL is at `path`.

    Raises:
        SessionInUse: somebody else has it.
        StorageError: the lock file cannot be made.
    """
    lock = Lock(path.with_suffix(".lock"))
    if not lock.acquire(timeout=0.2):  # a look whether it is open holds it for a moment too
        raise SessionInUse(
            f"session {path.stem} is open in {lock.owner()}; close it there, or go on with a copy: "
            f"%resume {path.stem} --fork"
        )
    return lock


def is_locked(path: Path) -> bool:
    """Tell whether somebody has the session whose JSONL is at `path` open.

    Raises:
        StorageError: its lock file cannot be opened.
    """
    lock = Lock(path.with_suffix(".lock"))
    if not lock.path.exists():
        return False
    free = lock.acquire()
    lock.release()
    return not free


class RecordFile:
    """A session's JSONL, made with its first record. `waiting` is what is to be written next.

    `size`: bytes of the file, as far as they were written or read here. `ready`: it is open, nothing waits,
    and its last line has an end.
    """

    __slots__ = (
        "__weakref__",
        "_closing",
        "_descriptor",
        "_lock",
        "_project",
        "_torn",
        "path",
        "ready",
        "size",
        "waiting",
    )

    def __init__(self, path: Path, project: Path) -> None:
        self.path = path
        self.waiting: deque[Entry] = deque()
        self.size = 0
        self.ready = False
        self._project = project
        self._lock: Lock | None = None
        self._descriptor = _NO_FILE
        self._closing: weakref.finalize[[int], RecordFile] | None = None
        self._torn = False
        """The last line has no end: it gets one before the next record."""

    @classmethod
    def existing(cls, path: Path, project: Path, *, lock: Lock, size: int, torn: bool) -> RecordFile:
        """Return a file that was read to its `size`, open under its lock; `torn`: its last line has no end.

        Raises:
            StorageError: the file cannot be written.
        """
        file = cls(path, project)
        file._lock = lock
        file._open(_FLAGS)
        file.has_read(size, torn=torn)
        return file

    @property
    def is_open(self) -> bool:
        """Whether there is a file, and it is not closed."""
        return self._descriptor != _NO_FILE

    def write(self, line: bytes | bytearray) -> bool:
        """Write a line to a file that is `ready`, and tell whether all of it is there; else it must wait."""
        try:
            written = _write(self._descriptor, line)
        except OSError:
            written = 0
        self.size += written
        if written == len(line):
            return True
        self._torn = written > 0
        return False

    def write_waiting(self, recorded: list[Message]) -> None:
        """Write what waits, in order, and add the messages that are complete by it to `recorded`.

        Raises:
            StorageError: something cannot be written; it goes on waiting.
        """
        if not self.waiting:
            return
        self.ready = False
        if self._descriptor == _NO_FILE:
            self._make()
        with storage_errors("write", self.path):
            while self.waiting:
                line, message = self.waiting[0]
                if self._torn:
                    line = b"\n" + line
                written = _write(self._descriptor, line)
                self.size += written
                if written < len(line):
                    self._torn = True
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._torn = False
                self.waiting.popleft()
                if message is not None:
                    recorded.append(message)
        self.ready = True

    def write_at_once(self, entry: Entry, recorded: list[Message]) -> None:
        """Write what waits, and then an entry that does not wait.

        Raises:
            StorageError: something cannot be written; the entry is dropped.
        """
        self.write_waiting(recorded)
        self.waiting.append(entry)
        try:
            self.write_waiting(recorded)
        except BaseException:
            self.waiting.clear()
            raise

    def write_beside(self, entry: Entry, recorded: list[Message]) -> None:
        """Write what is no part of the conversation; the file stays as old as that, which orders lists.

        Raises:
            StorageError: it cannot be written; it goes on waiting.
        """
        stat = os.fstat(self._descriptor) if self.is_open and not self.waiting else None
        self.waiting.append(entry)
        self.write_waiting(recorded)
        if stat is not None:
            with storage_errors("write", self.path):
                os.utime(self.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def look(self) -> Literal["unchanged", "changed", "deleted"]:
        """Tell what others did to the file; one that was replaced, as editors do it, is opened anew.

        Raises:
            StorageError: it cannot be looked at, or what stands in its place not be opened.
        """
        if not self.is_open:
            return "unchanged"
        with storage_errors("read", self.path):
            stat = os.fstat(self._descriptor)
            if stat.st_nlink:
                return "unchanged" if stat.st_size == self.size else "changed"
            self._close_descriptor()
            if not self.path.exists():
                return "deleted"
            self._open(_FLAGS)
            return "changed"

    def has_read(self, size: int, *, torn: bool) -> None:
        """Take note of what somebody else wrote: the file's `size`, and whether its last line has no end."""
        self.size, self._torn = size, torn
        self.ready = not (torn or self.waiting)

    def write_anew(self, entries: Iterable[Entry], recorded: list[Message]) -> None:
        """Make a file that was deleted once more, of `entries`, and then of what waited already.

        Raises:
            StorageError: it cannot be written; all of it waits.
        """
        self._release_lock()  # its file is gone as well
        self.waiting = deque([*entries, *self.waiting])
        self.size, self._torn = 0, False
        self.write_waiting(recorded)

    def sync(self) -> os.stat_result:
        """See to it that all is on the disk, and return the state of the file.

        Raises:
            StorageError: that cannot be.
        """
        with storage_errors("write", self.path):
            os.fsync(self._descriptor)
            return os.fstat(self._descriptor)

    def close(self) -> None:
        """Close the file and let go of the lock; harmless when closed."""
        self._close_descriptor()
        self._release_lock()

    def _make(self) -> None:
        """Make the file, and the folders that it is in, for the first record."""
        mark_private(self._project)
        private_folder(self.path.parent)
        if self._lock is None:
            self._lock = lock_session(self.path)
        self._open(_FLAGS | os.O_CREAT | os.O_EXCL)

    def _open(self, flags: int) -> None:
        with storage_errors("write", self.path):
            self._descriptor = os.open(self.path, flags, 0o600)
        # A session that nobody closes gives its descriptor back too.
        self._closing = weakref.finalize(self, os.close, self._descriptor)

    def _close_descriptor(self) -> None:
        self._descriptor = _NO_FILE
        self.ready = False
        if self._closing is not None:
            self._closing()

    def _release_lock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None
