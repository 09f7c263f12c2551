"""One open session: what was said in it, recorded in its file first, and then kept in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from mewcode_magic.errors import SessionError, StorageError
from mewcode_magic.files import Lock, storage_errors
from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions.boundary import boundary_entry, summary_in
from mewcode_magic.sessions.chain import repair_chain
from mewcode_magic.sessions.encode import entries_of, entry_of, marker_entry
from mewcode_magic.sessions.facts import Facts, Seen, one_line, survey
from mewcode_magic.sessions.meta import write_meta
from mewcode_magic.sessions.record_file import RecordFile
from mewcode_magic.sessions.records import read_line
from mewcode_magic.sessions.replay import Replay, collection_paused, new_messages, read_replay
from mewcode_magic.sessions.result_files import store_result
from mewcode_magic.sessions.trimmed import trimmed_messages

__all__ = ["Session"]

NAME_LENGTH = 200
"""Characters of a title that is given by hand."""
SUMMARY_LENGTH = 400
"""Characters of a summary."""


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
        self._file = RecordFile(path, project)
        self._dialect = facts.dialect
        self._facts = facts
        self._counted = 0
        """How many of the messages the facts take into account."""
        self._buffer = bytearray()
        """The line being written."""
        self._seen_to = 0
        """Bytes of the file that the last turn's end has seen to."""

    @classmethod
    def resumed(
        cls, path: Path, project: Path, facts: Facts, *, lock: Lock, replay: Replay, messages: list[Message]
    ) -> Session:
        """Return an open session on a file that was read, under its lock.

        Raises:
            StorageError: the file cannot be written.
        """
        session = cls(path, project, facts)
        session._file = RecordFile.existing(path, project, lock=lock, size=replay.end, torn=replay.torn)
        session._dialect = replay.dialect
        session._seen_to = replay.end
        session.messages = messages
        session._counted = len(messages)
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
        file = self._file
        if file.ready and (entry := entry_of(message, self._dialect, self._buffer)) is not None:
            # Nearly always so. The long way below costs as much as the write itself.
            line, recorded = entry
            if file.write(line):
                self.messages.append(recorded)
                return recorded
            file.waiting.append((bytes(line), recorded))
        else:
            self._check_open()
            file.waiting += entries_of(message, self._dialect)
        recorded = file.waiting[-1][1] or message
        file.write_waiting(self.messages)
        return recorded

    def refresh(self) -> list[Message]:
        """Take in what another program appended since, and return it; noticed by the file's size.

        A file that was replaced, as editors do it, is read anew; one that was deleted is written once more.

        Raises:
            StorageError: the file cannot be read, or not be written once more.
        """
        state = self._file.look()
        if state == "deleted":
            self._write_anew()
        if state != "changed":
            return []
        with storage_errors("read", self.path), collection_paused():
            replay = read_replay(self.path)
            messages, _ = replay.repaired()
        new = new_messages(messages, self.messages)
        self.messages = messages
        self._file.has_read(replay.end, torn=replay.torn)
        self._seen_to = 0
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
        self._file.write_waiting(self.messages)
        waited = self.messages[seen:]
        keep = [*keep, *waited, *self.refresh()]
        entry = boundary_entry(summary, keep, self._dialect)
        replay = Replay(self._dialect, compacting=True)
        for record in read_line(entry[0]).records:
            replay.add(record)
        messages, _ = replay.repaired()
        self._file.write_at_once(entry, self.messages)
        self._count()
        self.messages = messages
        self._counted = len(messages)

    def end_turn(self) -> None:
        """See to it that all is on the disk, and bring `ID.meta` up to date if that can be written.

        Raises:
            StorageError: a record could not be written; records are kept and written before the next one.
        """
        self._file.write_waiting(self.messages)
        if not self._file.is_open or self._seen_to == self._file.size:
            return
        stat = self._file.sync()
        with storage_errors("write", self.path):
            self._count(all_records=True)
        with contextlib.suppress(
            StorageError
        ):  # a cache: the list does without, and the next turn tries again
            write_meta(self.path.with_suffix(".meta"), self.id, self._facts, stat)
            self._seen_to = self._file.size

    def rename(self, title: str) -> None:
        """Give the session a title, of at most 200 characters in one line.

        Raises:
            SessionError: the title is blank, or the session is closed.
            StorageError: it cannot be written; it is kept and written before the next record.
        """
        self._mark("title", title, NAME_LENGTH)

    def summarize(self, summary: str) -> None:
        """Record one line, of at most 400 characters, on what the session was about so far.

        Raises:
            SessionError: the line is blank, or the session is closed.
            StorageError: it cannot be written; it is kept and written before the next record.
        """
        self._mark("summary", summary, SUMMARY_LENGTH)

    def trim(self, replacements: Mapping[str, str]) -> None:
        """Record what is sent from now on in place of results and images, and replace them in `messages`.

        The keys are those of `sessions.trimmed`, as they are for the repaired chain.

        Raises:
            SessionError: the session is closed.
            StorageError: it cannot be written; then all stays as it is.
        """
        self._check_open()
        self._file.write_at_once(marker_entry("trimmed", replacements, self._dialect), self.messages)
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
            self._file.close()

    # -- within ----------------------------------------------------------------------------------------

    def _mark(self, kind: Literal["title", "summary"], text: str, most: int) -> None:
        """Record one line, of at most so many characters, that is no part of the conversation."""
        line = one_line(text)[:most]
        if not line:
            raise SessionError(f"session {self.id} needs a {kind} that is not blank")
        self._check_open()
        self._count()
        self._facts.see([Seen(kind, None, line)])
        self._file.write_beside(marker_entry(kind, line, self._dialect), self.messages)
        self.end_turn()

    def _check_open(self) -> None:
        if self.closed:
            raise SessionError(f"session {self.id} is closed; %resume {self.id} opens it again")

    def _write_anew(self) -> None:
        """Make the file once more from memory, as somebody has deleted it."""
        name, said = self._facts.name, self.messages
        entries = [] if name is None else [marker_entry("title", name, self._dialect)]
        for message in said:
            if (summary := summary_in(message)) is not None:
                line, _ = boundary_entry(summary, [], self._dialect)
                entries.append((line, message))
            else:
                entries += entries_of(message, self._dialect)
        self.messages = []
        self._facts = Facts(self._dialect, name=name, notebook=self._facts.notebook)
        self._counted = self._seen_to = 0
        self._file.write_anew(entries, self.messages)

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
