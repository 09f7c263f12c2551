"""What the session list shows of one session, and `ID.meta`, the cache of it.

`ID.meta` is JSON with `id`, `title`, `summary`, `message_count`, `total_tokens`, `created_at`, `last_active`
(ISO 8601 with offset), as the terminal program has it, and of ours `notebook`, `dialect`, `token_usage`, the
parts of `total_tokens` by the API's names, and `size`, the bytes of the JSONL that it speaks of. It can be
rebuilt from the JSONL at any time; keys that others added are kept.
"""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import orjson

from mewcode_magic.files import storage_errors, write_atomic
from mewcode_magic.messages import Usage
from mewcode_magic.sessions.facts import Facts, moment, one_line
from mewcode_magic.sessions.records import Dialect, dialect_of_id, seconds_of

__all__ = ["SessionInfo", "info_of", "read_meta", "write_meta"]

META_LIMIT = 64 * 1024
"""Bytes of a `.meta` that are read; a longer one is none."""


class SessionInfo(msgspec.Struct, frozen=True):
    """One line of the session list.

    `title` is empty for a session without a prompt. Times are aware, in UTC. `messages` and `tokens` are None
    until all of the file was looked at; `usage`, the parts of `tokens`, also if nobody recorded them.
    `last_active` is the last record of the conversation.
    """

    id: str
    path: Path
    title: str
    summary: str
    created: datetime | None
    last_active: datetime | None
    messages: int | None
    tokens: int | None
    notebook: str | None
    dialect: Dialect
    usage: Usage | None = None


class _Meta(msgspec.Struct):
    title: str | None = None
    summary: str | None = None
    message_count: int | None = None
    total_tokens: int | None = None
    created_at: datetime | None = None
    last_active: datetime | None = None
    notebook: str | None = None
    dialect: Dialect | None = None
    token_usage: Usage | None = None
    size: int | None = None


_META = msgspec.json.Decoder(_Meta)


def info_of(session_id: str, path: Path, facts: Facts) -> SessionInfo:
    """Return the line of the list for what is known of a session."""
    return SessionInfo(
        session_id,
        path,
        facts.title,
        facts.summary,
        moment(facts.created),
        moment(facts.last_active),
        facts.messages,
        facts.tokens,
        facts.notebook,
        facts.dialect,
        facts.usage,
    )


def read_meta(path: str, session_id: str, stat: os.stat_result) -> Facts | None:
    """Return the facts in a session's `.meta`; None if it is not sound, or older than its JSONL's `stat`."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        written = os.fstat(descriptor).st_mtime_ns
        meta = _META.decode(os.read(descriptor, META_LIMIT))
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    finally:
        os.close(descriptor)
    if written < stat.st_mtime_ns or meta.size not in (None, stat.st_size):
        return None
    return Facts(
        meta.dialect or dialect_of_id(session_id),
        name=one_line(meta.title or "") or None,
        summary=one_line(meta.summary or ""),
        messages=meta.message_count,
        tokens=meta.total_tokens,
        usage=meta.token_usage if meta.total_tokens else Usage(),
        created=None if meta.created_at is None else seconds_of(meta.created_at),
        last_active=None if meta.last_active is None else seconds_of(meta.last_active),
        notebook=meta.notebook,
    )


def write_meta(path: Path, session_id: str, facts: Facts, stat: os.stat_result) -> None:
    """Write the facts of a JSONL that had this `stat` when they were true.

    Raises:
        StorageError: it cannot be written.
    """
    others = _others(path)
    counted = others.get("total_tokens")  # other programs record no tokens but here
    written = datetime.fromtimestamp(stat.st_mtime, UTC)
    known: dict[str, object] = {
        "id": session_id,
        "title": facts.title,
        "summary": facts.summary,
        "message_count": facts.messages or 0,
        "total_tokens": max(facts.tokens or 0, counted if isinstance(counted, int) else 0),
        "created_at": (moment(facts.created) or written).isoformat(),
        "last_active": (moment(facts.last_active) or written).isoformat(),
        "notebook": facts.notebook,
        "dialect": facts.dialect,
        "token_usage": None if facts.usage is None else msgspec.to_builtins(facts.usage),
        "size": stat.st_size,
    }
    with storage_errors("write", path):
        if path.is_symlink():  # none of ours, and what it leads to is not ours to replace
            path.unlink()
    write_atomic(path, orjson.dumps(others | known, option=orjson.OPT_INDENT_2).decode())
    with storage_errors("write", path):
        # As old as what it speaks of, so that an append in the meantime makes it stale.
        os.utime(path, ns=(stat.st_mtime_ns, stat.st_mtime_ns))


def _others(path: Path) -> dict[str, object]:
    """Return what stands in a `.meta` before it is written again."""
    with contextlib.suppress(OSError, ValueError):
        meta = orjson.loads(path.read_bytes())
        if isinstance(meta, dict):
            return meta
    return {}
