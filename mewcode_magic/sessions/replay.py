"""Reading a session file: what of it is replayed to the model, and the whole of it as it was said."""

from __future__ import annotations

import contextlib
import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from mewcode_magic.messages import Block, Message
from mewcode_magic.sessions.boundary import summary_message
from mewcode_magic.sessions.chain import repair_chain
from mewcode_magic.sessions.quick import role_message, role_result, typed_record
from mewcode_magic.sessions.records import (
    UNREADABLE,
    Dialect,
    Marker,
    Record,
    Result,
    dialect_of_id,
    read_line,
    record_of,
    result_block,
    text_of,
)
from mewcode_magic.sessions.tail import last_boundary
from mewcode_magic.sessions.trimmed import replacements_in, trimmed_messages

__all__ = ["Replay", "collection_paused", "new_messages", "read_conversation", "read_replay"]


@dataclass(slots=True)
class Replay:
    """What a file says from some place on; filled as it is read.

    `compacting`: a boundary takes the place of what stands before it. `skipped` and `mended` count lines.
    `end` is the byte up to which the file was read, `torn` whether its last line has no end. `title` is the
    last one recorded there, `trimmed` is what is sent in place of results and images.
    """

    dialect: Dialect
    compacting: bool
    messages: list[Message] = field(default_factory=list)
    skipped: int = 0
    mended: int = 0
    boundary: bool = False
    title: str | None = None
    trimmed: dict[str, str] = field(default_factory=dict)
    end: int = 0
    torn: bool = False
    _results: Message | None = None
    """The message of results that is still open: the next record may be one more."""

    @classmethod
    def unread(cls, dialect: Dialect, path: Path) -> Replay:
        """Return the state of a file of which nothing was read.

        Raises:
            OSError: the file cannot be read.
        """
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
        return cls(dialect, compacting=True, end=size, torn=torn)

    def read(self, file: BinaryIO) -> None:
        """Take what the file says from its place on."""
        line = b""
        decode = self._quick_decoder()
        for line in file:  # ends at "\n" only: other line separators may stand inside a record
            try:
                record = decode(line)
            except UNREADABLE:
                for other in self._read_other(line):
                    self.add(other)
                decode = self._quick_decoder()
                continue
            if type(record) is Message:
                self.messages.append(record)
            else:
                self.add(record)
        self.end = file.tell()
        self.torn = bool(line) and not line.endswith(b"\n")

    def _quick_decoder(self) -> Callable[[bytes], Message | Result]:
        return role_message if self.dialect == "role" else typed_record

    def _read_other(self, line: bytes) -> list[Record]:
        """Return the records of a line that the quick way did not read."""
        with contextlib.suppress(*UNREADABLE):
            return [role_result(line)]
        found = read_line(line)
        self.skipped += found.lost
        self.mended += found.mended
        self.dialect = found.dialect or self.dialect
        return found.records

    def add(self, record: Record) -> None:
        """Take the next record."""
        if isinstance(record, Message):
            self.messages.append(record)
        elif not isinstance(record, Marker):
            self._add_result(record)
        elif record.kind == "compact_boundary":
            if self.compacting:
                self._compact(record)
        elif record.kind == "compression":
            self._add_summary(record, text_of(record.content))
        elif record.kind == "title":
            self.title = text_of(record.content)
        elif record.kind == "trimmed":
            self.trimmed |= replacements_in(record.content)

    def repaired(self) -> tuple[list[Message], int]:
        """Return the messages that a session goes on with, and how many could not be kept."""
        messages, dropped = repair_chain(self.messages)
        return trimmed_messages(messages, self.trimmed), dropped

    def _add_result(self, result: Result) -> None:
        """Take a result; it joins the ones before it, if nothing was said between."""
        if self._results is None or not self.messages or self.messages[-1] is not self._results:
            self._results = Message(role="user", content=[], time=result.ts)
            self.messages.append(self._results)
        # The message is frozen for everybody else; here it is still being read.
        cast("list[Block]", self._results.content).append(result_block(result))
        if result.variables:
            self._results.variables[result.tool_use_id] = result.variables

    def _add_summary(self, marker: Marker, summary: str) -> None:
        if summary.strip():
            self.messages.append(summary_message(summary, marker.ts))

    def _compact(self, boundary: Marker) -> None:
        """Begin again with what a boundary holds in place of all that stands before it."""
        self.messages = []
        self.trimmed = {}
        self.boundary = True
        self._add_summary(boundary, boundary.content["summary"])
        for value in boundary.content["keep"]:
            record = record_of(value)
            if record is None:
                self.skipped += 1
            else:
                self.add(record)


def read_replay(path: Path) -> Replay:
    """Return what resuming the file replays, before its chain is repaired.

    That begins at the last complete compact boundary, wherever it stands, and costs nothing for what lies
    before it.

    Raises:
        OSError: the file cannot be read.
    """
    replay = Replay(dialect_of_id(path.stem), compacting=True)
    with path.open("rb") as file, collection_paused():
        start = last_boundary(file.fileno(), os.fstat(file.fileno()).st_size)
        file.seek(start)
        replay.read(file)
    return replay


def read_conversation(path: Path) -> Replay:
    """Return the whole conversation in the file, as if it had never been compacted.

    Raises:
        OSError: the file cannot be read.
    """
    replay = Replay(dialect_of_id(path.stem), compacting=False)
    with path.open("rb") as file, collection_paused():
        replay.read(file)
    return replay


def new_messages(messages: list[Message], known: list[Message]) -> list[Message]:
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


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Keep the garbage collector from walking over all that was read so far, again and again.

    What was read counts as old afterwards: it stays, so that a first look at it as new would find nothing.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # what a server froze before it forked is to stay frozen
            gc.freeze()
            gc.unfreeze()
        gc.enable()
