"""One open session: what was said, in memory, and the file that it is written to record by record.

A record is one `write` on a descriptor that only appends: to the file first, then to memory, under a lock
that is held for as long as the session is open. What could not be written waits, in order, and is written
before the next record.
"""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from mewcode_magic.errors import SessionError, SessionInUse, StorageError
from mewcode_magic.files import Lock, private_folder, storage_errors
from mewcode_magic.messages import Message, Usage
from mewcode_magic.project import mark_private
from mewcode_magic.sessions.boundary import boundary_entry, summary_in
from mewcode_magic.sessions.chain import repair_chain
from mewcode_magic.sessions.encode import Entry, entries_of, entry_of, marker_entry
from mewcode_magic.sessions.facts import Facts, one_line, survey
from mewcode_magic.sessions.meta import write_meta
from mewcode_magic.sessions.records import read_line
from mewcode_magic.sessions.replay import Replay, collection_paused, read_replay
from mewcode_magic.sessions.result_files import store_result
from mewcode_magic.sessions.trimmed import trimmed_messages

__all__ = ["Session", "lock_session"]

NAME_LENGTH = 200
"""Characters of a title that is given by hand."""
SUMMARY_LENGTH = 400
"""Characters of a summary."""

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
_NO_FILE = -1


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

    `messages` is what a request replays. The list only grows; whatever else changes it makes another list.
    `closed`: nothing can be appended any more.
    """

    def __init__(self, path: Path, project: Path, facts: Facts) -> None:
        self.path = path
        self.messages: list[Message] = []
        self.closed = False
        self._project = project
        self._dialect = facts.dialect
        self._facts = facts
        self._counted = 0
        """How many of the messages the facts take into account."""
        self._buffer = bytearray()
        """The line being written."""
        self._pending: deque[Entry] = deque()
        """What is to be written next."""
        self._lock: Lock | None = None
        self._descriptor = _NO_FILE
        self._closing: weakref.finalize[[int], Session] | None = None
        self._size = 0
        """Bytes of the file, as far as this session has written or read it."""
        self._synced = 0
        """Bytes of the file that the last turn's end has seen to."""
        self._torn = False
        """The last line has no end: it gets one before the next record."""
        self._ready = False
        """The file is open, nothing waits, and its last line has an end."""

    @classmethod
    def resumed(
        cls, path: Path, project: Path, facts: Facts, *, lock: Lock, replay: Replay, messages: list[Message]
    ) -> Session:
        """Return an open session on a file that was read, under its lock.

        Raises:
            StorageError: the file cannot be written.
        """
        session = cls(path, project, facts)
        session._dialect = replay.dialect
        session._size = session._synced = replay.end
        session._torn = replay.torn
        session.messages = messages
        session._counted = len(messages)
        session._lock = lock
        session._open_file(_FLAGS)
        session._ready = not session._torn
        return session

    @property
    def id(self) -> str:
        """The session's name: that of its file without the ending."""
        return self.path.stem

    @property
    def title(self) -> str:
        """The title that it was given, else its first prompt; empty before that."""
        self._count()
        return self._facts.title

    @property
    def notebook(self) -> str | None:
        """The notebook that its last prompt came from, as far as known."""
        self._count()
        return self._facts.notebook

    @property
    def usage(self) -> Usage | None:
        """Tokens of all its replies; None if these are not known, as of what another program recorded."""
        self._count()
        return self._facts.usage

    def append(self, message: Message) -> Message:
        """Record a message and return it as it was recorded: with its time, in Unix seconds.

        A user message of `tool_result` blocks becomes one record a result. One that holds other blocks too
        becomes two messages, of which the second is returned.

        Raises:
            StorageError: it could not be written; it is kept and written before the next one.
            SessionError: the session is closed.
        """
        if self._ready and (entry := entry_of(message, self._dialect, self._buffer)) is not None:
            # Nearly always so. The long way below costs as much as the write itself.
            line, recorded = entry
            try:
                written = os.write(self._descriptor, line)
            except OSError:
                written = 0
            self._size += written
            if written == len(line):
                self.messages.append(recorded)
                return recorded
            self._torn = written > 0
            self._pending.append((bytes(line), recorded))
        else:
            self._check_open()
            self._pending += entries_of(message, self._dialect)
        recorded = self._pending[-1][1] or message
        self._write_pending()
        return recorded

    def refresh(self) -> list[Message]:
        """Take in what another program appended since, and return it; noticed by the file's size.

        A file that was replaced, as editors do it, is read anew; one that was deleted is written once more.

        Raises:
            StorageError: the file cannot be read, or not be written once more.
        """
        if self._descriptor == _NO_FILE:
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
                messages, _ = replay.repaired()
        new = _missing(messages, self.messages)
        self.messages = messages
        self._size, self._torn = replay.end, replay.torn
        self._synced = 0
        self._ready = not (self._torn or self._pending)
        self._facts.name = one_line(replay.title or "") or self._facts.name
        # Counted again at the end of the turn.
        self._facts.messages = self._facts.tokens = self._facts.usage = None
        return new

    def compact(self, summary: str, keep: Sequence[Message]) -> None:
        """Go on from a summary and the messages that are kept: one record, and what a resume would replay.

        The file keeps all that was said before. What another program has appended meanwhile, or waited to be
        written, is kept too: no summary has it.

        Raises:
            StorageError: it could not be written; nothing is compacted.
            SessionError: the session is closed.
        """
        self._check_open()
        seen = len(self.messages)
        self._write_pending()
        waited = self.messages[seen:]
        keep = [*keep, *waited, *self.refresh()]
        self._count()
        entry = boundary_entry(summary, keep, self._dialect)
        replay = Replay(self._dialect, compacting=True)
        for record in read_line(entry[0]).records:
            replay.add(record)
        messages, _ = replay.repaired()
        self._write_now(entry)
        self.messages = messages
        self._counted = len(messages)

    def end_turn(self) -> None:
        """See to it that all is on the disk, and bring `ID.meta` up to date if that can be written.

        Raises:
            StorageError: a record could not be written; records are kept and written before the next one.
        """
        self._write_pending()
        if self._descriptor == _NO_FILE or self._synced == self._size:
            return
        with storage_errors("write", self.path):
            os.fsync(self._descriptor)
            stat = os.fstat(self._descriptor)
            self._count(all_records=True)
        with contextlib.suppress(
            StorageError
        ):  # a cache: the list does without, and the next turn tries again
            write_meta(self.path.with_suffix(".meta"), self.id, self._facts, stat)
            self._synced = self._size

    def rename(self, title: str) -> None:
        """Give the session a title, of at most 200 characters in one line.

        Raises:
            SessionError: the title is blank, or the session is closed.
            StorageError: it cannot be written; it is kept and written before the next record.
        """
        name = one_line(title)[:NAME_LENGTH]
        if not name:
            raise SessionError(f"session {self.id} needs a title that is not blank")
        self._check_open()
        self._count()
        self._facts.name = name
        self._mark("title", name)

    def summarize(self, summary: str) -> None:
        """Record one line, of at most 400 characters, on what the session was about so far.

        Raises:
            SessionError: the line is blank, or the session is closed.
            StorageError: it cannot be written; it is kept and written before the next record.
        """
        line = one_line(summary)[:SUMMARY_LENGTH]
        if not line:
            raise SessionError(f"session {self.id} needs a summary that is not blank")
        self._check_open()
        self._count()
        self._facts.summary = line
        self._mark("summary", line)

    def trim(self, replacements: Mapping[str, str]) -> None:
        """Record what is sent from now on in place of results and images, and replace them in `messages`.

        The keys are those of `sessions.trimmed`, as they are for the repaired chain.

        Raises:
            SessionError: the session is closed.
            StorageError: it cannot be written; then all stays as it is.
        """
        self._check_open()
        self._write_pending()
        self._write_now(marker_entry("trimmed", replacements, self._dialect))
        self._count()
        self.messages = trimmed_messages(repair_chain(self.messages)[0], replacements)
        self._counted = len(self.messages)

    def store_result(self, call_id: str, text: str) -> Path:
        """Write a result that is too long for the conversation to a file of its own, and return that.

        Raises:
            StorageError: it cannot be written.
        """
        return store_result(self._project, self.id, call_id, text)

    def close(self) -> None:
        """Write what is left and let go of the lock; harmless when closed. Without a record nothing stays.

        Raises:
            StorageError: something could not be written, and is lost now.
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

    def _mark(self, kind: Literal["title", "summary"], text: str) -> None:
        """Record what is no part of the conversation; the file stays as old as that, which orders lists."""
        stat = os.fstat(self._descriptor) if self._descriptor != _NO_FILE and not self._pending else None
        self._pending.append(marker_entry(kind, text, self._dialect))
        self._write_pending()
        if stat is not None:
            with storage_errors("write", self.path):
                os.utime(self.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.end_turn()

    def _check_open(self) -> None:
        if self.closed:
            raise SessionError(f"session {self.id} is closed; %resume {self.id} opens it again")

    def _write_pending(self) -> None:
        """Write what waits, in order; what cannot be written goes on waiting."""
        if not self._pending:
            return
        self._ready = False
        if self._descriptor == _NO_FILE:
            self._make_file()
        with storage_errors("write", self.path):
            while self._pending:
                line, message = self._pending[0]
                if self._torn:
                    line = b"\n" + line
                written = os.write(self._descriptor, line)
                self._size += written
                if written < len(line):
                    self._torn = True
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._torn = False
                self._pending.popleft()
                if message is not None:
                    self.messages.append(message)
        self._ready = True

    def _write_now(self, entry: Entry) -> None:
        """Write a line now or not at all: what it changes in memory would be at odds with the file later."""
        self._pending.append(entry)
        try:
            self._write_pending()
        except BaseException:
            if entry in self._pending:
                self._pending.remove(entry)
            raise

    def _make_file(self) -> None:
        """Make the file, and the folders that it is in, for the first record."""
        mark_private(self._project)
        private_folder(self.path.parent)
        if self._lock is None:
            self._lock = lock_session(self.path)
        self._open_file(_FLAGS | os.O_CREAT | os.O_EXCL)

    def _open_file(self, flags: int) -> None:
        with storage_errors("write", self.path):
            self._descriptor = os.open(self.path, flags, 0o600)
        # A session that nobody closes gives its descriptor back too.
        self._closing = weakref.finalize(self, os.close, self._descriptor)

    def _close_file(self) -> None:
        self._descriptor = _NO_FILE
        self._ready = False
        if self._closing is not None:
            self._closing()

    def _release_lock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _write_again(self) -> None:
        """Make the file anew from memory, as somebody has deleted it."""
        self._release_lock()  # its file is gone as well
        waiting = list(self._pending)
        self._pending.clear()
        if self._facts.name is not None:
            self._pending.append(marker_entry("title", self._facts.name, self._dialect))
        for message in self.messages:
            if (summary := summary_in(message)) is not None:
                line, _ = boundary_entry(summary, [], self._dialect)
                self._pending.append((line, message))
            else:
                self._pending += entries_of(message, self._dialect)
        self._pending += waiting
        self.messages = []
        self._facts = Facts(self._dialect, name=self._facts.name, notebook=self._facts.notebook)
        self._counted = self._size = self._synced = 0
        self._torn = False
        self._write_pending()

    # -- what the list shows ---------------------------------------------------------------------------

    def _count(self, *, all_records: bool = False) -> None:
        """Bring the facts up to date; with `all_records` also those that need a look at the whole file.

        How much stands before what was read of the file is unknown if there was no `.meta`.
        """
        if all_records and self._facts.messages is None:
            self._facts = survey(self.path)
        else:
            for message in self.messages[self._counted :]:
                self._facts.add(message)
        self._counted = len(self.messages)


def _missing(messages: list[Message], known: list[Message]) -> list[Message]:
    """Return the messages that are not among the known ones."""
    same = 0
    while same < min(len(messages), len(known)) and messages[same] == known[same]:
        same += 1
    left = Counter(map(_text, known[same:]))
    missing: list[Message] = []
    for message in messages[same:]:
        text = _text(message)
        if left[text]:
            left[text] -= 1
        else:
            missing.append(message)
    return missing


def _text(message: Message) -> str:
    """Return a text that equal messages share, whether their time is written as 1 or as 1.0."""
    return repr(msgspec.structs.replace(message, time=None if message.ts is None else float(message.ts)))
