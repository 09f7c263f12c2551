"""The question that asks a model for the summary of a conversation's earlier part.

Each text is a content block of its own, in a tag that says what it is: `<focus>` (what the user wants kept in
mind), `<summary>` (of what was compacted before), `<user>`, `<notice>` (what the program put in front of a
prompt), `<assistant>`, `<call>` and `<result>`. All of it is escaped, so that none can end or forge a tag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from html import escape

from mewcode_magic.context.tokens import estimate_tokens
from mewcode_magic.events import Query
from mewcode_magic.messages import Block, Message
from mewcode_magic.sessions import summary_in

__all__ = ["summary_query"]

SECONDS = 300.0
MAX_TOKENS = 8_000
"""Of the summary, which is asked to be much shorter."""

_CHARS = {
    "focus": 10_000,
    "summary": 40_000,
    "user": 10_000,
    "assistant": 6_000,
    "notice": 2_000,
    "result": 2_000,
    "call": 1_000,
}
"""Characters of one text that are shown: three quarters from its beginning, the rest from its end."""
_SHARES = (1.0, 0.5, 0.25, 0.1)
"""Of these lengths, where the whole is too long."""
_UNSENDABLE = re.compile("[\ud800-\udfff\0]")
_RECALLED = "<relevant_memories>"


def summary_query(messages: Sequence[Message], *, focus: str, limit: int) -> Query:
    """Return the question for a summary of the messages, in at most about `limit` tokens.

    What is too long is shortened text by text, then left out from its beginning; an earlier summary stays.
    """
    head = 1 if messages and summary_in(messages[0]) is not None else 0
    texts = [("focus", focus)] if focus else []
    texts += [text for message in messages[:head] for text in _texts(message)]
    first = [_block(tag, _cut(text, _CHARS[tag])) for tag, text in texts]
    room = limit - sum(estimate_tokens(block["text"]) for block in first)
    for share in _SHARES:
        blocks, fit = _latest(messages[head:], share, room)
        if fit:
            break
    asked: Block = {"type": "text", "text": "That is the part to summarise. Answer with the summary alone."}
    content = [*first, *blocks, asked]
    return Query("compact", [{"role": "user", "content": content}], seconds=SECONDS, max_tokens=MAX_TOKENS)


def _latest(messages: Sequence[Message], share: float, room: int) -> tuple[list[Block], bool]:
    """Return the blocks of the latest messages that have room, in tokens, and whether all have."""
    blocks: list[Block] = []
    for message in reversed(messages):
        found = [_block(tag, _cut(text, round(_CHARS[tag] * share))) for tag, text in _texts(message)]
        room -= sum(estimate_tokens(block["text"]) for block in found)
        if room < 0:
            return blocks[::-1], False
        blocks += reversed(found)
    return blocks[::-1], True


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the tag and the text of what a message says; memories, images and thinking are left out."""
    if (summary := summary_in(message)) is not None:
        yield "summary", summary
        return
    for block in message.injected:
        text = str(block.get("text", ""))
        if not text.startswith(_RECALLED):
            yield "notice", text
    blocks = message.blocks()[len(message.injected) :]
    yield from (said for block in blocks for said in _said(block, message.role) if said[1].strip())


def _said(block: Block, role: str) -> Iterator[tuple[str, str]]:
    match block.get("type"):
        case "text":
            yield role, str(block.get("text", ""))
        case "tool_use":
            arguments = json.dumps(block.get("input"), default=str, ensure_ascii=False)
            yield "call", f"{block.get('name')} {arguments}"
        case "tool_result":
            failed = "failed: " if block.get("is_error") else ""
            yield "result", failed + _result(block.get("content"))


def _result(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)
    return str(content or "")


def _block(tag: str, text: str) -> Block:
    text = _UNSENDABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return {"type": "text", "text": f"<{tag}>\n{escape(text.strip(), quote=False)}\n</{tag}>"}


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]}\n[… {len(text) - limit:,} characters …]\n{text[-tail:]}"
