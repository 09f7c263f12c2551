"""The quiet lines around an answer, as views: what was recalled, which calls ran, what the turn cost."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from mewcode_magic.events import CompactionEnded, PermissionAsked, Recalled, ToolEnded, ToolStarted, TurnEnded
from mewcode_magic.files import shown
from mewcode_magic.memory import Extraction, Memory, Saved
from mewcode_magic.messages import Usage
from mewcode_magic.render.code import code_html, shortened
from mewcode_magic.render.display import View
from mewcode_magic.render.text import clean, line

__all__ = [
    "FAINT",
    "NO_TEX",
    "arguments_of",
    "call_line",
    "closing_line",
    "compaction_line",
    "joined_view",
    "not_inserted",
    "outcome_view",
    "permission_line",
    "quiet_line",
    "recalled_line",
    "tokens_in_words",
    "told",
    "undo_of",
]

NO_TEX = "tex2jax_ignore mathjax_ignore"
"""Classes of elements whose text MathJax leaves alone; front ends look for formulas in HTML too."""

FAINT = "var(--vscode-descriptionForeground, var(--jp-ui-font-color2, #808080))"
_ERROR = "var(--vscode-errorForeground, var(--jp-error-color1, #d32f2f))"
_LINE = f"color: {FAINT}; font-size: 0.9em"
_TOLD = "font-family: var(--jp-code-font-family, monospace); font-size: 0.95em; white-space: pre-wrap"
_DONE = {"created": "Remembered", "updated": "Changed", "moved": "Moved"}

ARGUMENTS_LIMIT = 100
RESULT_LIMIT = 4_000
"""Characters of a call's arguments and result that are shown."""


def quiet_line(text: str) -> View:
    """Return one line beside the answer."""
    text = line(text)
    return View(f"[{text}]", html=f'<div class="{NO_TEX}" style="{_LINE}">{escape(text)}</div>')


def told(*lines: str) -> View:
    """Return lines that answer a command, as they are; too long a one is broken between its words."""
    text = clean("\n".join(lines))
    return View(text, html=f'<div class="{NO_TEX}" style="{_TOLD}">{escape(text)}</div>')


def recalled_line(event: Recalled) -> View:
    """Return which memories stood in front of the prompt."""
    return quiet_line("Recalled: " + ", ".join(memory.slug for memory in event.memories))


def permission_line(event: PermissionAsked) -> View:
    """Return what a call asked leave for without being answered."""
    return quiet_line(f"{event.tool} was denied: {event.question}")


def call_line(started: ToolStarted, ended: ToolEnded | None = None, *, stopped: bool = False) -> View:
    """Return a call: name, arguments, how it ended if it has; what it did and its result are to be opened."""
    name, arguments = line(started.name), arguments_of(started.input)
    state, color = "", FAINT
    if stopped:
        state = "stopped"
    elif ended is None:
        state = "running …"
    elif ended.is_error:
        state, color = "failed: " + line(ended.result.strip().split("\n", 1)[0], ARGUMENTS_LIMIT), _ERROR
    head = f"<b>{escape(name)}</b> {escape(arguments)}".rstrip()
    if state:
        head += f' <span style="color: {color}">{escape(state)}</span>'
    plain = f"[{name}: {arguments}{f' - {state}' if ended and state else ''}]"
    if ended is None or not (ended.result.strip() or ended.detail):
        return View(plain, html=f'<div class="{NO_TEX}" style="{_LINE}">{head}</div>')
    inside = code_html(ended.detail, ended.language) if ended.detail else ""
    inside += code_html(shortened(clean(ended.result), RESULT_LIMIT)) if ended.result.strip() else ""
    html = f'<details class="{NO_TEX}" style="{_LINE}"><summary>{head}</summary>{inside}</details>'
    return View(plain, html=html)


def compaction_line(ended: CompactionEnded | None = None, *, broken_off: bool = False) -> View:
    """Return a compaction: that it runs, or how it ended.

    Without a model, as with the offline answers, the seconds are left out, as in the closing line.
    """
    if broken_off:
        return quiet_line("The conversation was not compacted; it is as it was.")
    if ended is None:
        return quiet_line("Compacting the conversation…")
    if ended.failure:
        return quiet_line(f"The conversation could not be compacted and is as it was: {ended.failure}")
    took = f" in {ended.seconds:.1f} s" if ended.usage != Usage() else ""
    return quiet_line(f"Compacted the conversation: {ended.before:,} → {ended.after:,} tokens{took}")


def not_inserted(code: str) -> View:
    """Return the code of a proposed cell, and that it was not inserted."""
    told = "The cell that was proposed is not inserted, because this one did not succeed:"
    head = f'<div class="{NO_TEX}" style="{_LINE}">{told}</div>'
    plain = "\n".join([f"[{told}]", *(f"    {row}" for row in clean(code).split("\n"))])
    return View(plain, html=head + f'<div class="{NO_TEX}">{code_html(code, "python")}</div>')


def closing_line(event: TurnEnded) -> View:
    """Return the line that ends a turn: the model, its tokens, the seconds, and whether it was stopped.

    Without tokens, as with the offline answers, the seconds are left out: they would only make two runs of
    a notebook differ.
    """
    stop = {"done": "", "interrupted": "stopped", "limit": "limit of rounds reached"}[event.stop]
    parts = [stop, event.model]
    if event.usage != Usage():
        parts += [tokens_in_words(event.usage), f"{event.seconds:.1f} s"]
    elif event.stop == "done":  # of a reply that was stopped they are not known
        parts.append(tokens_in_words(event.usage))
    return quiet_line(" · ".join(part for part in parts if part))


def outcome_view(extraction: Extraction) -> View | None:
    """Return what became of a turn's extraction, one line a memory with how to undo it; None if nothing."""
    told = [
        f"{_DONE[saved.action]}: {_memory(saved.memory)}; undo: {undo_of(saved)}"
        for saved in extraction.written
    ]
    told += [f"Forgotten: {_memory(m)}; undo: %memory restore {m.slug}" for m in extraction.deleted]
    return joined_view([quiet_line(text) for text in told]) if told else None


def undo_of(saved: Saved) -> str:
    """Return the command that undoes a save."""
    slug = saved.memory.slug
    match saved.action:
        case "created":
            return f"%forget {slug}"
        case "moved":
            return f"%memory restore {slug}, then %forget --type {saved.memory.type} {slug}"
        case _:
            return f"%memory restore {slug}"


def joined_view(views: Sequence[View]) -> View:
    """Return one view of several, below one another."""
    return View("\n".join(view.plain for view in views), html="".join(view.html for view in views))


def _memory(memory: Memory) -> str:
    where = f" in {shown(memory.path)}" if memory.path else ""
    return f"the {memory.type} memory {memory.name!r}{where}"


def arguments_of(input: dict[str, Any]) -> str:  # noqa: A002 - the API's name
    """Return a call's arguments on one short line: the values that are one, and lists of them."""
    values = [v for given in input.values() for v in (given if isinstance(given, list) else [given])]
    shown = [line(str(v), ARGUMENTS_LIMIT) for v in values if isinstance(v, str | int | float) and v != ""]
    return line(", ".join(shown), ARGUMENTS_LIMIT)


def tokens_in_words(usage: Usage) -> str:
    """Return what was sent, how much of that came from the cache, and what was answered."""
    if usage == Usage():
        return "no tokens"
    cached = f" ({usage.cache_read_input_tokens:,} from cache)" if usage.cache_read_input_tokens else ""
    return f"{usage.prompt_tokens:,} tokens in{cached} · {usage.output_tokens:,} out"
