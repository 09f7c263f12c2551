"""A compaction on disk: one `compact_boundary` record, and the message that its summary is replayed as.

::

    {"role": "compact_boundary", "content": {"summary": "…", "keep": [records without their time]}, "ts": …}

In the typed dialect the first key is `type`, and the time a `timestamp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mewcode_magic.messages import Message, Time, escape_tags
from mewcode_magic.sessions.encode import Entry, entries_of, marker_entry
from mewcode_magic.sessions.records import Dialect

__all__ = ["boundary_entry", "summary_in", "summary_message"]

_OPENING = "<system-reminder>\nThis conversation was compacted here. A summary of what came before:\n\n"
_CLOSING = "\n</system-reminder>"


def summary_message(summary: str, time: Time | None) -> Message:
    """Return what a summary is replayed as: something of the program's, beside which nothing was typed.

    A conversation that was not trusted is not trusted more for being summarised: the summary is data.
    """
    block = {"type": "text", "text": f"{_OPENING}{escape_tags(summary)}{_CLOSING}"}
    return Message(role="user", content=[], injected=[block], time=time)


def summary_in(message: Message) -> str | None:
    """Return the summary that a message replays; None if it is another message."""
    if message.role != "user" or message.content or len(message.injected) != 1:
        return None
    text = message.injected[0].get("text")
    if not isinstance(text, str) or not text.startswith(_OPENING):
        return None
    return text.removeprefix(_OPENING).removesuffix(_CLOSING)


def boundary_entry(summary: str, keep: Sequence[Message], dialect: Dialect) -> Entry:
    """Return the line that stands for all before it: the summary, and the messages that are kept."""
    kept = [_timeless(line) for message in keep for line, _ in entries_of(message, dialect)]
    return marker_entry("compact_boundary", {"summary": summary, "keep": kept}, dialect)


def _timeless(line: bytes) -> dict[str, Any]:
    record: dict[str, Any] = msgspec.json.decode(line)
    record.pop("ts", None)
    record.pop("timestamp", None)
    return record
