"""Conversations to export, what in them is meant to do harm, and a reader of Markdown that allows HTML."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionInfo

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
HOSTILE = [
    "<script>alert(1)</script>",
    "```\n<img src=x onerror=alert(1)>\n```\n`````\n<b>",
    "~~~\n</details><iframe src='//x'>",
    "![x](http://evil/leak.png)",
    "[x]: javascript:alert(1)\n\n[x]",
    "<!--",
    "# x\r\n\n<style>*{}</style>",
]


def info(title: str = "Sales") -> SessionInfo:
    """Return what the list shows of a session."""
    when = datetime(2026, 6, 18, 9, 15, tzinfo=UTC)
    return SessionInfo("20260618-091500-ab12", Path("x"), title, "", when, when, 2, 0, None, "role")


def call(name: str, **arguments: object) -> dict[str, Any]:
    """Return a call."""
    return {"type": "tool_use", "id": "t1", "name": name, "input": arguments}


def conversation(
    *blocks: dict[str, Any], prompt: str = "go", result: Any = "ok", **keys: Any
) -> list[Message]:
    """Return a prompt, a reply of blocks, and the result of its call."""
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": result, **keys}
    return [
        Message(role="user", content=prompt),
        Message(role="assistant", content=list(blocks), model="claude-test"),
        Message(role="user", content=[answer]),
    ]


def tokens(markdown: str) -> list[Token]:
    """Return the blocks and spans of a text, read as a reader that allows HTML does."""
    parsed = MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown)
    return [inner for token in parsed for inner in (token, *(token.children or ()))]
