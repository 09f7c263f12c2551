"""One open session: what was said, in memory, and the file that it is written to record by record.

A record is one `write` on a descriptor that only appends: to the file first, then to memory, under a lock
that is held for as long as the session is open. What could not be written waits, in order, and is written
before the next record.
"""

from __future__ import annotations

import errno
import os
import weakref
from collections import Counter, deque
from pathlib import Path

from mewcode_magic.errors import SessionError, SessionInUse
from mewcode_magic.files import Lock, private_folder, storage_errors
from mewcode_magic.messages import Message
from mewcode_magic.project import mark_private
from mewcode_magic.sessions.chain import repair_chain
from mewcode_magic.sessions.encode import Entry, entries_of, marker_entry
from mewcode_magic.sessions.facts import Facts, one_line, survey
from mewcode_magic.sessions.meta import write_meta
from mewcode_magic.sessions.replay import Replay, collection_paused, read_replay

__all__ = ["Session", "lock_session"]

NAME_LENGTH = 200
"""Characters of a title that is given by hand."""

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


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


class Session:
    """One conversation and its file; `SessionStore` begins and resumes it.

    `messages` is what a request replays. `closed`: nothing can be appended any more.
    """

    def __init__(self, path: Path, project: Path, facts: Facts) -> None:
        self.path = path
        self.messages: list[Message] = []
        self._project = project
        self._facts = facts
        self._unseen: list[Message] = []
        """Messages that are not in the facts yet."""
        self._pending: deque[Entry] = deque()
        """What is to be written next."""
        self._lock: Lock | None = None
        self._descriptor: int | None = None
        self._closing: weakref.finalize[[int], Session] | None = None
        self._size = 0
        """Bytes of the file as far as this session wrote or read it."""
        self._torn = False
        self._unsynced = False
        self.closed = False

    @classmethod
    def resumed(
        cls, path: Path, project: Path, facts: Facts, *, lock: Lock, replay: Replay, messages: list[Message]
    ) -> Session:
        """Return an open session on a file that was read, under its lock.

        Raises:
            StorageError: the file cannot be written.
        """
        session = cls(path, project, facts)
        session.messages = messages
        session._facts.dialect = replay.dialect
        session._size, session._torn = replay.end, replay.torn
        session._lock = lock
        session._open_file(_FLAGS)
        return session

    @property
    def id(self) -> str:
        """The session's name: that of its file without the ending."""
        return self.path.stem

    @property
    def title(self) -> str:
        """The title that it was given, else its first prompt; empty before that."""
        self._see_messages()
        return self._facts.title

    @property
    def notebook(self) -> str | None:
        """The notebook that its last prompt came from, as far as known."""
        self._see_messages()
        return self._facts.notebook

    def append(self, message: Message) -> Message:
        """Record a message and return it as it was recorded: with its time, in Unix seconds.

        A user message of `tool_result` blocks becomes one record a result. One that holds other blocks too
        becomes two messages, of which the second is returned.

        Raises:
            StorageError: it could not be written; it is kept and written before the next one.
            SessionError: the session is closed.
        """
        if self.closed:
            raise SessionError(f"session {self.id} is closed; %resume {self.id} opens it again")
        entries = entries_of(message, self._facts.dialect)
        self._pending += entries
        self._write_pending()
        return entries[-1][1] or message

    def refresh(self) -> list[Message]:
        """Take in what another program appended since, and return it; noticed by the file's size.

        A file that was replaced, as editors do it, is read anew; one that was deleted is written once more.

        Raises:
            StorageError: the file cannot be read, or not be written once more.
        """
        if self._descriptor is None:
            return []
        with storage_errors("read", self.path):
            stat = os.fstat(self._descriptor)
            if not stat.st_nlink:
                self._close_file()
                if not self.path.exists():
                    self._write_again()
                    return []
                self._open_file(_FLAGS)
            elif stat.st_size == self._size:
                return []
            with collection_paused():
                replay = read_replay(self.path)
                messages, _ = repair_chain(replay.messages)
        new = _missing(messages, self.messages)
        self.messages[:] = messages
        self._size, self._torn = replay.end, replay.torn
        self._facts.messages = self._facts.tokens = None  # counted again at the end of the turn
        self._facts.name = one_line(replay.title or "") or self._facts.name
        self._unsynced = True
        return new

    def end_turn(self) -> None:
        """See to it that all is on the disk, and bring `ID.meta` up to date.

        Raises:
            StorageError: something could not be written; records are kept and written before the next one.
        """
        self._write_pending()
        if self._descriptor is None or not self._unsynced:
            return
        with storage_errors("write", self.path):
            os.fsync(self._descriptor)
            stat = os.fstat(self._descriptor)
            if self._facts.messages is None:
                self._survey()
        self._see_messages()
        write_meta(self.path.with_suffix(".meta"), self.id, self._facts, stat)
        self._unsynced = False

    def rename(self, title: str) -> None:
        """Give the session a title, of at most 200 characters in one line.

        Raises:
            SessionError: the title is blank, or the session is closed.
            StorageError: it cannot be written.
        """
        name = one_line(title)[:NAME_LENGTH]
        if not name:
            raise SessionError(f"session {self.id} needs a title that is not blank")
        if self.closed:
            raise SessionError(f"session {self.id} is closed; %resume {self.id} opens it again")
        self._pending.append(marker_entry("title", name, self._facts.dialect))
        self._facts.name = name
        self.end_turn()

    def close(self) -> None:
        """Write what is left and let go of the lock; harmless when closed. Without a record nothing stays.

        Raises:
            StorageError: something could not be written and is lost now.
        """
        if self.closed:
            return
        try:
            self.end_turn()
        finally:
            self.closed = True
            self._close_file()
            self._release_lock()

    # -- the file --------------------------------------------------------------------------------------

    def _write_pending(self) -> None:
        pending = self._pending
        if not pending:
            return
        descriptor = self._descriptor
        if descriptor is None:
            descriptor = self._make_file()
        while pending:
            line, message = pending[0]
            if self._torn:
                line = b"\n" + line
            try:
                written = os.write(descriptor, line)
            except OSError:
                with storage_errors("write", self.path):
                    raise
            self._size += written
            if written < len(line):
                self._torn = True
                with storage_errors("write", self.path):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            pending.popleft()
            self._torn = False
            self._unsynced = True
            if message is not None:
                self.messages.append(message)
                self._unseen.append(message)

    def _make_file(self) -> int:
        """Make the file, and the folders that it is in, for the first record."""
        mark_private(self._project)
        private_folder(self.path.parent)
        if self._lock is None:
            self._lock = lock_session(self.path)
        return self._open_file(_FLAGS | os.O_CREAT | os.O_EXCL)

    def _open_file(self, flags: int) -> int:
        with storage_errors("write", self.path):
            self._descriptor = descriptor = os.open(self.path, flags, 0o600)
        # Also for a session that nobody closed.
        self._closing = weakref.finalize(self, os.close, descriptor)
        return descriptor

    def _close_file(self) -> None:
        self._descriptor = None
        if self._closing is not None:
            self._closing()

    def _release_lock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _write_again(self) -> None:
        """Make the file anew from memory, as somebody has deleted it."""
        self._release_lock()  # its file is gone as well
        messages, pending = list(self.messages), list(self._pending)
        self.messages.clear()
        self._pending.clear()
        self._unseen.clear()
        dialect, name = self._facts.dialect, self._facts.name
        self._facts = Facts(dialect, name=name, notebook=self._facts.notebook)
        self._size, self._torn = 0, False
        if name is not None:
            self._pending.append(marker_entry("title", name, dialect))
        for message in messages:
            self._pending += entries_of(message, dialect)
        self._pending += pending
        self._write_pending()

    # -- what the list shows ---------------------------------------------------------------------------

    def _see_messages(self) -> None:
        unseen, self._unseen = self._unseen, []
        for message in unseen:
            self._facts.add(message)

    def _survey(self) -> None:
        """Count what the file holds: how much stands before what was read of it is not known."""
        counted = survey(self.path)
        counted.tokens = max(counted.tokens or 0, self._facts.tokens or 0)
        self._facts = counted
        self._unseen = []


def _missing(messages: list[Message], known: list[Message]) -> list[Message]:
    """Return the messages that are not among the known ones."""
    left = Counter(map(repr, known))
    missing: list[Message] = []
    for message in messages:
        text = repr(message)
        if left[text]:
            left[text] -= 1
        else:
            missing.append(message)
    return missing
