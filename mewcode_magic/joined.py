"""The instructions that have joined one session, as its messages tell, and what still waits to join."""

from __future__ import annotations

from mewcode_magic.context import ContextPart, Growing, listed
from mewcode_magic.instructions import Instructions, ScopedInstructions
from mewcode_magic.sessions import Session
from mewcode_magic.tools import joined_in

__all__ = ["JoinedInstructions"]


class JoinedInstructions:
    """Keeps the scoped instructions of one session true to what its agent is still sent."""

    def __init__(self, session: Session, scoped: ScopedInstructions) -> None:
        self._session, self._scoped = session, scoped
        self._seen = Growing()
        self._joins: list[tuple[list[str], str]] = []
        """Names and texts of the instructions that joined."""

    def look(self, front: Instructions) -> str:
        """Tell the scoped instructions which of them the agent has been sent, and return what those say.

        `front` are those in front of the session.
        """
        messages = self._session.messages
        new, goes_on = self._seen.look(messages)
        if not goes_on:
            self._joins = []
        self._joins += joined_in(messages[max(0, len(messages) - len(new) - 1) :])
        self._scoped.know(front, [name for names, _ in self._joins for name in names])
        return "\n\n".join(text for _, text in self._joins)

    def part(self, front: Instructions) -> ContextPart | None:
        """Return what has joined the instructions `front`, and which rules still wait, if any."""
        text = self.look(front)
        parts = []
        if self._scoped.joined:
            parts.append(f"sent with results: {listed(self._scoped.joined)}")
        if waiting := self._scoped.waiting:
            parts.append(f"waiting for a matching path: {listed([rule.path for rule in waiting])}")
        # Their tokens are counted with the conversation.
        return ContextPart("joined instructions", 0, text, "; ".join(parts)) if parts else None
