"""What was said in a turn, as a model gets it that looks for what to remember.

Each text is a content block of its own, in a tag that says what it is: `<today>`, `<instructions>`, `<notes>`
(the manifest), `<earlier>` (what the user said before), `<user>` and `<assistant>`. Calls, results, thinking,
images and what the program put in front of a prompt are left out, since they are not the user's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal, TypeAlias

from mewcode_magic.messages import Block, Message, escape_tags

__all__ = ["CUT", "Said", "agent_saved", "said_in", "transcript"]

USER_CHARS = 4_000
"""Characters of one text of the user; of a longer one, its beginning and its end."""
ASSISTANT_CHARS = 2_000
TURN_CHARS = 24_000
"""Characters of all texts of a turn: the user's are taken first, then the assistant's, the latest first."""
EARLIER_PROMPTS = 3
EARLIER_CHARS = 1_000
"""Characters of one text that the user said before."""
INSTRUCTION_CHARS = 12_000

CUT = "[… cut here …]"
"""The line that stands for what was left out of a text."""

Said: TypeAlias = tuple[Literal["user", "assistant"], str]
"""Who said a text, and the text."""

_INJECTED = re.compile(r"\s*<(?:system-reminder|relevant_memories)>")
_WRAPPER = re.compile(r"<(?=[\s/]*(?:today|instructions|notes|earlier|user|assistant)\b)", re.IGNORECASE)
_NOT_SENT = re.compile(r"[\x00\ud800-\udfff]")

_SAVING = {
    "Remember": {"save", "delete"},
    "memory": {"create", "str_replace", "insert", "delete", "rename"},
}
"""The tools that change memories, and what of their `action` or `command` does so."""


def said_in(messages: Iterable[Message]) -> list[Said]:
    """Return what user and assistant said in text, in order; empty texts are left out."""
    return [(message.role, text) for message in messages if (text := _text(message))]


def agent_saved(messages: Sequence[Message]) -> bool:
    """Return whether the agent itself wrote or deleted a memory in these messages."""
    done = {
        result.get("tool_use_id")
        for message in messages
        for result in message.tool_results()
        if not result.get("is_error")
    }
    return any(_changes_memory(call) for m in messages for call in m.tool_uses() if call.get("id") in done)


def transcript(
    turn: Sequence[Said], *, earlier: Sequence[Said], instructions: str, notes: str, today: date
) -> list[Block]:
    """Return the content of the message that asks for what is worth remembering of a turn.

    `notes` is the manifest, escaped already; nothing in the other texts can end or forge a tag.
    """
    prompts = [text for role, text in earlier if role == "user"][-EARLIER_PROMPTS:]
    texts = [
        ("today", today.isoformat()),
        ("instructions", _data(_cut(instructions.strip(), INSTRUCTION_CHARS))),
        ("notes", notes),
        *(("earlier", _data(_cut(text, EARLIER_CHARS))) for text in prompts),
        *((role, _data(text)) for role, text in _within_limits(turn)),
    ]
    asked = "That is the turn. Answer with the JSON object alone."
    return [*(_block(f"<{tag}>\n{text}\n</{tag}>") for tag, text in texts if text), _block(asked)]


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content.strip()
    texts = (str(b.get("text", "")).strip() for b in message.content if b.get("type") == "text")
    return "\n\n".join(text for text in texts if text and not _INJECTED.match(text))


def _changes_memory(call: Block) -> bool:
    arguments = call.get("input")
    if not isinstance(arguments, dict):
        return False
    return (arguments.get("action") or arguments.get("command")) in _SAVING.get(str(call.get("name")), ())


def _within_limits(turn: Sequence[Said]) -> list[Said]:
    limits = {"user": USER_CHARS, "assistant": ASSISTANT_CHARS}
    cut: list[Said] = [(role, _cut(text, limits[role])) for role, text in turn]
    kept, room = set(), TURN_CHARS
    for number in sorted(range(len(cut)), key=lambda n: (cut[n][0] != "user", -n)):
        room -= len(cut[number][1])
        if room < 0:
            break
        kept.add(number)
    return [said for number, said in enumerate(cut) if number in kept]


def _cut(text: str, limit: int) -> str:
    """Return at most about `limit` characters: three quarters from the beginning, the rest from the end."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]}\n{CUT}\n{text[-tail:]}"


def _data(text: str) -> str:
    return _WRAPPER.sub("&lt;", escape_tags(_NOT_SENT.sub("\N{REPLACEMENT CHARACTER}", text)))


def _block(text: str) -> Block:
    return {"type": "text", "text": text}
