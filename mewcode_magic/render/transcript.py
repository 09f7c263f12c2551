"""A session's conversation to read: prompts, answers, and one quiet line a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mewcode_magic.clock import local
from mewcode_magic.messages import Block, Message
from mewcode_magic.render.lines import called
from mewcode_magic.render.markdown import safe_markdown
from mewcode_magic.render.markdown_printer import code_span, fenced
from mewcode_magic.render.pieces import text_of_result
from mewcode_magic.render.text import clean, line
from mewcode_magic.render.view import View
from mewcode_magic.sessions.facts import moment

__all__ = ["transcript_text", "transcript_view", "who_said"]

MESSAGE_LIMIT = 10_000
LIMIT = 100_000
"""Characters that are shown of one text, and of a conversation: its end."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that was said, with who said it and when; or, without `who`, calls one a line."""

    kind: Literal["prompt", "answer", "calls"]
    text: str
    who: str = ""


def transcript_text(messages: Sequence[Message]) -> str:
    """Return a conversation as plain text."""
    return "\n\n".join(_plain(part) for part in _shown_parts(messages))


def transcript_view(messages: Sequence[Message]) -> View:
    """Return a conversation as Markdown, the prompts word for word, and as plain text."""
    markdown = "\n\n".join(_markdown(part) for part in _shown_parts(messages))
    return View(transcript_text(messages), markdown=markdown)


def _shown_parts(messages: Sequence[Message]) -> list[_Part]:
    """Return the parts, without the earliest where they are too much to show."""
    parts = list(_parts(messages))
    room = LIMIT
    for index in range(len(parts) - 1, -1, -1):
        room -= len(parts[index].text)
        if room < 0:
            return [_Part("calls", f"… {index + 1:,} earlier parts are not shown"), *parts[index + 1 :]]
    return parts


def _parts(messages: Sequence[Message]) -> Iterator[_Part]:
    failures = {
        str(result.get("tool_use_id")): text_of_result(result)
        for message in messages
        for result in message.tool_results()
        if result.get("is_error")
    }
    for message in messages:
        text = _shortened(clean(message.text()).strip())
        if text and message.role == "user":
            yield _Part("prompt", text, who_said(message))
        elif text:
            yield _Part("answer", text, who_said(message))
        if calls := [_call(block, failures) for block in message.tool_uses()]:
            yield _Part("calls", "\n".join(calls))


def who_said(message: Message) -> str:
    """Return one line: who said a message, when, and whether it was stopped."""
    name = "You" if message.role == "user" else message.model or "Agent"
    said = moment(message.ts) if message.ts else None
    when = f" · {local(said):%Y-%m-%d %H:%M}" if said else ""
    return line(f"{name}{when}{' · stopped' if message.interrupted else ''}", 200)


def _call(block: Block, failures: dict[str, str]) -> str:
    told = called(str(block.get("name") or ""), block.get("input"))
    failure = failures.get(str(block.get("id")))
    return told if failure is None else f"{told} - failed: {line(failure, 100)}"


def _shortened(text: str) -> str:
    left_out = len(text) - MESSAGE_LIMIT
    return f"{text[:MESSAGE_LIMIT]}\n… {left_out:,} more characters" if left_out > 0 else text


def _plain(part: _Part) -> str:
    if part.kind == "calls":
        return "\n".join(f"[{call}]" for call in part.text.split("\n"))
    return f"{part.who}\n{part.text}"


def _markdown(part: _Part) -> str:
    if part.kind == "calls":
        return safe_markdown("\n".join(f"- {code_span(call)}" for call in part.text.split("\n")))
    text = fenced(part.text) if part.kind == "prompt" else part.text
    return f"{safe_markdown(f'**{part.who}**')}\n\n{safe_markdown(text)}"
