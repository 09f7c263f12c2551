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

__all__ = ["Entry", "entries_of", "entry_of", "marker_entry"]

Entry: TypeAlias = tuple[bytes, Message | None]
"""One line to write, with its end, and the message that is complete once it is written."""

_Known = TypeVar("_Known", Message, Result)

_FIRST, _END = -62_135_596_800, 253_402_300_799
"""Unix seconds of the years 1 to 9999: the times that both dialects can tell."""

_encode = msgspec.json.Encoder().encode
_encode_into = msgspec.json.Encoder().encode_into
_LINE_END = ord("\n")
_replace = msgspec.structs.replace


def entry_of(
    message: Message, dialect: Dialect, buffer: bytearray
) -> tuple[bytes | bytearray, Message] | None:
    """Return the line of a message that is one record, as nearly all are; None for a message of results.

    The line may be `buffer` itself, which the next call overwrites. No detours here: this may cost no more
    than writing the line does, and a buffer used again saves a tenth of it.
    """
    if message.role == "user" and not isinstance(message.content, str):
        return None
    if dialect == "typed":
        return _typed_entry(message)
    # In the role dialect a prompt or reply is the very message, without what it leaves open.
    recorded = _replace(message, time=int(time.time()) if message.time is None else _seconds(message.ts))
    try:
        _encode_into(recorded, buffer)
    except ValueError:
        line = _line(recorded)[0]
        return line, _read_back(line, Message)
    buffer.append(_LINE_END)
    return buffer, recorded


def entries_of(message: Message, dialect: Dialect) -> list[Entry]:
    """Return the lines that record a message; reading them gives back the messages in the entries.

    These have the time that is recorded: the message's own, else the present. A result is a record of its
    own. What a user message holds beside text goes to `injected`: its content is a string.
    """
    if (entry := entry_of(message, dialect, bytearray())) is not None:
        return [(bytes(entry[0]), entry[1])]
    content = [block for block in message.content if isinstance(block, dict)]
    results = [block for block in content if block.get("type") == "tool_result"]
    entries = _result_entries(message, results, dialect) if results else []
    if len(results) < len(content) or message.injected or not content:
        texts = [b for b in content if b.get("type") == "text" and isinstance(b.get("text"), str)]
        others = [b for b in content if b.get("type") != "tool_result" and b not in texts]
        prompt = _replace(
            message,
            content="\n\n".join(b["text"] for b in texts),
            injected=[*message.injected, *others],
            variables={},
        )
        entries += entries_of(prompt, dialect)
    return entries


def marker_entry(
    kind: Literal["title", "summary", "compact_boundary"], content: Any, dialect: Dialect
) -> Entry:
    """Return the line of a record that stands beside the conversation, or for a part of it."""
    if dialect == "role":
        return _line({"role": kind, "content": content, "ts": _seconds(None)})[0], None
    return _line({"type": kind, "content": content, "timestamp": _date(None)})[0], None


def _typed_entry(message: Message) -> tuple[bytes, Message]:
    """Return the line of a message that differs from the role dialect's in its first key and in its time."""
    recorded = _replace(message, time=datetime.now(UTC) if message.time is None else _date(message.ts))
    timeless = message if message.time is None else _replace(message, time=None)
    try:
        fields = _encode(timeless)[len(b'{"role"') : -1]
    except ValueError:
        plain = msgspec.to_builtins(timeless)
        line, _ = _line({"type": plain.pop("role"), **plain, "timestamp": recorded.time})
        return line, _read_back(line, Message)
    return b"".join((b'{"type"', fields, b',"timestamp":', orjson.dumps(recorded.time), b"}\n")), recorded


def _result_entries(message: Message, blocks: list[Block], dialect: Dialect) -> list[Entry]:
    """Return the lines of results, and with the last one the message that they are."""
    lines: list[bytes] = []
    content: list[Block] = []
    variables: dict[str, list[str]] = {}
    stamp = _seconds(message.ts) if dialect == "role" else _date(message.ts)
    for block in blocks:
        call = str(block.get("tool_use_id", ""))
        result = Result(
            tool_use_id=call,
            content=_result_content(block.get("content")),
            is_error=block.get("is_error") is True,
            variables=message.variables.get(call, []),
        )
        line, exact = _line(_result_record(result, stamp))
        if not exact:
            result = _read_back(line, Result)
        lines.append(line)
        content.append(result_block(result))
        if result.variables:
            variables[result.tool_use_id] = result.variables
    ts = stamp if isinstance(stamp, int) else stamp.timestamp()
    recorded = Message(role="user", content=content, time=ts, variables=variables)
    return [*((line, None) for line in lines[:-1]), (lines[-1], recorded)]


def _result_record(result: Result, stamp: int | datetime) -> dict[str, Any]:
    """Return a result's record; the form of its time tells the dialect."""
    call, said = {"tool_use_id": result.tool_use_id}, {"content": result.content}
    bound = {"variables": result.variables} if result.variables else {}
    if isinstance(stamp, datetime):
        failed = {"is_error": result.is_error}
        return {"type": "tool_result", **said, **bound, "timestamp": stamp, **call, **failed}
    failed = {"is_error": True} if result.is_error else {}
    return {"role": "tool_result", **call, **said, **failed, **bound, "ts": stamp}


def _result_content(content: Any) -> str | list[Block]:
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return "" if content is None else str(content)


def _seconds(ts: float | None) -> int:
    """Return a time, in Unix seconds, as the role dialect has it; one that no calendar has is the present."""
    return int(time.time() if ts is None or not _FIRST <= ts < _END else ts)


def _date(ts: float | None) -> datetime:
    """Return a time, in Unix seconds, as the typed dialect has it, likewise."""
    return datetime.now(UTC) if ts is None or not _FIRST <= ts < _END else datetime.fromtimestamp(ts, UTC)


def _line(record: Any) -> tuple[bytes, bool]:
    """Return the record as a line, and whether that certainly says exactly what the record does.

    It does not where a string holds half of a surrogate pair, which no UTF-8 can say.
    """
    try:
        return orjson.dumps(record, default=msgspec.to_builtins, option=orjson.OPT_APPEND_NEWLINE), True
    except TypeError:  # numbers over 64 bits too
        plain = msgspec.to_builtins(record, builtin_types=(datetime,))
        text = json.dumps(plain, default=datetime.isoformat, ensure_ascii=False, separators=(",", ":"))
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return f"{whole}\n".encode(), False


def _read_back(line: bytes, form: type[_Known]) -> _Known:
    """Return what is read of a line: that is to stand in memory, not what the line was made of."""
    (record,) = read_line(line).records
    if not isinstance(record, form):
        raise TypeError(f"a record reads back as a {type(record).__name__}")
    return record
