"""What the next request would hold, part by part, with token counts and what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mewcode_magic.context.reminder import Reminder
from mewcode_magic.context.room import Room
from mewcode_magic.context.tokens import estimate_tokens, estimate_tokens_of
from mewcode_magic.errors import one_line
from mewcode_magic.events import Request
from mewcode_magic.memory import Recall
from mewcode_magic.messages import Message

__all__ = ["ContextPart", "ContextReport", "report_context"]

_NO_MEMORY = "none; save one with %remember"
_NO_INDEX = "none when the session began; later ones are in notices"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part of a request; `note` says in a few words what is in it."""

    name: str
    tokens: int
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ContextReport:
    """The parts in the order in which they are sent, and what was left out of them."""

    parts: tuple[ContextPart, ...]
    notices: tuple[str, ...]
    used: int
    """Tokens of the request: what the API counted, and an estimate of what came since."""
    room: Room
    automatic: bool
    """Whether the conversation is compacted by itself."""

    @property
    def total(self) -> int:
        """Tokens of all parts, estimated."""
        return sum(part.tokens for part in self.parts)


def report_context(
    request: Request,
    reminder: Reminder,
    messages: Sequence[Message],
    *,
    pending: Sequence[str],
    recall: Recall | None,
    used: int,
    room: Room,
    automatic: bool,
    files: Sequence[str],
    notices: Sequence[str],
) -> ContextReport:
    """Return the report on a request; token counts are estimates.

    `pending` are the notices that the next prompt will carry, `recall` is what was found for the last one,
    `files` are the instruction files in order. `used`, `room` and `automatic` become the report's.
    """
    prompts = sum(message.is_prompt for message in messages)
    conversation = estimate_tokens_of(request.messages) - estimate_tokens(reminder.text)
    parts = [
        ContextPart("system prompt", estimate_tokens_of(request.system), _texts(request.system)),
        ContextPart(
            "tools", estimate_tokens_of(request.tools), "", ", ".join(str(t["name"]) for t in request.tools)
        ),
        ContextPart(
            "instructions",
            estimate_tokens(reminder.instructions) if reminder.instructions else 0,
            reminder.instructions,
            ", ".join(files) or "none; write them into MEWCODE.md",
        ),
        ContextPart(
            "memory index",
            estimate_tokens(reminder.memory) if reminder.memory else 0,
            reminder.memory,
            "" if reminder.memory else _NO_INDEX if messages else _NO_MEMORY,
        ),
        ContextPart("date", estimate_tokens(reminder.today.isoformat()), reminder.today.isoformat()),
        ContextPart(
            "conversation",
            max(conversation, 0) if messages else 0,
            "",
            f"messages: {len(messages):,}, prompts among them: {prompts:,}" if messages else "not begun",
        ),
    ]
    if recall is not None:
        names = ", ".join(memory.slug for memory in recall.memories)
        note = f"{names}: {recall.why}" if names else recall.why
        parts.append(ContextPart("recalled last", 0, recall.text, one_line(note)))
    if pending:
        text = "\n".join(pending)
        parts.append(ContextPart("notices", estimate_tokens(text), text, "go with the next prompt"))
    return ContextReport(tuple(parts), tuple(notices), used, room, automatic)


def _texts(blocks: Sequence[dict[str, object]]) -> str:
    return "\n\n".join(str(block.get("text", "")) for block in blocks)
