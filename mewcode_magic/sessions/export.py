"""A session's file in a dialect of choice, so that another program can list and resume it.

Whatever the target can hold is kept, keys that nobody here knows included. The role dialect has whole
seconds, and lines that cannot be read are left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mewcode_magic.clock import local
from mewcode_magic.files import storage_errors, write_new
from mewcode_magic.messages import Message
from mewcode_magic.sessions.encode import entries_of, line_of, time_key
from mewcode_magic.sessions.facts import survey
from mewcode_magic.sessions.meta import SessionInfo, write_meta
from mewcode_magic.sessions.records import (
    Dialect,
    dialect_of,
    dialect_of_id,
    kind_of,
    record_of,
    ts_of,
    values_in,
)

__all__ = ["Converted", "convert_session", "id_in", "write_session"]

_ID_DIGITS = re.compile(r"(?:session_)?(\d{8})[-_](\d{6})[-_]([a-z0-9]{4})")
_HEX = re.compile("[0-9a-f]{4}")
_SET_ANEW = frozenset({"role", "type", "content", "ts", "timestamp", "tool_use_id", "is_error"})


@dataclass(frozen=True, slots=True)
class Converted:
    """The lines of a session in one dialect; `skipped` counts those that could not be read."""

    lines: list[bytes]
    skipped: int


def convert_session(info: SessionInfo, dialect: Dialect) -> Converted:
    """Return a session's records in `dialect`. A record that says no time has that of the one before it.

    Raises:
        StorageError: it cannot be read.
    """
    lines: list[bytes] = []
    skipped = 0
    ts = info.created.timestamp() if info.created else None
    with storage_errors("read", info.path), info.path.open("rb") as file:
        for line in file:
            values, lost, mended = values_in(line)
            known = [value for value in values if kind_of(value) and record_of(value)]
            skipped += lost or len(known) < len(values)
            stays = len(known) == 1 and not (lost or mended) and dialect_of(known[0]) == dialect
            for value in known:
                ts = ts if (own := ts_of(value)) is None else own
                lines += [line.rstrip(b"\r\n") + b"\n"] if stays else _lines(value, dialect, ts)
    return Converted(lines, skipped)


def id_in(info: SessionInfo, dialect: Dialect) -> str:
    """Return the id that a session has in `dialect`: its own, or one of the same time."""
    match = _ID_DIGITS.fullmatch(info.id)
    if match and dialect_of_id(info.id) == dialect:
        return info.id
    begun = f"{local(info.created or datetime.now(UTC)):%Y%m%d %H%M%S}"
    day, clock = match.groups()[:2] if match else begun.split()
    tail = match[3] if match else ""
    if not _HEX.fullmatch(tail):
        tail = hashlib.sha256(info.id.encode()).hexdigest()[:4]
    return f"session_{day}_{clock}_{tail}" if dialect == "typed" else f"{day}-{clock}-{tail}"


def write_session(converted: Converted, path: Path, *, overwrite: bool = False) -> None:
    """Write a converted session with its `.meta`, without which the terminal program would not list it.

    Raises:
        StorageError: something stands there, or it cannot be written.
    """
    write_new({path: b"".join(converted.lines)}, overwrite=overwrite)
    with storage_errors("read", path):
        write_meta(path.with_suffix(".meta"), path.stem, survey(path), path.stat())


def _lines(value: dict[str, Any], dialect: Dialect, ts: float | None) -> Iterable[bytes]:
    """Return a record, as it was parsed, as lines in a dialect."""
    record = record_of(value)
    if isinstance(record, Message) and record.role == "user" and isinstance(record.content, list):
        return [line for line, _ in entries_of(record, dialect)]  # what the user typed is a string there
    return [line_of(_in(value, dialect, time_key(ts, dialect)))]


def _in(value: dict[str, Any], dialect: Dialect, time: dict[str, Any]) -> dict[str, Any]:
    """Return a record in a dialect, with a time, or none as a boundary keeps it."""
    kind = kind_of(value)
    content = value.get("content", "")
    if kind == "compact_boundary":
        kept = [_in(entry, dialect, {}) for entry in content["keep"] if record_of(entry)]
        content = {**content, "keep": kept}
    said = {"content": content, **{key: other for key, other in value.items() if key not in _SET_ANEW}}
    failed = value.get("is_error") is True
    call = {"tool_use_id": value["tool_use_id"]} if kind == "tool_result" else {}
    if dialect == "typed":
        return {"type": kind, **said, **time, **call, **({"is_error": failed} if call else {})}
    return {"role": kind, **call, **said, **({"is_error": True} if failed else {}), **time}
