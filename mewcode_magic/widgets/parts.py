"""What the widgets share: stylesheet, rows by the page, questions before harm, and how failures are shown.

Text from files and models is data. Into `HTML` widgets it goes through `span` and `block`, which escape it;
buttons, text fields and menus take it as plain text. `Label` typesets TeX, so it is not used.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar

from ipywidgets import HTML, Box, Button, ButtonStyle, HBox, Layout, VBox

from mewcode_magic.errors import MewCodeError

__all__ = [
    "PAGE",
    "Actions",
    "Panel",
    "Row",
    "Rows",
    "bar",
    "block",
    "clip",
    "exactly",
    "sendable",
    "since",
    "span",
]

PAGE = 50
"""Rows that are shown at a time."""

CELL_LIMIT = 300
"""Characters of a text in a row; more would not be seen."""

ROW_HEIGHT, FULL_LIST = 30, 12
"""Pixels of a row in a wide window, and rows that stand without scrolling (as in style.css)."""

T = TypeVar("T")


def sendable(text: str) -> str:
    """Return `text` with question marks for halves of surrogate pairs, which no front end can be sent."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def clip(text: str, limit: int = CELL_LIMIT) -> str:
    """Return `text` on one line, at most `limit` characters long."""
    text = " ".join(text.split())
    return sendable(text if len(text) <= limit else text[: limit - 1] + "…")


def span(kind: str, text: str, *, title: str = "", label: str = "") -> str:
    """Return `text` escaped, as a span of the class `mew-<kind>`.

    `title` is shown on hover; `label` follows a count in narrow windows, where no heading says what it is.
    """
    extra = f' title="{escape(sendable(title))}"' if title else ""
    extra += f' data-label="{escape(label)}"' if label else ""
    return f'<span class="mew-{kind}"{extra}>{escape(sendable(text))}</span>'


def block(text: str, *, label: str, from_end: bool = False) -> str:
    """Return `text` escaped, with its line ends, as a region that scrolls and that the keyboard reaches.

    `label` names it to screen readers. With `from_end` it is scrolled to its end at first.
    """
    kind = "mew-text mew-from-end" if from_end else "mew-text"
    head = f'<pre class="{kind}" tabindex="0" role="region" aria-label="{escape(label)}">'
    return f"{head}<span>{escape(sendable(text))}</span></pre>"


def bar(*children: Any) -> HBox:
    """Return controls in one line, which wraps in narrow windows."""
    box = HBox(children)
    box.add_class("mew-bar")
    return box


def exactly(moment: datetime | None) -> str:
    """Return a moment in local time to the second, "" for none."""
    if moment is None:
        return ""
    with contextlib.suppress(OverflowError, OSError):  # a year that the platform's clock does not reach
        moment = moment.astimezone()
    return moment.isoformat(sep=" ", timespec="seconds")[:19]


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


@dataclass(frozen=True, slots=True)
class Row:
    """How an entry of a list looks: its button's text, what hovering says, and cells of escaped HTML."""

    label: str
    hint: str
    cells: str


class Rows(Generic[T]):
    """Entries of a list, a page at a time; a row is made once and used again for what stands there next.

    `widget` holds the rows, `pager` the buttons between pages. `describe` is asked for the page's entries
    only. `chosen` is called with the entry whose button was pressed.
    """

    def __init__(self, *, describe: Callable[[T], Row], chosen: Callable[[T], None]) -> None:
        self._describe, self._chosen = describe, chosen
        self._entries: Sequence[T] = ()
        self._first = 0
        self._rows: list[HBox] = []
        # One of each for all rows, so that a row is three models in the front end and not eight.
        self._layout, self._button_style = Layout(), ButtonStyle()
        self._empty = HTML()
        self._empty.add_class("mew-empty")
        self.widget = VBox()
        self.widget.add_class("mew-rows")
        self._previous, self._next = Button(description="Previous"), Button(description="Next")
        self._previous.on_click(lambda _: self._turn(-PAGE))
        self._next.on_click(lambda _: self._turn(PAGE))
        self._where = HTML()
        self.pager = HBox([self._where, self._previous, self._next])
        self.pager.add_class("mew-pager")

    def fill(self, entries: Sequence[T], *, empty: str, of: int | None = None) -> None:
        """Show `entries`, or the text `empty` when there are none.

        `of` is the length of the list that they were picked from: the place that it takes stays the same.
        The page stays too, while it exists.
        """
        self._entries = entries
        self._first = min(self._first, max(0, len(entries) - 1) // PAGE * PAGE)
        self._empty.value = span("hint", empty)
        self.widget.layout.min_height = f"{min(max(of or len(entries), 3), FULL_LIST) * ROW_HEIGHT}px"
        self._draw()

    def rewind(self) -> None:
        """Go to the first page with the next `fill`."""
        self._first = 0

    def focus(self, entry: T) -> None:
        """Move the keyboard's focus to the row of `entry`, if it is on the page."""
        shown = self._entries[self._first : self._first + PAGE]
        if entry in shown:
            self._rows[shown.index(entry)].children[0].focus()

    def _turn(self, by: int) -> None:
        self._first = max(0, self._first + by)
        self._draw()

    def _draw(self) -> None:
        shown = self._entries[self._first : self._first + PAGE]
        for place, entry in enumerate(shown):
            if place == len(self._rows):
                self._rows.append(self._blank(place))
            look = self._describe(entry)
            button, cells = self._rows[place].children
            with button.hold_sync():
                button.description, button.tooltip = clip(look.label), sendable(look.hint)
            cells.value = look.cells
        self.widget.children = self._rows[: len(shown)] or [self._empty]
        last = self._first + len(shown)
        self._where.value = span("faint", f"{self._first + 1:,} to {last:,} of {len(self._entries):,}")
        self._previous.disabled, self._next.disabled = self._first == 0, last >= len(self._entries)
        self.pager.layout.display = None if len(self._entries) > PAGE else "none"

    def _blank(self, place: int) -> HBox:
        button = Button(layout=self._layout, style=self._button_style)
        button.on_click(lambda _: self._chosen(self._entries[self._first + place]))
        button.add_class("mew-open")
        cells = HTML(layout=self._layout, style=self._empty.style)
        cells.add_class("mew-cells")
        row = HBox([button, cells], layout=self._layout)
        row.add_class("mew-row")
        return row


class Panel(VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A widget with views of which one is seen, over a line that says what was done, or how it failed.

    The store that it shows is the truth: every action reads it again. Actions run one at a time, whatever
    threads they come from.
    """

    def __init__(self, *, hides: str) -> None:
        """Make an empty panel. While it lives, elements of the CSS class `hides` are not displayed."""
        super().__init__()
        self._busy = threading.RLock()
        self._hides = hides
        self._views: tuple[Box, ...] = ()
        self._line = HTML()
        self._line.add_class("mew-said")
        self._pager = Box()
        self._footer = HBox([self._line])
        self._footer.add_class("mew-footer")
        self.add_class("mew")

    def arrange(self, *views: Box, pager: Box) -> None:
        """Put the views in; the first is seen, with `pager` at the end of the line below it."""
        sheet = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
        style = HTML(f"<style>.{self._hides} {{ display: none !important; }}\n{sheet}</style>")
        style.layout.display = "none"
        self._views, self._pager = views, pager
        self.turn_to(views[0])
        self.children = [style, *views, self._footer]

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, Any]:
        # Where the widget is not alive, the front end shows its text in its place.
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": "Run the cell again for the live list."}

    def turn_to(self, seen: Box) -> None:
        """Show one view in place of the others."""
        for view in self._views:
            view.layout.display = None if view is seen else "none"
        self._footer.children = [self._line, self._pager] if seen is self._views[0] else [self._line]

    def act(self, action: Callable[[], str | None]) -> None:
        """Do what a control asks for; show the line that it returns, or how it failed.

        With None the line stays as it is.
        """
        with self._busy:
            try:
                told = action()
            except MewCodeError as error:
                self._fail(str(error))
            except (
                Exception
            ) as error:  # a fault of ours: said here, and the front end's log has its traceback
                self._fail(f"{type(error).__name__}: {error}")
                raise
            else:
                if told is not None:
                    self._line.value = f'<div role="status">{escape(told)}</div>'

    def button(
        self, text: str, action: Callable[[], str | None], *, hint: str = "", kind: str = ""
    ) -> Button:
        """Return a button for `action`; `kind` is "", "primary" or "danger"."""
        button = Button(description=text, tooltip=hint or None, button_style=kind)
        button.on_click(lambda _: self.act(action))
        return button

    def _fail(self, text: str) -> None:
        self._line.value = f'<div role="alert" class="mew-failed">{escape(clip(text, 600))}</div>'


class Actions:
    """A row of buttons that gives way to a question before harm is done."""

    def __init__(self, panel: Panel, *buttons: Button) -> None:
        self._buttons = buttons
        self._question = HTML()
        self._yes = panel.button("", self._do, kind="danger")
        self._no = panel.button("", self._leave)
        self._then: Callable[[], str | None] = self._leave
        self.widget = HBox(buttons)
        self.widget.add_class("mew-actions")

    def ask(self, question: str, *, yes: str, no: str, then: Callable[[], str | None]) -> None:
        """Ask; do `then` when the button `yes` is pressed, nothing when it is `no`."""
        self._question.value = span("question", clip(question, 120))
        self._yes.description, self._no.description, self._then = yes, no, then
        self.widget.children = (self._question, self._yes, self._no)
        self._no.focus()

    def settle(self) -> None:
        """Take the question back."""
        self.widget.children = self._buttons

    def _do(self) -> str | None:
        self.settle()
        return self._then()

    def _leave(self) -> None:
        self.settle()
