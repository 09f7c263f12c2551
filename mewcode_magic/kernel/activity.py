"""What the user did in the shell since the agent's last turn: cells, results, figures, the last error."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mewcode_magic.config import MewCode
from mewcode_magic.kernel.failure import traceback_places, traceback_text

__all__ = ["VEGA_IN_HTML", "Activity", "Cell", "Figure", "figure_of"]

MOST_CELLS = 10
"""Cells that are told, the latest."""
MOST_FIGURES = 4
"""Figures that are sent, the latest."""

_OURS = re.compile(
    r"\s*%{1,2}(?:agent|remember|memory|forget|sessions|resume|context|compact|mewcode)\b"
    r"|\s*%(?:re|un)?load_ext\s+mewcode"
)
VEGA_IN_HTML = "application/vnd.vegalite+html"
"""Names a page that draws a Vega-Lite chart: how Altair displays one unless it is told otherwise."""
_VEGA = "vega.github.io/schema/vega-lite/"
"""What the specification inside such a page names as its schema."""
_FIGURES = re.compile(r"image/(?:png|jpeg|gif|webp)|application/vnd\.(?:plotly|vegalite)\b.*")


@dataclass(slots=True)
class Cell:
    """A cell that the user ran: its code, what its last line gave, and how it failed."""

    code: str
    number: int | None = None
    result: Any = None
    error: str = ""
    """The traceback as text, or ""."""
    places: str = ""
    """The traceback without a value: frames and the exception's type."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as it was displayed: one form by its MIME type, and the cell that displayed it."""

    cell: Cell
    mime: str
    data: Any


@dataclass(slots=True)
class Activity:
    """Listens to a shell. The agent's own cells are left out, and what its tools run in the shell."""

    shell: Any
    settings: MewCode
    last_error: Cell | None = None
    """The cell that failed last, also before the last turn."""
    _cells: deque[Cell] = field(default_factory=lambda: deque(maxlen=MOST_CELLS))
    _figures: deque[Figure] = field(default_factory=lambda: deque(maxlen=MOST_FIGURES))
    _left_out: int = 0
    _running: Cell | None = None

    def watch(self) -> None:
        """Begin to listen."""
        self.shell.events.register("pre_run_cell", self._before)
        self.shell.events.register("post_run_cell", self._after)
        for display in self._displays():
            display.register_hook(self._displayed)

    def rest(self) -> None:
        """Stop listening, and forget."""
        self.shell.events.unregister("pre_run_cell", self._before)
        self.shell.events.unregister("post_run_cell", self._after)
        for display in self._displays():
            display.unregister_hook(self._displayed)
        self._cells.clear()
        self._figures.clear()
        self.last_error = None

    def take(self) -> tuple[list[Cell], list[Figure], int]:
        """Return, once, the cells and figures since the last call, and how many cells are not among them."""
        taken = list(self._cells), list(self._figures), self._left_out
        self._cells.clear()
        self._figures.clear()
        self._left_out = 0
        return taken

    def _displays(self) -> list[Any]:
        """Return what publishes output in a kernel; a terminal displays no figures."""
        found = (self.shell.display_pub, self.shell.displayhook)
        return [display for display in found if hasattr(display, "register_hook")]

    def _before(self, info: Any) -> None:
        ours = not info.store_history or info.silent or _OURS.match(info.raw_cell or "")
        self._running = None if ours else Cell(info.raw_cell)

    def _after(self, result: Any) -> None:
        cell, self._running = self._running, None
        if cell is None or cell.code != result.info.raw_cell or not cell.code.strip():
            return
        cell.number = result.execution_count
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            cell.error, cell.places = traceback_text(error), traceback_places(error)
            self.last_error = cell
        if self.settings.share_activity:
            cell.result = result.result
            self._left_out += len(self._cells) == MOST_CELLS
            self._cells.append(cell)

    def _displayed(self, message: dict[str, Any]) -> dict[str, Any]:
        """Keep a figure of a message on its way to the front end, and let it pass."""
        if self._running is not None and self.settings.share_activity and self.settings.share_values:
            data = message.get("content", {}).get("data", {})
            figure = figure_of(data, self._running)
            if figure is not None:
                self._figures.append(figure)
        return message


def figure_of(data: Mapping[str, Any], cell: Cell) -> Figure | None:
    """Return the figure among the forms, by MIME type, in which something was displayed."""
    mime = next((kind for kind in data if _FIGURES.fullmatch(kind)), None)
    if mime is not None:
        return Figure(cell, mime, data[mime])
    page = data.get("text/html")
    return Figure(cell, VEGA_IN_HTML, page) if isinstance(page, str) and _VEGA in page else None
