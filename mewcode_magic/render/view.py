"""What can be shown, as a value in all its forms, and the places in an output that it is shown in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mewcode_magic.render.text import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Handle", "Output", "Stretch", "View"]


@dataclass(frozen=True, slots=True)
class View:
    """One thing to show: `plain` for terminals and for front ends without HTML, and its richer forms.

    `html` and `markdown` are shown as they are: whoever builds a view escapes what is data. `code`, in
    `language`, belongs below `plain`; the HTML holds it already. `styled` makes what a terminal with styles
    shows in place of `plain`.
    """

    plain: str = ""
    html: str = ""
    markdown: str = ""
    code: str = ""
    language: str = ""
    styled: Callable[[], RenderableType] | None = field(default=None, compare=False)

    def text(self) -> str:
        """Return the view as plain text, the code indented below."""
        rows = [f"    {row}" for row in self.code.split("\n")] if self.code else []
        return clean("\n".join([self.plain, *rows]))

    def bundle(self) -> dict[str, str]:
        """Return the view by MIME type, as the display protocol takes it."""
        forms = {"text/html": self.html, "text/markdown": self.markdown, "text/plain": self.text()}
        return {kind: text for kind, text in forms.items() if text}


class Handle(Protocol):
    """A place in the output of the cell that it was opened in."""

    def show(self, view: View, *, final: bool = True) -> None:
        """Display `view` there, in place of what was displayed before; any thread may do so.

        What is not final is displayed only where it can change.
        """
        ...


class Stretch(Protocol):
    """A place in the output for Markdown that grows."""

    def add(self, text: str) -> None:
        """Append to the text."""
        ...

    def end(self) -> None:
        """Display the whole text; nothing is added any more."""
        ...


class Output(Protocol):
    """The output of one shell's running cell."""

    @property
    def live(self) -> bool:
        """Whether somebody sees it change: there a widget lives, and a growing text grows."""
        ...

    def open(self) -> Handle:
        """Return a place in which nothing is displayed yet."""
        ...

    def stretch(self) -> Stretch:
        """Return a place for a growing text."""
        ...

    def wait(self) -> None:
        """Say that something is awaited, until the next thing is shown."""
        ...

    def rest(self) -> None:
        """Nothing is awaited any more."""
        ...
