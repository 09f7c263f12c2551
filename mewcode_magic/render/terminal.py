"""The output of a terminal: plain text as it comes, or with rich's styles where the terminal has them.

A line once printed stays, so a growing answer is printed block by block: a paragraph, a list, a table when it
is whole, and below them the block that is still being written, which is drawn anew as it grows. What a model
wrote is data: its control characters are shown, its links are printed with their addresses.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, cast

from mewcode_magic.render.markdown import safe_markdown
from mewcode_magic.render.text import clean
from mewcode_magic.render.view import Handle, Output, Stretch, View

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.segment import Segment

__all__ = ["terminal_output"]

REDRAWS = 10
"""Times a second that the block being written is drawn."""

PLAIN_FROM = 4_000
"""Characters from which a block being written is drawn as its source; it is styled when it is whole."""

GROWTH = 1.05
"""By what a block grows before it is looked at again whether it is whole: long ones cost no more."""

MARGIN = 2
"""Cells of the terminal that lines leave free at their end."""

CODE_THEME = "ansi_dark"
"""Of the terminal's own colours, which its user chose to be readable."""


def terminal_output() -> Output:
    """Return the output of the terminal that standard output is, or of what it is redirected to."""
    styled = sys.stdout.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    return _StyledOutput() if styled else _PlainOutput()


class _PlainOutput:
    live = False

    def open(self) -> Handle:
        return _PlainHandle()

    def stretch(self) -> Stretch:
        return _PlainStretch()

    def wait(self) -> None:
        """Show nothing: a line once printed stays."""

    def rest(self) -> None:
        """Show nothing either."""


class _PlainHandle:
    def __init__(self) -> None:
        self._shown = ""

    def show(self, view: View, *, final: bool = True) -> None:  # noqa: ARG002 - a line once printed stays
        text = view.text()
        if text != self._shown:
            _write(text + "\n")
            self._shown = text


class _PlainStretch:
    def __init__(self) -> None:
        self._last = ""

    def add(self, text: str) -> None:
        text = text if self._last else text.lstrip()
        if text:
            _write(text)
            self._last = text[-1]

    def end(self) -> None:
        if self._last not in ("", "\n"):
            _write("\n")
            self._last = "\n"


def _write(text: str) -> None:
    """Print `text` as far as the terminal's encoding has its characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(clean(text).encode(encoding, errors="replace").decode(encoding))
    sys.stdout.flush()


class _StyledOutput:
    """What is drawn anew (the spinner, a block being written) is at most one thing at a time."""

    live = False

    def __init__(self) -> None:
        from rich.console import Console

        output = cast("IO[str]", _Encodable())
        self._console = Console(
            file=output,
            force_terminal=True,
            markup=False,
            highlight=False,
            emoji=False,
        )
        self._spinner: Live | None = None

    def open(self) -> Handle:
        self.rest()
        return _StyledHandle(self._console)

    def stretch(self) -> Stretch:
        self.rest()
        return _StyledStretch(self._console)

    def wait(self) -> None:
        if self._spinner is None:
            from rich.spinner import Spinner

            spinner = Spinner("dots", style="dim")
            self._spinner = _drawn(self._console, lambda: spinner)

    def rest(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None


class _StyledHandle:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: View | None = None

    def show(self, view: View, *, final: bool = True) -> None:  # noqa: ARG002 - a line once printed stays
        before, self._shown = self._shown, view
        if before is None or before.plain != view.plain:
            self._console.print(_styled(view))
        if view.code and (before is None or before.code != view.code):
            self._console.print(_code(view))


class _StyledStretch:
    """Blocks are told apart as Markdown tells them; the last one may go on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text = ""
        self._looked_at = 0
        """Characters in which no block was found whole."""
        self._printed = False
        self._drawing: Live | None = None

    def add(self, text: str) -> None:
        self._text += text if self._text else text.lstrip()
        if "\n" in text and len(self._text) > GROWTH * self._looked_at:
            self._print_whole_blocks()
        if self._text and self._drawing is None:
            self._drawing = _drawn(self._console, self._growing)

    def end(self) -> None:
        self._stop_drawing()
        for block in _blocks(self._text):
            self._print(block)
        self._text = ""

    def _print_whole_blocks(self) -> None:
        *whole, self._text = _blocks(self._text)
        self._looked_at = len(self._text)
        if whole:
            self._stop_drawing()
        for block in whole:
            self._print(block)

    def _print(self, block: str) -> None:
        if block.strip():
            self._console.print(_Lines(self._apart(_markdown(safe_markdown(block)))))
            self._printed = True

    def _stop_drawing(self) -> None:
        if self._drawing is not None:
            self._drawing.stop()
            self._drawing = None

    def _growing(self) -> RenderableType:
        """Return the end of the block being written, as much as the screen holds."""
        from rich.text import Text

        text = self._text
        shown = Text(clean(text)) if len(text) > PLAIN_FROM else _markdown(safe_markdown(text))
        return _Lines(self._apart(shown)[-max(1, self._console.height - 2) :])

    def _apart(self, shown: RenderableType) -> list[list[Segment]]:
        """Return the lines of a block, with one blank line between it and the one before."""
        # Behind each line is room for the `^C` that a terminal prints at its cursor: on another line it would
        # make what is drawn anew miss its place.
        options = self._console.options.update(width=max(1, self._console.width - MARGIN))
        lines = [_without_padding(line) for line in self._console.render_lines(shown, options, pad=False)]
        while lines and _is_blank(lines[-1]):
            lines.pop()
        first = next((n for n, line in enumerate(lines) if not _is_blank(line)), 0)
        return [*([[]] if self._printed else []), *lines[first:]]


class _Lines:
    """Lines that were laid out before."""

    def __init__(self, lines: list[list[Segment]]) -> None:
        self._lines = lines

    def __rich_console__(self, *_: object) -> Iterator[Segment]:
        from rich.segment import Segment

        for line in self._lines:
            yield from line
            yield Segment.line()


class _Encodable:
    """Standard output as it is at the time, for the characters that its encoding has."""

    def write(self, text: str) -> int:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        return sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))

    def flush(self) -> None:
        sys.stdout.flush()

    @property
    def encoding(self) -> str:
        return getattr(sys.stdout, "encoding", None) or "utf-8"


def _blocks(text: str) -> list[str]:
    """Return the blocks of a text, at least one: paragraphs, lists, tables. The last one may go on."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    begins = [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]
    rows = text.split("\n")
    edges = [0, *begins[1:], len(rows)]
    blocks = ["\n".join(rows[begin:end]) for begin, end in itertools.pairwise(edges)]
    return [*(f"{block}\n" for block in blocks[:-1]), blocks[-1]]


def _without_padding(line: list[Segment]) -> list[Segment]:
    """Return a line without the blanks that Markdown fills it with."""
    from rich.segment import Segment

    while line and not line[-1].text.strip():
        line = line[:-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(), line[-1].style)] if line else []


def _is_blank(line: list[Segment]) -> bool:
    return not any(segment.text.strip() for segment in line)


def _drawn(console: Console, what: Callable[[], RenderableType]) -> Live:
    """Draw something anew ten times a second until it is stopped, which takes it away."""
    from rich.live import Live

    drawing = Live(
        console=console,
        get_renderable=what,
        transient=True,
        refresh_per_second=REDRAWS,
        # Output of others in between goes its own way: redirecting it would meet what redirects it already.
        redirect_stdout=False,
        redirect_stderr=False,
    )
    drawing.start()
    return drawing


def _styled(view: View) -> RenderableType:
    if view.styled is not None:
        return view.styled()
    if view.markdown:
        return _markdown(view.markdown)
    from rich.text import Text

    return Text(clean(view.plain))


def _markdown(text: str) -> RenderableType:
    from rich.markdown import Markdown

    return Markdown(clean(text), code_theme=CODE_THEME, hyperlinks=False)


def _code(view: View) -> RenderableType:
    from rich.padding import Padding
    from rich.syntax import Syntax

    code = Syntax(clean(view.code), view.language or "text", theme=CODE_THEME, word_wrap=True)
    return Padding(code, (0, 0, 0, 4))
