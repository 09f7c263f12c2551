"""Session files as other programs, crashes and older versions leave them."""

import json
from pathlib import Path
from typing import Any

from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore
from mewcode_magic.sessions.boundary import summary_in

ID = "20260618-091500-ab12"
TYPED_ID = "session_20260618_091500_x7k2"
START = 1_781_774_100
"""Unix seconds of 2026-06-18 09:15 UTC."""


def role(kind: str, content: Any, ts: float | None = START, **extra: Any) -> dict[str, Any]:
    """Return a record of the role dialect."""
    call = {"tool_use_id": extra.pop("tool_use_id")} if "tool_use_id" in extra else {}
    return {"role": kind, **call, "content": content, **extra, **({} if ts is None else {"ts": ts})}


def typed(
    kind: str, content: Any, stamp: str = "2026-06-18T09:15:00.123456+00:00", **extra: Any
) -> dict[str, Any]:
    """Return a record of the typed dialect."""
    return {"type": kind, "content": content, "timestamp": stamp, **extra}


def call(*names: str, say: str = "") -> list[dict[str, Any]]:
    """Return the content of a reply that makes these calls."""
    said = [{"type": "text", "text": say}] if say else []
    return said + [
        {"type": "tool_use", "id": name, "name": "ReadFile", "input": {"path": name}} for name in names
    ]


def boundary(summary: str, keep: list[dict[str, Any]], ts: float = START) -> dict[str, Any]:
    """Return a compact boundary of the role dialect."""
    return role("compact_boundary", {"summary": summary, "keep": keep}, ts)


def line(record: dict[str, Any] | bytes) -> bytes:
    """Return a record as a line; bytes are one already, and get no end."""
    if isinstance(record, bytes):
        return record
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def write(store: SessionStore, *records: dict[str, Any] | bytes, name: str = ID) -> Path:
    """Write a session file as another program would, and return its path."""
    store.folder.mkdir(parents=True, exist_ok=True)
    path = store.folder / f"{name}.jsonl"
    path.write_bytes(b"".join(map(line, records)))
    return path


def told(messages: list[Message]) -> list[str]:
    """Return what each message says, in short: its text, what it sums up, else what its blocks are."""
    return [_told(message) for message in messages]


def _told(message: Message) -> str:
    if (summary := summary_in(message)) is not None:
        return f"summary: {summary}"
    if text := message.text():
        return text
    return ",".join(f"{b['type']}:{b.get('id', b.get('tool_use_id'))}" for b in message.content)


def records(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file in which every line is sound."""
    return [json.loads(text) for text in path.read_text("utf-8").split("\n")[:-1]]


def files(folder: Path) -> list[str]:
    """Return the names of what stands in a folder, in order."""
    return sorted(path.name for path in folder.iterdir())
