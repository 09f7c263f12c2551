"""Text and times as the widgets show them.

Text from files and models is data. Into `HTML` widgets it goes through `span` and `block`, which escape it;
buttons, text fields and menus take it as plain text. `Label` typesets TeX, so it is not used.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from html import escape

from mewcode_magic.clock import local

__all__ = ["block", "clip", "count_of", "exactly", "sendable", "since", "span"]

CELL_LIMIT = 300
"""Characters of a text in a row; more would not be seen."""


def sendable(text: str) -> str:
    """Return `text` with question marks for halves of surrogate pairs, which no front end can be sent."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def clip(text: str, limit: int = CELL_LIMIT) -> str:
    """Return `text` on one line, at most `limit` characters long."""
    text = " ".join(text.split())
    return sendable(text if len(text) <= limit else text[: limit - 1] + "…")


def span(kind: str, text: str) -> str:
    """Return `text` escaped, as a span of the class `mew-<kind>`."""
    return f'<span class="mew-{kind}">{escape(sendable(text))}</span>'


def count_of(number: int | None, what: str) -> str:
    """Return a span for a count, "" for one that is not known.

    `what` is counted, one of it; it is shown in narrow windows, where no heading says so.
    """
    if number is None:
        return span("count", "")
    plural = "" if number == 1 else "s"
    return f'<span class="mew-count">{number:,}<span class="mew-unit"> {escape(what)}{plural}</span></span>'


def block(text: str, *, label: str, from_end: bool = False) -> str:
    """Return `text` escaped, with its line ends, as a region that scrolls and that the keyboard reaches.

    `label` names it to screen readers. With `from_end` it is scrolled to its end at first.
    """
    kind = "mew-text mew-from-end" if from_end else "mew-text"
    head = f'<pre class="{kind}" tabindex="0" role="region" aria-label="{escape(label)}">'
    return f"{head}<span>{escape(sendable(text))}</span></pre>"


def exactly(moment: datetime | None) -> str:
    """Return a moment in local time to the second, "" for none."""
    if moment is None:
        return ""
    return local(moment).isoformat(sep=" ", timespec="seconds")[:19]


def since(moment: datetime | None, now: datetime) -> str:
    """Return how long ago a moment was, its local date when that is over a month, "" for none."""
    if moment is None:
        return ""
    past = now - moment
    if past < timedelta(minutes=1):
        return "just now"
    if past < timedelta(hours=1):
        return f"{past // timedelta(minutes=1)} min ago"
    if past < timedelta(days=1):
        return f"{past // timedelta(hours=1)} h ago"
    if past < timedelta(days=31):
        return f"{past.days} d ago"
    return exactly(moment)[:10]
