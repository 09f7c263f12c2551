"""Writing messages as the records of a session file, in either dialect."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
import orjson

from mewcode_magic.messages import Block, Message
from mewcode_magic.sessions.records import Dialect, Result, read_line, result_block

__all__ = ["Entry", "entries_of", "marker_entry"]

Entry: TypeAlias = tuple[bytes, Message | None]
"""One line to write, with its end, and the message that is complete once it is written."""

_T = TypeVar("_T", Message, Result)

_NEWLINE = orjson.OPT_APPEND_NEWLINE
_KEY = {"role": "role", "typed": "type"}
_FIRST, _END = -62_135_596_800, 253_402_300_800
"""Unix seconds of the years 1 and 10000: the times that both dialects can tell."""


def entries_of(message: Message, dialect: Dialect) -> list[Entry]:
    """Return the lines that record a message; reading them gives back the messages in the entries.

    These have the time that is recorded: the message's own, else the present. A result is a record of its
    own. What a user message holds beside text goes to `injected`, so that its content is a string.
    """
    content = message.content
    if isinstance(content, str) or message.role == "assistant":
        return [_said(message, dialect)]
    results = [block for block in content if block.get("type") == "tool_result"]
    entries = _results(message, results, dialect) if results else []
    if len(results) < len(content) or message.injected or not content:
        texts = [b for b in content if b.get("type") == "text" and isinstance(b.get("text"), str)]
        others = [b for b in content if b.get("type") != "tool_result" and b not in texts]
        prompt = msgspec.structs.replace(
            message,
            content="\n\n".join(b["text"] for b in texts),
            injected=[*message.injected, *others],
            variables={},
        )
        entries.append(_said(prompt, dialect))
    return entries


def marker_entry(kind: Literal["title", "summary"], text: str, dialect: Dialect) -> Entry:
    """Return the line of a record that stands beside the conversation."""
    record: dict[str, Any] = {_KEY[dialect]: kind, "content": text}
    _stamp(record, None, dialect)
    return orjson.dumps(record, option=_NEWLINE), None


def _said(message: Message, dialect: Dialect) -> Entry:
    """Return the line of a prompt or a reply."""
    record: dict[str, Any] = {_KEY[dialect]: message.role, "content": message.content}
    if message.role == "user":
        if message.injected:
            record["injected"] = message.injected
        if message.recalled:
            record["recalled"] = [{"slug": s.slug, "updated": s.updated} for s in message.recalled]
        if message.notebook is not None:
            record["notebook"] = message.notebook
        if message.cell is not None:
            record["cell"] = message.cell
    else:
        if message.model is not None:
            record["model"] = message.model
        if message.usage is not None:
            record["usage"] = msgspec.structs.asdict(message.usage)
        if message.interrupted:
            record["interrupted"] = True
    ts = _stamp(record, message.ts, dialect)
    try:
        return orjson.dumps(record, option=_NEWLINE), msgspec.structs.replace(message, ts=ts)
    except TypeError:
        line = _odd_line(record)
        return line, _read_back(line, Message)


def _results(message: Message, blocks: list[Block], dialect: Dialect) -> list[Entry]:
    """Return the lines of results, and with the last the message that they are."""
    lines: list[bytes] = []
    content: list[Block] = []
    variables: dict[str, list[str]] = {}
    ts = message.ts
    for block in blocks:
        call = str(block.get("tool_use_id", ""))
        result = Result(
            tool_use_id=call,
            content=block.get("content") or "",
            is_error=block.get("is_error") is True,
            variables=message.variables.get(call, []),
        )
        record = _result_record(result, dialect)
        ts = _stamp(record, ts, dialect)
        if dialect == "typed":
            record |= {"tool_use_id": call, "is_error": result.is_error}
        try:
            line = orjson.dumps(record, option=_NEWLINE)
        except TypeError:
            line = _odd_line(record)
            result = _read_back(line, Result)
        lines.append(line)
        content.append(result_block(result))
        if result.variables:
            variables[result.tool_use_id] = result.variables
    recorded = Message(role="user", content=content, ts=ts, variables=variables)
    return [*((line, None) for line in lines[:-1]), (lines[-1], recorded)]


def _result_record(result: Result, dialect: Dialect) -> dict[str, Any]:
    """Return the record without what stands after its content in the typed dialect."""
    record: dict[str, Any] = {_KEY[dialect]: "tool_result"}
    if dialect == "role":
        record["tool_use_id"] = result.tool_use_id
    record["content"] = result.content
    if dialect == "role" and result.is_error:
        record["is_error"] = True
    if result.variables:
        record["variables"] = result.variables
    return record


def _stamp(record: dict[str, Any], ts: float | None, dialect: Dialect) -> float:
    """Put the time into a record, and return it as it is read again, in Unix seconds."""
    if ts is None or not _FIRST <= ts < _END:
        ts = time.time()
    if dialect == "role":
        record["ts"] = seconds = int(ts)
        return float(seconds)
    record["timestamp"] = stamp = datetime.fromtimestamp(ts, UTC)
    return stamp.timestamp()


def _odd_line(record: dict[str, Any]) -> bytes:
    """Return the line of a record that orjson refuses.

    It may have numbers beyond 64 bits, deep nesting, or halves of surrogate pairs, which no UTF-8 can say:
    these are replaced. What is no JSON at all raises a TypeError again.
    """
    text = json.dumps(record, ensure_ascii=False, default=datetime.isoformat, separators=(",", ":"))
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return f"{whole}\n".encode()


def _read_back(line: bytes, form: type[_T]) -> _T:
    """Return what is read of a line: what it says, not what it was made of, is what stands in memory."""
    (record,) = read_line(line).records
    if not isinstance(record, form):
        raise TypeError(f"a record reads back as a {type(record).__name__}")
    return record
