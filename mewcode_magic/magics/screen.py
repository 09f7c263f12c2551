"""Where a magic's result goes: text and tables, and lists that live in a widget where one can be kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from mewcode_magic.clock import local
from mewcode_magic.kernel import is_kernel

if TYPE_CHECKING:
    from mewcode_magic.events import TurnEnded
    from mewcode_magic.render import Table, View

__all__ = ["Screen", "counted", "local_time"]

NOTEBOOK_WIDTH = 100
"""Characters of a line of a table's plain text in a notebook."""

Widget = TypeVar("Widget")


class Screen:
    """The output of one shell's running cell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._late: list[TurnEnded] = []

    def tell_late(self, ended: TurnEnded) -> None:
        """In a terminal, where nothing shown can change, have what a turn left behind told by `catch_up`."""
        if ended.extraction is not None and not ended.extraction.done() and not is_kernel(self._shell):
            self._late.append(ended)

    def catch_up(self) -> None:
        """Tell, in the cell that begins, what has been remembered since the cells before."""
        if not self._late:
            return
        from mewcode_magic.render import outcome_of

        done = [ended for ended in self._late if ended.extraction is None or ended.extraction.done()]
        self._late = [ended for ended in self._late if ended not in done]
        for ended in done:
            if (view := outcome_of(ended)) is not None:
                self.show(view)

    def say(self, *lines: str) -> None:
        """Display lines of text."""
        from mewcode_magic.render import told

        self.show(told(*lines))

    def show(self, view: View) -> None:
        """Display a view."""
        from mewcode_magic.render import output_for

        output_for(self._shell).open().show(view)

    def show_table(self, table: Table, *, css_class: str = "") -> None:
        """Display a table, in a terminal as wide as that is."""
        width = NOTEBOOK_WIDTH if is_kernel(self._shell) else shutil.get_terminal_size().columns
        self.show(table.view(css_class=css_class, width=width))

    def show_list(self, table: Table, make_widget: Callable[[str], Widget]) -> Widget | None:
        """Display a list as a widget beside its table, and return it; the table only where none can live.

        `make_widget` is called with the CSS class of what the live widget hides. The table is for later:
        saved notebooks, GitHub, and a page that was loaded again hold no live widget.
        """
        from secrets import token_hex

        from mewcode_magic.render import output_for

        if not output_for(self._shell).live:
            self.show_table(table)
            return None
        hides = f"mew-{token_hex(6)}"
        widget = make_widget(hides)
        data, metadata = self._shell.display_formatter.format(widget)
        # Front ends without widgets would show the text in its place.
        self._shell.display_pub.publish(data | {"text/plain": ""}, metadata)
        self.show_table(table, css_class=hides)
        return widget


def counted(number: int, what: str) -> str:
    """Return a number with what it counts, in the plural unless it is one."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def local_time(moment: datetime) -> str:
    """Return a moment in local time, to the minute."""
    return f"{local(moment):%Y-%m-%d %H:%M}"
