"""One line on what a session was about, as a model says it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.events import Model, Query
from mewcode_magic.messages import Block, Message, Usage

__all__ = ["summary_of"]

TEXT_CHARS = 2_000
"""Characters of one message that are sent."""
ALL_CHARS = 24_000
"""Characters of all messages that are sent: the first prompt, and of the rest the latest."""


def summary_of(messages: Iterable[Message], model: Model) -> tuple[str, Usage]:
    """Return one line on a conversation, and the tokens that it took; only what was typed and said is sent.

    Credentials in the line are masked: it is told to the agents of other sessions.

    Raises:
        ModelError: the model has no answer.
    """
    blocks = [_block(message) for message in messages if message.text().strip()]
    size, kept = 0, len(blocks)
    while kept > 1 and size + len(blocks[kept - 1]["text"]) <= ALL_CHARS:
        kept -= 1
        size += len(blocks[kept]["text"])
    sent = [*blocks[:1], *blocks[max(kept, 1) :]]
    sent.append({"type": "text", "text": "Answer with the line alone."})
    reply = model.query(Query("summary", [{"role": "user", "content": sent}], max_tokens=1_000))
    return mask_credentials(str(reply.value)), reply.usage


def _block(message: Message) -> Block:
    text = escape(message.text().strip()[:TEXT_CHARS], quote=False)
    return {"type": "text", "text": f"<{message.role}>\n{text}\n</{message.role}>"}
