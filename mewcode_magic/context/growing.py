"""A list of messages that is looked at turn after turn, at the cost of what is new in it."""

from __future__ import annotations

from mewcode_magic.messages import Message

__all__ = ["Growing"]


class Growing:
    """What was seen of a session's messages, which only grow as long as they are the same list."""

    def __init__(self) -> None:
        self._messages: list[Message] | None = None
        self._count = 0
        self._last: Message | None = None

    def look(self, messages: list[Message]) -> tuple[list[Message], bool]:
        """Return the messages that were not seen yet, and whether they go on from those that were.

        They do not if it is another list, as after a resume, a compaction or a trimming.
        """
        goes_on = messages is self._messages and self._still_there(messages)
        new = messages[self._count if goes_on else 0 :]
        self._messages, self._count = messages, len(messages)
        self._last = messages[-1] if messages else None
        return new, goes_on

    def _still_there(self, messages: list[Message]) -> bool:
        return self._count <= len(messages) and (self._count == 0 or messages[self._count - 1] is self._last)
