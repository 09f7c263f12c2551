"""What of a conversation a compaction keeps word for word."""

from __future__ import annotations

from collections.abc import Sequence

from mewcode_magic.config import MewCode
from mewcode_magic.context.room import Room
from mewcode_magic.context.tokens import estimate_message
from mewcode_magic.messages import Message

__all__ = ["divide"]


def divide(messages: Sequence[Message], room: Room, settings: MewCode) -> tuple[list[Message], list[Message]]:
    """Return the messages that are to be summarised, and those that are kept.

    Kept are the latest ones, up to the tokens or turns that are enough but not fewer than the least number of
    messages, and not beyond the most tokens; the last one always. They never begin between a call and its
    result. The prompt of the last turn stays in front of them even if what followed it does not, unless it
    would take more than half of the room.
    """
    prompt = next((index for index in reversed(range(len(messages))) if messages[index].is_prompt), None)
    reserved = 0 if prompt is None else estimate_message(messages[prompt])
    if prompt is not None and reserved > room.keeps_most // 2:
        prompt, reserved = None, 0
    start = _start(messages, room, settings, reserved=reserved)
    before, kept = list(messages[:start]), list(messages[start:])
    if prompt is not None and prompt < start:
        kept.insert(0, before.pop(prompt))
    return before, kept


def _start(messages: Sequence[Message], room: Room, settings: MewCode, *, reserved: int) -> int:
    """Return the index of the first message of the tail, beside the `reserved` tokens of the last prompt."""
    start = len(messages)
    tokens = turns = more = 0
    for index in reversed(range(len(messages))):
        message = messages[index]
        more += estimate_message(message)
        if message.tool_results():
            continue
        if message.is_prompt and not turns:
            reserved = 0
        enough = tokens >= room.keeps or turns >= settings.keep_recent_turns
        fits = reserved + tokens + more <= room.keeps_most
        if start < len(messages) and (
            not fits or (enough and len(messages) - start >= settings.min_keep_messages)
        ):
            break
        start, tokens, more = index, tokens + more, 0
        turns += message.is_prompt
    return start
