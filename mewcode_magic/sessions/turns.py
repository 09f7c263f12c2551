"""A conversation cut into turns: a prompt, and all that was said and done in answer to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mewcode_magic.messages import Block, Message

__all__ = ["Turn", "turns_of"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn; `number` counts from 0 in the conversation. `answers`: replies, and results between."""

    number: int
    prompt: Message
    answers: list[Message] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Whether it came to its end: a reply without calls, that nothing broke off."""
        last = self.answers[-1] if self.answers else self.prompt
        return last.role == "assistant" and not last.interrupted and not last.tool_uses()

    @property
    def text(self) -> str:
        """The final answer."""
        return self.answers[-1].text() if self.answers else ""

    @property
    def model(self) -> str:
        """The name of the model that gave the final answer; "" where the record does not say it."""
        return (self.answers[-1].model if self.answers else None) or ""

    def results(self) -> dict[str, Block]:
        """Return the results of its calls, by call id."""
        return {str(block.get("tool_use_id")): block for m in self.answers for block in m.tool_results()}

    def variables(self) -> dict[str, list[str]]:
        """Return the names that its calls bound, by call id."""
        return {call: names for message in self.answers for call, names in message.variables.items()}


def turns_of(messages: Iterable[Message]) -> list[Turn]:
    """Return the turns of a conversation; what stands before its first prompt belongs to none."""
    turns: list[Turn] = []
    for message in messages:
        if message.is_prompt:
            turns.append(Turn(len(turns), message))
        elif turns:
            turns[-1].answers.append(message)
    return turns
