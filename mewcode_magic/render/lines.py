"""The quiet lines around an answer, as views: what was recalled, which calls ran, what the turn cost."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from mewcode_magic.clock import local
from mewcode_magic.events import (
    CompactionEnded,
    Notice,
    Recalled,
    Replayed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    VariablesMissing,
)
from mewcode_magic.files import shown
from mewcode_magic.memory import Extraction, Memory, Saved
from mewcode_magic.messages import Block, Usage
from mewcode_magic.render.code import code_html, shortened
from mewcode_magic.render.text import clean, line
from mewcode_magic.render.view import View
from mewcode_magic.sessions.facts import moment

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

__all__ = [
    "NO_TEX",
    "beside",
    "call_line",
    "called",
    "closing_line",
    "compaction_line",
    "faint",
    "figure_view",
    "joined_view",
    "not_inserted",
    "outcome_view",
    "quiet_line",
    "recorded_in_words",
    "told",
    "undo_of",
]

NO_TEX = "tex2jax_ignore mathjax_ignore"
"""Classes of elements whose text MathJax leaves alone; front ends look for formulas in HTML too."""

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_DONE = {"created": "Remembered", "updated": "Changed", "moved": "Moved"}

ARGUMENTS_LIMIT = 100
RESULT_LIMIT = 4_000
"""Characters of a call's arguments and result that are shown."""
NAMELESS = "a call without a name"
_WRITTEN = frozenset(["body", "content", "file_text", "insert_text", "new", "new_str", "old", "old_str"])
"""Arguments that are texts to write; what is opened below the line shows what becomes of them."""


def quiet_line(text: str) -> View:
    """Return one line beside the answer."""
    text = line(text)
    html = f'<div class="mew-line {NO_TEX}">{escape(text)}</div>'
    return View(f"[{text}]", html=html, styled=lambda: faint(text))


def told(*lines: str) -> View:
    """Return lines that answer a command, as they are; too long a one is broken between its words."""
    text = clean("\n".join(lines))
    return View(text, html=f'<div class="mew-told {NO_TEX}">{escape(text)}</div>')


def beside(event: Notice | Recalled | Replayed | VariablesMissing) -> View:
    """Return what stands beside the answer: notices, what was recalled, and of a recorded turn its mark."""
    match event:
        case Notice():
            return quiet_line(event.text)
        case Recalled():
            return quiet_line("Recalled: " + ", ".join(memory.slug for memory in event.memories))
        case Replayed():
            since = ", before what was asked anew in this kernel" if event.asked else ""
            return quiet_line(f"{recorded_in_words(event.time, event.model)}{since}; --fresh asks again")
        case VariablesMissing():
            return _missing(event)


def recorded_in_words(time: float | None, model: str) -> str:
    """Return when a turn was recorded, in local time, and what answered, as far as the record says it."""
    asked = moment(time) if time is not None else None
    when = f" on {local(asked):%Y-%m-%d %H:%M}" if asked else ""
    return f"Recorded{when}{f' by {line(model, ARGUMENTS_LIMIT)}' if model else ''}"


def _missing(event: VariablesMissing) -> View:
    """Return which variables of a recorded turn are missing, and where the code that made them is."""
    names = line(", ".join(event.names), RESULT_LIMIT)
    where = {
        "below": "the recorded code is in the cell below",
        "notebook": "a cell of this notebook has the recorded code",
        "nowhere": "the recorded code" if event.code else "there is no recorded code",
    }[event.offered]
    text = f"Not in this kernel: {names}; {where}"
    if event.offered != "nowhere" or not event.code:
        return quiet_line(text)
    head = f'<details class="mew-call {NO_TEX}"><summary class="mew-line">{escape(text)}</summary>'
    return View(
        "\n".join([f"[{text}:]", *(f"    {row}" for row in clean(event.code).split("\n"))]),
        html=f"{head}{code_html(event.code, 'python')}</details>",
    )


def call_line(started: ToolStarted, ended: ToolEnded | None = None, *, stopped: bool = False) -> View:
    """Return a call: name, arguments, how it ended if it has; what it did and its result are to be opened."""
    name, arguments = line(started.name), _arguments(started.input)
    state, failed = "", False
    if stopped or (ended is not None and ended.stopped):
        state = "stopped"
    elif ended is None:
        state = "running …"
    elif ended.is_error:
        state = "failed: " + line(ended.result.strip().split("\n", 1)[0], ARGUMENTS_LIMIT)
        failed = True
    kind = ' class="mew-error"' if failed else ""
    said = f"<span{kind}>{escape(state)}</span>" if state else ""
    # How it went stands before the arguments, which may be cut.
    head = " ".join(part for part in (f"<b>{escape(name)}</b>", said, escape(arguments)) if part)
    plain = f"[{called(started.name, started.input)}{f' - {state}' if ended and state else ''}]"

    def styled() -> RenderableType:
        said = faint(f"{name} {arguments}".rstrip())
        if not (ended and state):
            return said
        return said.append(f" · {state}", style="red" if failed else "dim")

    if ended is None or not (ended.result.strip() or ended.detail):
        return View(plain, html=f'<div class="mew-line mew-call {NO_TEX}">{head}</div>', styled=styled)
    inside = code_html(ended.detail, ended.language) if ended.detail else ""
    inside += code_html(shortened(clean(ended.result), RESULT_LIMIT)) if ended.result.strip() else ""
    html = f'<details class="mew-call {NO_TEX}"><summary class="mew-line">{head}</summary>{inside}</details>'
    diff = ended.detail if ended.language == "diff" else ""
    return View(plain, html=html, code=shortened(clean(diff)), language=ended.language, styled=styled)


def figure_view(image: Block) -> View:
    """Return a picture that stands in a record."""
    source = image.get("source")
    kind, data = (source.get("media_type"), source.get("data")) if isinstance(source, dict) else ("", "")
    if kind not in _PICTURES or not isinstance(data, str):
        return quiet_line("A figure was recorded here that cannot be shown.")
    return View("[figure]", html=f'<img alt="figure" src="data:{kind};base64,{escape(data)}">')


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
    head = f'<div class="mew-line {NO_TEX}">{told}</div>'
    html = head + f'<div class="{NO_TEX}">{code_html(code, "python")}</div>'
    return View(f"[{told}]", html=html, code=clean(code), language="python", styled=lambda: faint(told))


def closing_line(event: TurnEnded) -> View:
    """Return the line that ends a turn: the model, its tokens, the seconds, and whether it was stopped.

    Without tokens, as with the offline answers, the seconds are left out: they would only make two runs of
    a notebook differ.
    """
    stop = {"done": "", "interrupted": "stopped", "limit": "limit of rounds reached"}[event.stop]
    parts = [stop, event.model]
    if event.usage != Usage():
        parts += [event.usage.in_words(), f"{event.seconds:.1f} s"]
    elif event.stop == "done":  # of a reply that was stopped they are not known
        parts.append(event.usage.in_words())
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
    plain = "\n".join(view.plain for view in views)
    return View(plain, html="".join(view.html for view in views), styled=lambda: _below_one_another(views))


def faint(text: str) -> Text:
    """Return a text for a terminal with styles, set back behind the answer."""
    from rich.text import Text

    return Text(text, style="dim")


def _below_one_another(views: Sequence[View]) -> RenderableType:
    from rich.console import Group

    return Group(*(view.styled() if view.styled else view.plain for view in views))


def _memory(memory: Memory) -> str:
    where = f" in {shown(memory.path)}" if memory.path else ""
    return f"the {memory.type} memory {memory.name!r}{where}"


def called(name: str, input: object) -> str:  # noqa: A002 - the API's name
    """Return a call on one short line, never an empty one: the tool's name, and its arguments if it has any.

    A session's file may hold calls whose input is anything.
    """
    arguments = _arguments(input)
    name = line(name) or NAMELESS
    return f"{name}: {arguments}" if arguments else name


def _arguments(input: object) -> str:  # noqa: A002 - as above
    """Return the arguments that are one value, and lists of them; of each text the first line."""
    if not isinstance(input, dict):
        return ""
    values = [
        value
        for name, given in input.items()
        if name not in _WRITTEN
        for value in (given if isinstance(given, list) else [given])
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    ]
    return line(", ".join(text for text in map(_first_line, values) if text), ARGUMENTS_LIMIT)


def _first_line(value: float | str) -> str:
    first, _, more = str(value).strip().partition("\n")
    return line(first, ARGUMENTS_LIMIT) + (" …" if more else "")
