"""A table as a value, and its two forms: HTML for notebooks, aligned plain text for terminals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from mewcode_magic.render.code import code_html
from mewcode_magic.render.lines import NO_TEX
from mewcode_magic.render.text import fit, line, width
from mewcode_magic.render.view import View

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Cell", "Column", "Table"]

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and how it behaves where there is little room.

    `whole`: its texts are neither cut nor broken. `spare`: a narrow terminal leaves it out, the last such
    column first. `least`: cells that it keeps in a narrow terminal if its texts may be cut.
    """

    title: str
    right: bool = False
    whole: bool = False
    spare: bool = False
    least: int = 12


@dataclass(frozen=True, slots=True)
class Cell:
    """A text; in HTML with `hover` shown over it and `detail` opened by it; `marks` are words set off."""

    text: str
    hover: str = ""
    detail: str = ""
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns; `empty` is said when there are no rows, `notes` below in any case.

    All texts are data: they are escaped. A column that is empty in all rows is not shown.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    empty: str = ""
    notes: Sequence[str] = ()

    def view(self, *, css_class: str = "", width: int = 100) -> View:
        """Return all forms; see `html` and `text`."""
        return View(self.text(width), html=self.html(css_class), styled=lambda: self._styled(width))

    def html(self, css_class: str = "") -> str:
        """Return the table as HTML inside an element of the class `css_class`, which a live widget hides."""
        kinds = f"{css_class} mew-instead mew-table" if css_class else "mew-table"
        head = f'<div class="{escape(kinds)} {NO_TEX}">'
        if not self.rows:
            said = "".join(f"<div>{escape(text)}</div>" for text in self._said())
            return f"{head}{said}</div>"
        used = self._used()
        parts = [f"{head}<table>"]
        if self.notes:
            parts.append(f"<caption>{'<br>'.join(escape(text) for text in self._said())}</caption>")
        if any(column.title for column in self.columns):
            titles = "".join(f"<th{_align(c)}>{escape(c.title)}</th>" for c in used.values())
            parts.append(f"<thead><tr>{titles}</tr></thead>")
        parts.append("<tbody>")
        parts += [
            f"<tr>{''.join(_html_cell(column, row[index]) for index, column in used.items())}</tr>"
            for row in self.rows
        ]
        return "".join([*parts, "</tbody></table></div>"])

    def text(self, width: int = 100) -> str:
        """Return the table in lines of at most `width` cells of a terminal, where its columns allow it."""
        if not self.rows:
            return "\n".join(self._said())
        used = self._used()
        while _least(sizes := self._sizes(used), used) > width and any(c.spare for c in used.values()):
            del used[max(index for index, column in used.items() if column.spare)]
        _narrow(sizes, used, width)
        lines = [_text_line({i: c.title for i, c in used.items()}, used, sizes)]
        lines.append(_GAP.join("-" * sizes[index] for index in used))
        if not any(column.title for column in used.values()):
            lines = []
        lines += [_text_line({i: _plain(row[i]) for i in used}, used, sizes) for row in self.rows]
        return "\n".join([*lines, *self._said()])

    def _styled(self, width: int) -> RenderableType:
        """Return the text with its heading set off, and what is said below set back."""
        from rich.text import Text

        heads = 2 if self.rows and any(column.title for column in self._used().values()) else 0
        lines = self.text(width).split("\n")
        below = len(lines) - len(self._said())
        styles = ["bold" if n < heads else "dim" if n >= below else "" for n in range(len(lines))]
        return Text("\n", no_wrap=True).join(map(Text, lines, styles))

    def _said(self) -> list[str]:
        return [line(text) for text in (*([] if self.rows else [self.empty]), *self.notes) if text]

    def _used(self) -> dict[int, Column]:
        return {
            index: column
            for index, column in enumerate(self.columns)
            if any(_plain(row[index]) for row in self.rows)
        }

    def _sizes(self, used: dict[int, Column]) -> dict[int, int]:
        return {
            index: max(width(column.title), *(width(_plain(row[index])) for row in self.rows))
            for index, column in used.items()
        }


def _least(sizes: dict[int, int], used: dict[int, Column]) -> int:
    gaps = len(_GAP) * (len(used) - 1)
    return gaps + sum(sizes[i] if column.whole else min(sizes[i], column.least) for i, column in used.items())


def _narrow(sizes: dict[int, int], used: dict[int, Column], limit: int) -> None:
    """Take from the widest columns that may be cut until a line fits."""
    room = limit - len(_GAP) * (len(used) - 1)
    while sum(sizes[i] for i in used) > room:
        widest = max(
            (i for i, column in used.items() if not column.whole and sizes[i] > column.least),
            key=sizes.__getitem__,
            default=None,
        )
        if widest is None:
            return
        sizes[widest] -= 1


def _text_line(texts: dict[int, str], used: dict[int, Column], sizes: dict[int, int]) -> str:
    return _GAP.join(fit(texts[i], sizes[i], right=column.right) for i, column in used.items()).rstrip()


def _plain(cell: Cell) -> str:
    # In front, where cutting the text leaves them.
    return " ".join([*(f"({mark})" for mark in cell.marks), *([text] if (text := line(cell.text)) else [])])


def _align(column: Column) -> str:
    return ' align="right"' if column.right else ""


def _html_cell(column: Column, cell: Cell) -> str:
    content = escape(line(cell.text))
    if cell.hover:
        content = f'<span title="{escape(line(cell.hover))}">{content}</span>'
    content += "".join(f'<span class="mew-mark">{escape(mark)}</span>' for mark in cell.marks)
    if cell.detail:
        content = f"<details><summary>{content}</summary>{code_html(cell.detail)}</details>"
    whole = ' class="mew-whole"' if column.whole else ""
    return f"<td{_align(column)}{whole}>{content}</td>"
