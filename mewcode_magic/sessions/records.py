"""The records of a session file, as values: one JSON object a line, in either of two dialects.

::

    role    {"role": "user", "content": "…", "ts": 1736951405}
            {"role": "tool_result", "tool_use_id": "t1", "content": "…", "ts": 1736951408}
    typed   {"type": "user", "content": "…", "timestamp": "2026-06-18T09:15:00.123456+00:00"}
            {"type": "tool_result", "content": "…", "timestamp": "…", "tool_use_id": "t1", "is_error": false}

`content` is a string or a list of the API's blocks; of a user record it is what the user typed. Extra keys in
both dialects: `injected`, `recalled`, `notebook`, `cell`, `run` on user records, `model`, `usage`,
`interrupted` on assistant records, `is_error`, `variables` on results. Beside the conversation stand markers,
among them `compact_boundary` with `{"summary": "…", "keep": [records without their time]}`. Keys that nobody
here knows stay in the file, which is only ever appended to, and are left out of the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from mewcode_magic.messages import Block, Message, Surfaced, Time, Usage
from mewcode_magic.sessions.salvage import salvage

__all__ = [
    "KINDS",
    "UNREADABLE",
    "Dialect",
    "Line",
    "Marker",
    "Record",
    "Result",
    "dialect_of",
    "dialect_of_id",
    "kind_of",
    "read_line",
    "record_of",
    "result_block",
    "seconds_of",
    "text_of",
    "time_of",
    "ts_of",
    "usage_of",
    "values_in",
]

Dialect: TypeAlias = Literal["role", "typed"]

MARKERS = frozenset(
    {"system_prompt", "compression", "compact_boundary", "title", "summary", "trimmed", "imported"}
)
KINDS = MARKERS | {"user", "assistant", "tool_result"}

UNREADABLE = (msgspec.MsgspecError, RecursionError)
"""What decoding a line raises: it is no JSON, it does not fit, or it is nested too deeply."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A call's result; several in a row are one user message."""

    tool_use_id: str
    content: str | list[Block]
    is_error: bool = False
    ts: float | None = None
    variables: list[str] = []


class Marker(msgspec.Struct, frozen=True):
    """A record that is no part of the conversation; `kind` is one of `MARKERS`."""

    kind: str
    content: Any
    ts: float | None = None


Record: TypeAlias = Message | Result | Marker


class Line(NamedTuple):
    """What one line of a file holds, and in which dialect, if it is a record of one.

    `lost`: the line, or a part of it, could not be read or is of no known kind. `mended`: all of it was
    read, but bytes or characters that are no text were replaced.
    """

    records: list[Record]
    dialect: Dialect | None = None
    lost: bool = False
    mended: bool = False


_JSON = msgspec.json.Decoder()

_T = TypeVar("_T")

_EXTRAS: tuple[tuple[str, Any], ...] = (
    ("injected", list[Block]),
    ("recalled", list[Surfaced]),
    ("notebook", str),
    ("cell", str),
    ("run", str),
    ("model", str),
    ("interrupted", bool),
)
_BOM = b"\xef\xbb\xbf"


def read_line(line: bytes) -> Line:
    """Return what a line of a session file holds, in either dialect and whatever state it is in.

    Bytes that are no UTF-8, halves of surrogate pairs, runs of NUL, a byte order mark, and two records on
    one line, one of them torn, are put up with.
    """
    found, lost, mended = values_in(line)
    records = [record for value in found if (record := record_of(value)) is not None]
    lost = lost or len(records) < len(found)
    return Line(records, dialect_of(found[-1]) if records else None, lost=lost, mended=mended)


def values_in(line: bytes) -> tuple[list[Any], bool, bool]:
    """Return the JSON values in a line, whether a part of it was lost, and whether it had to be mended."""
    body = line.strip(b" \t\r\n\0").removeprefix(_BOM)
    if not body:
        return [], b"\0" in line, False
    try:
        return [_JSON.decode(body)], False, b"\0" in line
    except UNREADABLE:
        found, lost = salvage(body, _is_whole_record)
        return found, lost, not lost


def record_of(value: Any) -> Record | None:
    """Return the record that a parsed line, or an entry of a boundary's `keep`, is; None if it is none.

    An extra key with a value of the wrong form is left out; the record is not lost for it.
    """
    kind = kind_of(value)
    if kind is None:
        return None
    time = time_of(value)
    ts = seconds_of(time) if isinstance(time, datetime) else time
    if kind in MARKERS:
        marker = Marker(kind, value.get("content"), ts)
        return None if kind == "compact_boundary" and not _is_complete(marker.content) else marker
    content = value.get("content", "" if kind == "tool_result" else None)
    if not _is_content(content):
        return None
    if kind == "tool_result":
        call = value.get("tool_use_id")
        if not isinstance(call, str):
            return None
        names = _fitting(value.get("variables"), list[str])
        failed = value.get("is_error") is True
        return Result(tool_use_id=call, content=content, is_error=failed, ts=ts, variables=names or [])
    extras = {
        name: fitting
        for name, form in _EXTRAS
        if name in value and (fitting := _fitting(value[name], form)) is not None
    }
    role: Literal["user", "assistant"] = "user" if kind == "user" else "assistant"
    return Message(role=role, content=content, time=time, usage=usage_of(value.get("usage")), **extras)


def dialect_of_id(session_id: str) -> Dialect:
    """Return the dialect that a session with this id was most likely begun in."""
    return "typed" if session_id.startswith("session_") else "role"


def result_block(result: Result) -> Block:
    """Return the API's block for a result."""
    block: Block = {"type": "tool_result", "tool_use_id": result.tool_use_id, "content": result.content}
    if result.is_error:
        block["is_error"] = True
    return block


def text_of(content: Any) -> str:
    """Return the text of a marker's or record's content: a string as it is, of blocks their text."""
    if isinstance(content, list):
        return "\n\n".join(_texts(content))
    return content if isinstance(content, str) else ""


def _texts(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def kind_of(value: Any) -> str | None:
    """Return the kind of a record as it was parsed; None if it is none that is known."""
    if not isinstance(value, dict):
        return None
    return next((value[key] for key in ("role", "type") if _names_kind(value.get(key))), None)


def dialect_of(value: Any) -> Dialect:
    """Return the dialect of a record as it was parsed."""
    return "role" if isinstance(value, dict) and _names_kind(value.get("role")) else "typed"


def _names_kind(value: Any) -> bool:
    return isinstance(value, str) and value in KINDS


def _is_whole_record(value: Any) -> bool:
    """Tell a record of the file from an object inside one: only the former has a time."""
    return kind_of(value) is not None and time_of(value) is not None


def _is_complete(content: Any) -> bool:
    """Tell a boundary that can be resumed from."""
    return (
        isinstance(content, dict)
        and isinstance(content.get("summary"), str)
        and isinstance(content.get("keep"), list)
    )


def _is_content(content: Any) -> bool:
    return isinstance(content, str) or (
        isinstance(content, list) and all(isinstance(b, dict) for b in content)
    )


def time_of(value: dict[str, Any]) -> Time | None:
    """Return when a record was written, in the form that it says it; None if it does not, or says no time."""
    ts = value.get("ts")
    stamp = ts if isinstance(ts, str) else value.get("timestamp")
    try:
        if isinstance(ts, int | float) and not isinstance(ts, bool):
            return float(ts)
        if isinstance(stamp, str):
            return _with_offset(datetime.fromisoformat(stamp))
    except (ValueError, OverflowError):
        pass
    return None


def ts_of(value: dict[str, Any]) -> float | None:
    """Return when a record was written, in Unix seconds, whichever form it has."""
    time = time_of(value)
    return seconds_of(time) if isinstance(time, datetime) else time


def seconds_of(stamp: datetime) -> float:
    """Return Unix seconds; a time without an offset is UTC, as older files have it."""
    return _with_offset(stamp).timestamp()


def _with_offset(stamp: datetime) -> datetime:
    return stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)


def usage_of(value: Any) -> Usage | None:
    """Return the tokens of the API's usage object; counts that it leaves open are null."""
    if not isinstance(value, dict):
        return None
    return _fitting({name: count for name, count in value.items() if count is not None}, Usage)


def _fitting(value: Any, form: type[_T]) -> _T | None:
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError:
        return None
