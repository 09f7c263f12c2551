"""What the next request would hold, part by part, with token counts and what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mewcode_magic.context.preview import IMAGE_LEFT_OUT, OLD_IMAGES, why_trimmed
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
    files: str,
    joined: ContextPart | None,
    notices: Sequence[str],
) -> ContextReport:
    """Return the report on a request; token counts are estimates.

    `pending` are the notices that the next prompt will carry, `recall` is what was found for the last one,
    `files` names the instruction files in order, `joined` is what of them joins the conversation later.
    `used`, `room` and `automatic` become the report's.
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
            files or "none; write them into MEWCODE.md",
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
    if joined is not None:
        parts.append(joined)
    if trimmed := _trimmed(messages):
        parts.append(trimmed)
    if recall is not None:
        names = ", ".join(memory.slug for memory in recall.memories)
        note = f"{names}: {recall.why}" if names else recall.why
        parts.append(ContextPart("recalled last", 0, recall.text, one_line(note)))
    if pending:
        text = "\n".join(pending)
        parts.append(ContextPart("notices", estimate_tokens(text), text, "go with the next prompt"))
    return ContextReport(tuple(parts), tuple(notices), used, room, automatic)


def _trimmed(messages: Sequence[Message]) -> ContextPart | None:
    """Return what of the conversation is not sent whole, and why; None if all is."""
    uses = (call for message in messages for call in message.tool_uses())
    calls = {call["id"]: call["name"] for call in uses if "name" in call}
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for message in messages:
        for block in message.tool_results():
            for why, what in why_trimmed(block.get("content")):
                counts[why] += 1
                name = block["tool_use_id"]
                lines.append(f"{calls.get(name, 'a call')} {name}: {what} ({why})")
        images = sum(block.get("text") == IMAGE_LEFT_OUT for block in message.injected)
        if images:
            counts[OLD_IMAGES] += images
            lines.append(f"in front of a prompt: images: {images:,} ({OLD_IMAGES})")
    if not lines:
        return None
    note = "results and images not sent whole: " + ", ".join(f"{why}: {n:,}" for why, n in counts.items())
    return ContextPart("trimmed", 0, "\n".join(lines), note)


def _texts(blocks: Sequence[dict[str, object]]) -> str:
    return "\n\n".join(str(block.get("text", "")) for block in blocks)
