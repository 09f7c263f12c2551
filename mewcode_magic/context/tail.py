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
    result. The prompt of the last turn stays in front of them even if what followed it does not.
    """
    start = _start(messages, room, settings)
    before = list(messages[:start])
    kept = list(messages[start:])
    prompt = next((index for index in reversed(range(len(messages))) if messages[index].is_prompt), start)
    if prompt < start and estimate_message(messages[prompt]) + _tokens(kept) <= room.keeps_most:
        kept.insert(0, before.pop(prompt))
    return before, kept


def _start(messages: Sequence[Message], room: Room, settings: MewCode) -> int:
    """Return the index of the first message of the tail."""
    start = len(messages)
    tokens = turns = more = 0
    for index in reversed(range(len(messages))):
        more += estimate_message(messages[index])
        if messages[index].tool_results():
            continue
        enough = tokens >= room.keeps or turns >= settings.keep_recent_turns
        fits = tokens + more <= room.keeps_most
        if start < len(messages) and (
            not fits or (enough and len(messages) - start >= settings.min_keep_messages)
        ):
            break
        start, tokens, more = index, tokens + more, 0
        turns += messages[index].is_prompt
    return start


def _tokens(messages: Sequence[Message]) -> int:
    return sum(map(estimate_message, messages))
