"""What the list shows of a session, learnt record by record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions.records import (
    KINDS,
    UNREADABLE,
    Dialect,
    Marker,
    Record,
    dialect_of_id,
    read_line,
    seconds_of,
    text_of,
)

__all__ = [
    "Facts",
    "Seen",
    "moment",
    "one_line",
    "skim",
    "survey",
    "time_of_id",
    "title_of",
    "without_wrappers",
]

TITLE_LENGTH = 50

_CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]+")
_WRAPPER = re.compile(r"\s*<(system-reminder|relevant_memories)>.*?(?:</\1>|\Z)", re.DOTALL)
_ID_TIME = re.compile(r"(?:session_)?(\d{8})[-_](\d{6})[-_]")


class _Skimmed(msgspec.Struct, gc=False):
    """A record of either dialect without a look into its content."""

    role: str | None = None
    type: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    ts: float | None = None
    timestamp: datetime | None = None
    usage: Usage | None = None
    notebook: str | None = None


_SKIMMED = msgspec.json.Decoder(_Skimmed)


class Seen(NamedTuple):
    """What the list wants to know of a record; `content` is not looked into before it is needed."""

    kind: str
    ts: float | None
    content: Any
    usage: Usage | None = None
    notebook: str | None = None
    dialect: Dialect | None = None

    @property
    def is_said(self) -> bool:
        """Whether it is part of the conversation, not a marker beside it."""
        return self.kind in ("user", "assistant", "tool_result")


@dataclass(slots=True)
class Facts:
    """What is known of a session; grows as records are seen in their order.

    Times are Unix seconds. `messages` counts prompts, replies and runs of results; `tokens` adds up what all
    replies took and gave, and `usage` the same in parts; these are None if not all records were seen.
    `imported` is when it was imported.
    `summary` is empty if none covers the last prompt.
    """

    dialect: Dialect
    name: str | None = None
    prompt: str | None = None
    summary: str = ""
    messages: int | None = 0
    tokens: int | None = 0
    usage: Usage | None = field(default_factory=Usage)
    created: float | None = None
    last_active: float | None = None
    notebook: str | None = None
    imported: float | None = None
    _in_results: bool = False

    @property
    def title(self) -> str:
        """The title that it was given, else the first prompt; empty if there is neither."""
        return self.name or self.prompt or ""

    def add(self, message: Message) -> None:
        """Take a message that was appended."""
        self._in_results = False
        kind = "tool_result" if message.tool_results() else message.role
        self.see([Seen(kind, message.ts, message.content, message.usage, message.notebook)])

    def see(self, records: Iterable[Seen]) -> None:
        """Take the next records."""
        for seen in records:
            self.dialect = seen.dialect or self.dialect
            if seen.is_said:
                self._see_said(seen)
            elif seen.kind == "title":
                self.name = one_line(_text(seen.content)) or self.name
            elif seen.kind == "summary":
                self.summary = one_line(_text(seen.content))
            elif seen.kind == "imported":
                self.imported = seen.ts

    def _see_said(self, seen: Seen) -> None:
        if self.messages is not None and not (seen.kind == "tool_result" and self._in_results):
            self.messages += 1
        self._in_results = seen.kind == "tool_result"
        if seen.kind == "user":
            self.summary = ""
            if self.prompt is None:
                self.prompt = title_of(_text(seen.content))
            self.notebook = seen.notebook or self.notebook
        if self.tokens is not None and seen.usage is not None:
            self.tokens += seen.usage.prompt_tokens + seen.usage.output_tokens
        if self.usage is not None and seen.usage is not None:
            self.usage += seen.usage
        if seen.ts is not None:
            self.created = seen.ts if self.created is None else self.created
            self.last_active = seen.ts


def survey(path: Path) -> Facts:
    """Return the facts after a look at every record.

    Raises:
        OSError: the file cannot be read.
    """
    facts = Facts(dialect_of_id(path.stem))
    with path.open("rb") as file:
        for line in file:
            facts.see(skim(line))
    if facts.created is None:
        facts.created = time_of_id(path.stem)
    return facts


def moment(ts: float | None) -> datetime | None:
    """Return Unix seconds as a datetime in UTC; None also for a time that no calendar has."""
    if ts is None:
        return None
    try:
        return datetime.fromtimestamp(ts, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def one_line(text: str) -> str:
    """Return the text with every run of white space, and of what is no character to show, as one blank."""
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(_CONTROLS.sub(" ", line).split())


def skim(line: bytes) -> list[Seen]:
    """Return the records in a line, whatever state it is in."""
    try:
        record = _SKIMMED.decode(line)
    except UNREADABLE:
        found = read_line(line)
        return [_seen(record, found.dialect) for record in found.records]
    dialect: Dialect = "role" if record.role in KINDS else "typed"
    kind = record.role if dialect == "role" else record.type
    if kind not in KINDS:
        return []
    ts = record.ts if record.timestamp is None else seconds_of(record.timestamp)
    return [Seen(kind, ts, record.content, record.usage, record.notebook, dialect)]


def _seen(record: Record, dialect: Dialect | None) -> Seen:
    if isinstance(record, Message):
        return Seen(record.role, record.ts, record.content, record.usage, record.notebook, dialect)
    kind = record.kind if isinstance(record, Marker) else "tool_result"
    return Seen(kind, record.ts, record.content, dialect=dialect)


def _text(content: Any) -> str:
    if isinstance(content, msgspec.Raw):
        try:
            content = msgspec.json.decode(bytes(content).decode("utf-8", "replace"))
        except UNREADABLE:
            return ""
    return text_of(content)


def title_of(prompt: str) -> str | None:
    """Return a title made of what the user typed, at most 50 characters; None if that is nothing."""
    title = one_line(without_wrappers(prompt).lstrip()[:1_000])
    return (title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1] + "…") or None


def without_wrappers(prompt: str) -> str:
    """Return what the user typed: some programs record blocks of their own in front of it."""
    while wrapper := _WRAPPER.match(prompt):
        prompt = prompt[wrapper.end() :]
    return prompt


def time_of_id(session_id: str) -> float | None:
    """Return the local time that an id begins with, in Unix seconds."""
    match = _ID_TIME.match(session_id)
    if match is None:
        return None
    try:
        return datetime.strptime("".join(match.groups()), "%Y%m%d%H%M%S").astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        return None
