"""What the Messages API demands of each block and message by itself.

No text is empty; the body is strict JSON in UTF-8 without NUL; images are of four types; names and ids have
few characters; thinking goes back as it came, and ends no message. What it demands of a whole conversation is
`builder`'s matter.
"""

from __future__ import annotations

import math
import re
from typing import Any

from mewcode_magic.messages import Block, Message

__all__ = ["sendable", "text_block"]

NESTING = 100
"""Lists and objects inside one another; a few hundred more are beyond what Python writes as JSON."""

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_UNSENDABLE = re.compile("[\ud800-\udfff\0]")
_ID = re.compile("[^a-zA-Z0-9_-]")


def sendable(message: Message) -> Message:
    """Return the message with its blocks as the API takes them, injected ones among them."""
    blocks = [clean for block in message.blocks() if (clean := _sendable_block(block, message.role))]
    if message.role == "assistant":
        # Thinking alone is no reply, and a reply cannot end in thinking.
        while blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
            blocks.pop()
    return Message(role=message.role, content=blocks)


def _sendable_block(block: Block, role: str) -> Block | None:
    """Return the block as the API takes it in a message of `role`, or None if it has no place there."""
    match block.get("type"), role:
        case "text", _:
            text = _clean(str(block.get("text") or ""))
            return {**_own(block), "text": text} if text.strip() else None
        case (("thinking" | "redacted_thinking"), "assistant"):
            # Signed blocks go back as they came, or not at all: a changed one is refused.
            signed = block.get("signature") or block.get("data")
            return block if signed and _clean(block) == block else None
        case "image", "user":
            return _sendable_image(block)
        case "tool_use", "assistant":
            arguments = block.get("input")
            return {
                **_own(block),
                "id": _ID.sub("_", str(block.get("id") or "call")),
                "name": (_ID.sub("_", str(block.get("name") or "")) or "unknown")[:64],
                "input": _clean(arguments) if isinstance(arguments, dict) else {},
            }
        case "tool_result", "user":
            return {
                **_own(block),
                "tool_use_id": _ID.sub("_", str(block.get("tool_use_id") or "call")),
                "content": _result_content(block.get("content")),
            }
        case ((None | "thinking" | "redacted_thinking" | "image" | "tool_use" | "tool_result"), _):
            return None
        case _:
            return _own(block)


def _sendable_image(block: Block) -> Block:
    match block.get("source"):
        case {"type": "base64", "media_type": kind} if kind not in IMAGE_TYPES:
            pass
        case {"type": str()}:
            return _own(block)
    return text_block("(An image stood here, of a type that cannot be sent.)")


def _result_content(content: Any) -> str | list[Block]:
    """Return a result's content. An empty one says so: the API refuses it for a call that failed."""
    if isinstance(content, list):
        parts = [
            clean for part in content if isinstance(part, dict) and (clean := _sendable_block(part, "user"))
        ]
        return parts or "(no output)"
    text = _clean(content if isinstance(content, str) else "" if content is None else str(content))
    return text if text.strip() else "(no output)"


def _own(block: Block) -> Block:
    """Return the block, strings cleaned, without a cache breakpoint that an earlier request gave it."""
    return {_clean(k): _clean(v) for k, v in block.items() if k != "cache_control"}


def _clean(value: Any, depth: int = 0) -> Any:
    """Return `value` without what a body cannot hold.

    Lone surrogates and NUL are replaced, a number that is none becomes null, what lies too deep is left out.
    """
    if isinstance(value, str):
        return _UNSENDABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, dict | list):
        return value
    if depth == NESTING:
        return "(nested too deep to be sent)"
    if isinstance(value, dict):
        return {_clean(k): _clean(v, depth + 1) for k, v in value.items()}
    return [_clean(v, depth + 1) for v in value]


def text_block(text: str) -> Block:
    """Return a text as the API takes it."""
    return {"type": "text", "text": _clean(text)}
