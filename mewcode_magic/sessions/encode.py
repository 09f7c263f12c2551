"""Writing messages as the records of a session file, in either dialect."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from mewcode_magic.messages import Block, Message, Surfaced, Usage
from mewcode_magic.sessions.records import Dialect, Result, read_line, result_block

__all__ = ["Entry", "entries_of", "entry_of", "marker_entry"]

Entry: TypeAlias = tuple[bytes, Message | None]
"""One line to write, with its end, and the message that is complete once it is written."""

_Known = TypeVar("_Known", Message, Result)

_FIRST, _END = -62_135_596_800, 253_402_300_799
"""Unix seconds of the years 1 to 9999: the times that both dialects can tell."""


class _RoleResult(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="role", tag="tool_result"):
    tool_use_id: str
    content: str | list[Block]
    is_error: bool = False
    variables: list[str] = []
    ts: int


class _TypedUser(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="type", tag="user"):
    content: str | list[Block]
    injected: list[Block] = []
    recalled: list[Surfaced] = []
    notebook: str | None = None
    cell: str | None = None
    timestamp: str


class _TypedAssistant(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="type", tag="assistant"):
    content: str | list[Block]
    model: str | None = None
    usage: Usage | None = None
    interrupted: bool = False
    timestamp: str


class _TypedResult(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="type", tag="tool_result"):
    content: str | list[Block]
    variables: list[str] = []
    timestamp: str
    tool_use_id: str
    is_error: bool


_encode_lines = msgspec.json.Encoder().encode_lines
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
    ts = message.ts
    recorded = _replace(message, ts=int(time.time()) if ts is None else _seconds(ts))
    try:
        _encode_into(recorded, buffer)
    except ValueError:
        line = _line(recorded)[0]
        return line, _read_back(line, Message)
    buffer.append(_LINE_END)
    return buffer, recorded


def entries_of(message: Message, dialect: Dialect) -> list[Entry]:
    """Return the lines that record a message; reading them gives back the messages in the entries.

    These have the time that is recorded, in Unix seconds: the message's own, else the present. A result is a
    record of its own. What a user message holds beside text goes to `injected`: its content is a string.
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


def marker_entry(kind: Literal["title", "summary"], text: str, dialect: Dialect) -> Entry:
    """Return the line of a record that stands beside the conversation."""
    if dialect == "role":
        return _line({"role": kind, "content": text, "ts": _seconds(None)})[0], None
    return _line({"type": kind, "content": text, "timestamp": _stamp(None)[1]})[0], None


def _typed_entry(message: Message) -> tuple[bytes, Message]:
    ts, stamp = _stamp(message.ts)
    record: _TypedUser | _TypedAssistant
    if message.role == "assistant":
        record = _TypedAssistant(
            content=message.content,
            model=message.model,
            usage=message.usage,
            interrupted=message.interrupted,
            timestamp=stamp,
        )
    else:
        record = _TypedUser(
            content=message.content,
            injected=message.injected,
            recalled=message.recalled,
            notebook=message.notebook,
            cell=message.cell,
            timestamp=stamp,
        )
    try:
        return _encode_lines((record,)), _replace(message, ts=ts)
    except ValueError:
        line = _line(record)[0]
        return line, _read_back(line, Message)


def _result_entries(message: Message, blocks: list[Block], dialect: Dialect) -> list[Entry]:
    """Return the lines of results, and with the last one the message that they are."""
    lines: list[bytes] = []
    content: list[Block] = []
    variables: dict[str, list[str]] = {}
    seconds, (ts, stamp) = _seconds(message.ts), _stamp(message.ts)
    for block in blocks:
        call = str(block.get("tool_use_id", ""))
        said = _result_content(block.get("content"))
        failed = block.get("is_error") is True
        bound = message.variables.get(call, [])
        line, exact = _line(
            _RoleResult(tool_use_id=call, content=said, is_error=failed, variables=bound, ts=seconds)
            if dialect == "role"
            else _TypedResult(
                content=said, variables=bound, timestamp=stamp, tool_use_id=call, is_error=failed
            )
        )
        result = Result(tool_use_id=call, content=said, is_error=failed, variables=bound)
        if not exact:
            result = _read_back(line, Result)
        lines.append(line)
        content.append(result_block(result))
        if result.variables:
            variables[result.tool_use_id] = result.variables
    recorded = Message(
        role="user", content=content, ts=seconds if dialect == "role" else ts, variables=variables
    )
    return [*((line, None) for line in lines[:-1]), (lines[-1], recorded)]


def _result_content(content: Any) -> str | list[Block]:
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return "" if content is None else str(content)


def _seconds(ts: float | None) -> int:
    """Return a time as the role dialect has it."""
    return int(time.time() if ts is None or not _FIRST <= ts < _END else ts)


def _stamp(ts: float | None) -> tuple[float, str]:
    """Return a time as the typed dialect has it, and before that in Unix seconds as it is read again."""
    micros = time.time_ns() // 1000
    if ts is not None and _FIRST <= ts < _END:
        micros = round(ts * 1_000_000)
    seconds, fraction = divmod(micros, 1_000_000)
    return micros / 1_000_000, f"{_second(seconds)}.{fraction:06d}+00:00"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    """Return a second of UTC; what is written in the same one shares it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def _line(record: Any) -> tuple[bytes, bool]:
    """Return the record as a line, and whether that says exactly what the record does.

    It does not where a string holds half of a surrogate pair, which no UTF-8 can say.
    """
    try:
        return _encode_lines((record,)), True
    except ValueError:
        text = json.dumps(msgspec.to_builtins(record), ensure_ascii=False, separators=(",", ":"))
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return f"{whole}\n".encode(), False


def _read_back(line: bytes, form: type[_Known]) -> _Known:
    """Return what is read of a line: that is to stand in memory, not what the line was made of."""
    (record,) = read_line(line).records
    if not isinstance(record, form):
        raise TypeError(f"a record reads back as a {type(record).__name__}")
    return record
