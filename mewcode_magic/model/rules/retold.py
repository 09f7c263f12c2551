"""What rules tell of a conversation without a language model: its prompts, and which calls were made."""

from __future__ import annotations

import html
from collections import Counter

from mewcode_magic.events import Query
from mewcode_magic.model.rules.conversation import read_query

__all__ = ["line_on", "summary_on"]

LABEL = "(Extracted by fixed rules, without a language model: the user's lines, and which calls were made.)"
"""What an extract begins with, so that nobody takes it for a summary."""
LINE_CHARS = 160
LINES = 100
"""Most lines of an extract, the latest."""


def line_on(query: Query) -> str:
    """Return one line on a conversation: what it began and ended with, as it was asked."""
    prompts = [_line(html.unescape(text)) for tag, text in read_query(query) if tag == "user"]
    if not prompts:
        return "No prompts."
    last = f" … {prompts[-1]} ({len(prompts)} prompts)" if len(prompts) > 1 else ""
    return f"Asked: {prompts[0]}{last}"


def summary_on(query: Query) -> str:
    """Return an extract of a conversation, labelled so; an earlier one is carried on."""
    lines: list[str] = []
    focus: list[str] = []
    calls: Counter[str] = Counter()

    def add_calls() -> None:
        if calls:
            lines.append("  calls: " + ", ".join(f"{name} ({n})" for name, n in calls.items()))
            calls.clear()

    for tag, escaped in read_query(query):
        text = html.unescape(escaped)
        match tag:
            case "focus":
                focus.append(f"The user wants kept in mind: {text}")
            case "summary":
                lines += [line for line in text.removeprefix(LABEL).splitlines() if line.strip()]
            case "user":
                add_calls()
                lines.append(f"- The user said: {_line(text)}")
            case "call":
                calls[text.partition(" ")[0]] += 1
    add_calls()
    left_out = [f"… {len(lines) - LINES:,} earlier lines are left out"] if len(lines) > LINES else []
    return "\n".join([LABEL, *focus, *left_out, *lines[-LINES:]])


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LINE_CHARS else text[: LINE_CHARS - 1] + "…"
