"""Building request after request of one conversation, each at the cost of what is new in it.

What the API demands of a conversation: roles alternate and the user's comes first and last; results stand
first in the message after their calls; at most four cache breakpoints, none on an empty or a thinking block.
What was sent once is sent again byte for byte, so that the provider's prompt cache keeps hitting: new
messages only ever add blocks behind those that stand.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from mewcode_magic.context.growing import Growing
from mewcode_magic.context.request import sendable, text_block
from mewcode_magic.events import Request
from mewcode_magic.messages import Block, Message
from mewcode_magic.sessions import Chain

__all__ = ["RequestBuilder"]

_NOTHING_TYPED = "(The user sent no further text.)"
_CACHE = {"type": "ephemeral"}

_Place: TypeAlias = tuple[int, int]
"""Where a block stands: its message, and its number in there."""
_FRONT: _Place = (0, 0)


class RequestBuilder:
    """Builds the requests of a session, whose system prompt and tools stay the same.

    Of the messages it keeps what was made of them. If they are another list than the last time, or what
    stands in front of them has changed, it begins anew.
    """

    def __init__(self, *, system: str, tools: list[dict[str, Any]]) -> None:
        self._system = text_block(system)
        self._tools = tools
        self._seen = Growing()
        self._begin("")

    def _begin(self, reminder: str) -> None:
        self._reminder = reminder
        self._chain = Chain()
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": [text_block(reminder)]}]
        self._ends: list[_Place] = [_FRONT]
        """The ends of the user's messages, before they became one: there a request may have ended."""
        self._before_reply = _FRONT
        """Where the request ended that the last reply answers."""

    def build(self, messages: list[Message], *, reminder: str, max_tokens: int) -> Request:
        """Return the request for a conversation.

        `reminder` goes in front of the first message. The history is repaired where the API would refuse it;
        what the user typed is never dropped, unless it is blank.
        """
        new, goes_on = self._seen.look(messages)
        if not goes_on or self._chain.open or reminder != self._reminder:
            new = messages
            self._begin(reminder)
        for message in self._chain.follow([sendable(message) for message in new]):
            self._add(message)
        sent = list(self._messages)
        ends = self._ends
        if sent[-1]["role"] == "assistant":
            ends = [*ends, (len(sent), 0)]
            sent.append(_nothing_typed())
        marked = _marked(ends, self._before_reply)
        for number, block in marked:
            sent[number] = _with_breakpoint(sent[number], block)
        system = self._system if len(marked) > _MOST_MARKED else {**self._system, "cache_control": _CACHE}
        return Request(system=[system], messages=sent, tools=self._tools, max_tokens=max_tokens)

    def _add(self, message: Message) -> None:
        """Add a message; one of the user's joins the one before it, between two replies stands another."""
        blocks = message.blocks()
        if not blocks:
            return
        messages = self._messages
        last = messages[-1]
        if message.role == "assistant":
            if last["role"] == "assistant":  # the request that the second one answers ended in these words
                messages.append(_nothing_typed())
                self._end_here()
            self._before_reply = self._ends[-1]
            messages.append({"role": "assistant", "content": blocks})
            return
        if last["role"] == "user":
            last["content"] += blocks  # earlier requests have a copy, since their end has a breakpoint
        else:
            messages.append({"role": "user", "content": blocks})
        self._end_here()

    def _end_here(self) -> None:
        self._ends = [self._ends[-1], (len(self._messages) - 1, len(self._messages[-1]["content"]) - 1)]


_MOST_MARKED = 3
"""Breakpoints in messages that leave one for the system prompt, of the four that the API allows."""


def _marked(ends: list[_Place], before_reply: _Place) -> set[_Place]:
    """Return the blocks that end a cached prefix.

    The API looks back 20 blocks from each breakpoint for what an earlier request wrote, and a turn may add
    many more. So a breakpoint stands exactly where the last request ended: before the last reply, or, where
    no reply came, at the end of the user's message before. The one behind the reminder finds also what was
    written behind the system prompt, one block before it, when that has none of its own.
    """
    return {_FRONT, before_reply, *ends[-2:]}


def _with_breakpoint(message: dict[str, Any], number: int) -> dict[str, Any]:
    content: list[Block] = list(message["content"])
    content[number] = {**content[number], "cache_control": _CACHE}
    return {**message, "content": content}


def _nothing_typed() -> dict[str, Any]:
    return {"role": "user", "content": [text_block(_NOTHING_TYPED)]}
