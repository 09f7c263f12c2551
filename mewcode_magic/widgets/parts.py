"""What the widgets are made of: a panel that shows failures, rows by the page, questions before harm."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar

from ipywidgets import HTML, Box, Button, ButtonStyle, HBox, Layout, VBox

from mewcode_magic.errors import MewCodeError
from mewcode_magic.widgets.text import clip, sendable, span

__all__ = ["Actions", "Panel", "Row", "Rows", "bar"]

PAGE = 50
"""Rows that are shown at a time."""

ROW_HEIGHT, FULL_LIST = 30, 12
"""Pixels of a row in a wide window, and rows that stand without scrolling (as in style.css)."""

NO_TEX = ("tex2jax_ignore", "mathjax_ignore")
"""CSS classes of elements in which MathJax looks for no formulas."""

T = TypeVar("T")


def bar(*children: Any) -> HBox:
    """Return controls in one line, which wraps in narrow windows."""
    box = HBox(children)
    box.add_class("mew-bar")
    return box


class Panel(VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A widget with views of which one is seen, over a line that says what was done, or how it failed.

    The store that it shows is the truth, and actions read it again. They run one at a time, whatever threads
    they come from.
    """

    def __init__(self, *, hides: str) -> None:
        """Make an empty panel. While it lives, elements of the CSS class `hides` are not displayed."""
        super().__init__()
        self._busy = threading.RLock()
        self._hides = hides
        self._views: tuple[Box, ...] = ()
        self.seen = Box()
        self._line = HTML()
        self._line.add_class("mew-said")
        self._pager = Box()
        self._footer = HBox([self._line])
        self._footer.add_class("mew-footer")
        for name in ("mew", *NO_TEX):
            self.add_class(name)

    def arrange(self, *views: Box, pager: Box) -> None:
        """Put the views in; the first is seen, with `pager` at the end of the line below it."""
        sheet = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
        style = HTML(f"<style>.{self._hides} {{ display: none !important; }}\n{sheet}</style>")
        style.layout.display = "none"
        self._views, self._pager = views, pager
        self.turn_to(views[0])
        self.children = [style, *views, self._footer]

    def turn_to(self, seen: Box) -> None:
        """Show one view in place of the others; it is `self.seen` then."""
        self.seen = seen
        _display(self._views, shown=False)
        _display([seen], shown=True)
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
            except Exception as error:
                self._fail(f"{type(error).__name__}: {error}")
                raise  # a fault of ours: the front end's log gets the traceback
            else:
                if told is not None:
                    self._line.value = f'<div role="status">{escape(sendable(told))}</div>'

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
        self._then: Callable[[], str | None] = self.settle
        self._question = HTML()
        self._question.add_class("mew-question")
        self._yes = panel.button("", self._do, kind="danger")
        self._no = panel.button("", self._back_down)
        self._buttons, self._asking = buttons, (self._question, self._yes, self._no)
        self.widget = HBox([*self._buttons, *self._asking])
        self.widget.add_class("mew-actions")
        self.settle()

    def ask(self, question: str, *, yes: str, no: str, then: Callable[[], str | None]) -> None:
        """Ask; do `then` when the button `yes` is pressed, nothing when it is `no`."""
        self._question.value = span("ask", clip(question, 120))
        self._yes.description, self._no.description, self._then = yes, no, then
        _display(self._buttons, shown=False)
        _display(self._asking, shown=True)
        self._no.focus()

    def settle(self) -> None:
        """Take the question back."""
        _display(self._asking, shown=False)
        _display(self._buttons, shown=True)

    def _do(self) -> str | None:
        self.settle()
        return self._then()

    def _back_down(self) -> None:
        self.settle()
        self._buttons[0].focus()


def _display(widgets: Sequence[Any], *, shown: bool) -> None:
    for widget in widgets:
        widget.layout.display = None if shown else "none"


@dataclass(frozen=True, slots=True)
class Row:
    """How an entry looks: its button's text, cells of escaped HTML, and the lines of its tooltip."""

    label: str
    cells: str
    hints: Sequence[str]


class Rows(Generic[T]):
    """Entries of a list, a page at a time; a row is made once and used again for what stands there next.

    `widget` holds the rows, `pager` the buttons between pages.
    """

    def __init__(
        self,
        panel: Panel,
        *,
        describe: Callable[[T], Row],
        chosen: Callable[[T], str | None],
        heads: str = "",
    ) -> None:
        """Make an empty list of `panel`'s.

        `describe` is asked for the page's entries only. `chosen` is an action of the panel, on the entry
        whose row was pressed. `heads` are cells of escaped HTML over the columns.
        """
        self._panel, self._describe, self._chosen = panel, describe, chosen
        self._entries: Sequence[T] = ()
        self._first = self._pressed = 0
        self._rows: list[HBox] = []
        # One of each for all rows, so that a row is three models in the front end and not eight.
        self._layout, self._button_style = Layout(), ButtonStyle()
        self._empty = HTML()
        self._empty.add_class("mew-empty")
        self._heads = HTML(heads)
        self._heads.add_class("mew-heads")
        self.widget = VBox()
        self.widget.add_class("mew-rows")
        self._previous = panel.button("Previous", lambda: self._turn(-PAGE))
        self._next = panel.button("Next", lambda: self._turn(PAGE))
        self._where = HTML()
        self.pager = HBox([self._where, self._previous, self._next])
        self.pager.add_class("mew-pager")

    def fill(self, entries: Sequence[T], *, of: int, empty: str, rewind: bool = False) -> None:
        """Show `entries`, or the text `empty` when there are none.

        `of` is the length of the list that they were picked from: the place that it takes stays the same.
        The page stays too, while it exists, if not for `rewind`.
        """
        self._entries = entries
        self._first = 0 if rewind else min(self._first, max(0, len(entries) - 1) // PAGE * PAGE)
        self._empty.value = span("faint", empty)
        self.widget.layout.min_height = f"{min(max(of, 3), FULL_LIST) * ROW_HEIGHT}px"
        self._draw()

    def focus(self) -> None:
        """Move the keyboard's focus to where a row was pressed last."""
        rows = [row for row in self._rows if row in self.widget.children]
        if rows:
            rows[min(self._pressed, len(rows) - 1)].children[0].focus()

    def _turn(self, by: int) -> None:
        self._first = max(0, self._first + by)
        self._draw()

    def _draw(self) -> None:
        page = self._entries[self._first : self._first + PAGE]
        for place, entry in enumerate(page):
            if place == len(self._rows):
                self._rows.append(self._blank(place))
            look = self._describe(entry)
            button, cells = self._rows[place].children
            with button.hold_sync():
                button.description = clip(look.label)
                button.tooltip = "\n".join(clip(hint) for hint in look.hints if hint)
            cells.value = look.cells
        rows = self._rows[: len(page)] or [self._empty]
        self.widget.children = [self._heads, *rows] if self._heads.value else rows
        last = self._first + len(page)
        self._where.value = span("faint", f"{self._first + 1:,} to {last:,} of {len(self._entries):,}")
        self._previous.disabled, self._next.disabled = self._first == 0, last >= len(self._entries)
        self.pager.layout.display = None if len(self._entries) > PAGE else "none"

    def _blank(self, place: int) -> HBox:
        button = Button(layout=self._layout, style=self._button_style)
        button.on_click(lambda _: self._panel.act(lambda: self._press(place)))
        button.add_class("mew-open")
        cells = HTML(layout=self._layout, style=self._empty.style)
        cells.add_class("mew-cells")
        row = HBox([button, cells], layout=self._layout)
        row.add_class("mew-row")
        return row

    def _press(self, place: int) -> str | None:
        number = self._first + place
        if number >= len(self._entries):  # pressed while the list got shorter
            return None
        self._pressed = place
        return self._chosen(self._entries[number])
