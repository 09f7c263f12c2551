"""A look at both ends of a session file: what the list shows, at a cost that its length does not raise."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime

from mewcode_magic.sessions.facts import Facts, Seen, skim, time_of_id, title_of
from mewcode_magic.sessions.records import dialect_of_id, read_line, seconds_of

__all__ = ["glance", "is_sound"]

_BLOCKS = (4 * 1024, 64 * 1024, 1024 * 1024)
"""Bytes looked at at either end of a file; more of them only where the ones before said too little."""

_LONG_PROMPT = re.compile(
    rb'\s*\{\s*"(?:role|type)"\s*:\s*"user"\s*,\s*"content"\s*:\s*"((?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){1,2000})'
)
_TIME_AT_END = re.compile(
    rb'"(?:ts"\s*:\s*(\d+(?:\.\d+)?)|timestamp"\s*:\s*"([^"\\]+)")'
    rb'(?:\s*,\s*"\w+"\s*:\s*(?:"[^"\\]*"|true|false|null|-?[\d.]+|\[[^\[\]]*\]|\{[^{}]*\}))*\s*\}\s*$'
)


def glance(descriptor: int, size: int, session_id: str) -> Facts:
    """Return the facts that the two ends of a file tell, however long its lines are; counts stay open.

    Raises:
        OSError: the file cannot be read.
    """
    facts = Facts(dialect_of_id(session_id), messages=None, tokens=None, usage=None)
    head = _see_head(facts, descriptor, size)
    created = time_of_id(session_id) if facts.created is None else facts.created
    _see_tail(facts, descriptor, size, head)
    facts.created = created
    return facts


def is_sound(descriptor: int, size: int) -> bool:
    """Tell whether the end of a file, as far as a glance reaches, is whole.

    Raises:
        OSError: the file cannot be read.
    """
    offset = max(0, size - _BLOCKS[1])
    lines = os.pread(descriptor, _BLOCKS[1], offset).split(b"\n")
    return not lines.pop() and not any(read_line(line).lost for line in lines[bool(offset) :])


def _see_head(facts: Facts, descriptor: int, size: int) -> bytes:
    """See the records up to the first prompt; return what of the file was read for it."""
    head = b""
    start = 0
    for limit in _BLOCKS:
        head = os.pread(descriptor, limit, 0)
        whole = len(head) == size
        while start < len(head):
            end = head.find(b"\n", start)
            if end < 0 and not whole:
                break
            facts.see(skim(head[start : end if end >= 0 else size]))
            if facts.prompt is not None:
                return head
            start = end + 1 if end >= 0 else size
        facts.prompt = _prompt_of_cut(head[start:])
        if whole or facts.prompt is not None:
            break
    return head


def _see_tail(facts: Facts, descriptor: int, size: int, head: bytes) -> None:
    """See the last record of the conversation, and the markers after it."""
    for limit in _BLOCKS:
        offset = max(0, size - limit)
        tail = head if offset == 0 and len(head) == size else os.pread(descriptor, limit, offset)
        cut = tail.partition(b"\n")[0] if offset else b""
        start, end = min(len(cut) + 1, len(tail)) if offset else 0, len(tail)
        seen: list[Seen] = []
        while end > start:
            begin = max(start, tail.rfind(b"\n", start, end - 1) + 1)
            seen[:0] = records = skim(tail[begin:end])
            if any(record.is_said and record.ts is not None for record in records):
                facts.see(seen)
                return
            end = begin
        if offset == 0:
            facts.see(seen)
        elif limit == _BLOCKS[-1] and (ts := _time_of_cut(cut)) is not None:
            facts.see([Seen("assistant", ts, ""), *seen])  # markers are never as long


def _prompt_of_cut(line: bytes) -> str | None:
    """Return the title in the beginning of a line that is too long to be read for it."""
    match = _LONG_PROMPT.match(line)
    if match is None:
        return None
    text: str = json.loads(f'"{match[1].decode("utf-8", "ignore")}"', strict=False)
    return title_of(text.encode("utf-8", "ignore").decode())


def _time_of_cut(line: bytes) -> float | None:
    """Return the time of a record of which only the end was read.

    Only whole values stand between the time and the brace that closes the line, so it is the record's own,
    not that of an object inside it.
    """
    match = _TIME_AT_END.search(line[-_BLOCKS[0] :])
    if match is None:
        return None
    if match[1]:
        return float(match[1])
    try:
        return seconds_of(datetime.fromisoformat(match[2].decode()))
    except ValueError:
        return None
