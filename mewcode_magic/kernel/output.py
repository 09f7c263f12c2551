"""What code puts out while it runs: the user sees it as it comes, and a bounded part of it is kept.

Streams are heard where IPython itself hears them, at the `write` of the stream that stands in `sys`: so are
log handlers that were made earlier, and, in a kernel, child processes. What a thread puts out goes under the
cell that started it.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from mewcode_magic.kernel.activity import Cell, Figure, figure_of
from mewcode_magic.kernel.terminal_text import TerminalText

__all__ = ["Output", "swapped"]

STDOUT_CHARS = 16_000
STDERR_CHARS = 6_000
RESULT_CHARS = 8_000
DISPLAY_CHARS = 8_000
"""Characters that are kept of each; of more, the beginning and the end."""
MOST_FIGURES = 4
"""Figures that are kept, the latest."""
MOST_DISPLAYS = 100
"""Displays that the user is shown, and whose text is kept."""
SHOWN_CHARS = 500_000
"""Characters of printed text that the user is shown; a front end would choke on very much of it."""
PIECES = 8_192
"""Characters that are gathered before they are looked at."""


class Output:
    """Listens to a shell while its context is open."""

    def __init__(self, shell: Any, code: str) -> None:
        self._shell, self._cell = shell, Cell(code)
        self._budget = _Budget()
        self._stdout = _Tap("stdout", STDOUT_CHARS, self._budget)
        self._stderr = _Tap("stderr", STDERR_CHARS, self._budget)
        self._result = TerminalText(RESULT_CHARS)
        self._texts: dict[object, str] = {}
        self._figures: dict[object, Figure] = {}
        self._numbers = count(1)
        self._displays = 0
        self._publish: Any = None
        self._showtraceback: Any = None
        self.interrupted = False
        """Whether a KeyboardInterrupt came up somewhere, be it in a callback that swallowed it."""
        self.shown_errors: list[str] = []
        """Types of the exceptions whose traceback the user saw."""
        self.notes: dict[str, None] = {}
        """What was kept from happening, in sentences."""

    # -- what was kept ---------------------------------------------------------------------------------

    @property
    def stdout(self) -> str:
        """What was printed."""
        return self._stdout.text()

    @property
    def stderr(self) -> str:
        """What went to standard error."""
        return self._stderr.text()

    @property
    def result(self) -> str:
        """The representation of the last expression, as it was shown."""
        return self._result.text()

    @property
    def displayed(self) -> str:
        """The texts of what was displayed besides figures."""
        kept = TerminalText(DISPLAY_CHARS)
        for text in self._texts.values():
            kept.write(f"{text}\n")
        return kept.text()

    @property
    def figures(self) -> tuple[list[Figure], int]:
        """The latest figures, and how many came before them."""
        figures = list(deque(self._figures.values(), MOST_FIGURES))
        return figures, len(self._figures) - len(figures)

    # -- listening -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hear and bound what is put out until the end of the context; put the streams back then."""
        shell, display = self._shell, self._shell.display_pub
        self._publish, self._showtraceback = display.publish, shell.showtraceback
        streams = sys.stdout, sys.stderr
        try:
            with (
                self._stdout.hearing(),
                self._stderr.hearing(),
                swapped(display, publish=self._display, clear_output=self._clear),
                swapped(shell, showtraceback=self._show_traceback, _showtraceback=self._show_text_of_error),
                _threads_in_their_context(),
            ):
                yield
        finally:
            if (sys.stdout, sys.stderr) != streams:
                self.note("sys.stdout or sys.stderr was replaced, and has been put back.")
                sys.stdout, sys.stderr = streams
        if self._budget.left_out:
            with contextlib.suppress(Exception):  # told as well as can be
                sys.stdout.write(f"\n[… {self._budget.left_out:,} more characters are not shown …]\n")
            self.note(f"The user was shown the first {SHOWN_CHARS:,} characters of what was printed.")
        if self._displays > MOST_DISPLAYS:
            self.note(f"Of {self._displays:,} displays the first {MOST_DISPLAYS} were shown.")

    def note(self, sentence: str) -> None:
        """Have something told to the model."""
        self.notes[sentence] = None

    def show_result(self, value: Any) -> None:
        """Show the value of an expression as IPython does, but leave `_`, `Out` and the history alone."""
        data, metadata = self._shell.display_formatter.format(value)
        self._shell.displayhook.fill_exec_result(value)
        if not data:
            return
        figure = figure_of(data, self._cell)
        if figure is not None:
            self._figures[next(self._numbers)] = figure
        self._result.write(f"{_text_of(data)}\n")
        with self._unheard():
            self._publish(data=data, metadata=metadata)

    def _display(self, data: Mapping[str, Any], metadata: Any = None, **options: Any) -> None:
        update = bool(options.get("update"))
        self._displays += not update
        if update or self._displays <= MOST_DISPLAYS:
            key = (options.get("transient") or {}).get("display_id") or next(self._numbers)
            self._keep(key, data)
            with self._unheard():
                self._publish(data=data, metadata=metadata, **options)

    def _keep(self, key: object, data: Mapping[str, Any]) -> None:
        figure = figure_of(data, self._cell)
        if figure is not None:
            self._figures[key] = figure
        elif text := _text_of(data):
            kept = TerminalText(DISPLAY_CHARS)
            kept.write(text)
            self._texts[key] = kept.text()

    def _clear(self, wait: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - IPython's signature
        """Forget what came so far. The cell's output holds the agent's answer too, so it is not cleared."""
        self._texts.clear()
        self._figures.clear()
        self._stdout.forget()
        self._stderr.forget()
        self.note("clear_output was not carried out: it would take the answer away.")

    def _show_traceback(self, *args: Any, **options: Any) -> None:
        self.interrupted |= isinstance(sys.exception(), KeyboardInterrupt)
        if self.interrupted:
            return
        with self._unheard():
            self._showtraceback(*args, **options)

    def _show_text_of_error(self, etype: type[BaseException], _value: object, lines: list[str]) -> None:
        """Show a traceback as text: an `error` message would say that the agent's cell has failed."""
        self.shown_errors.append(etype.__name__)
        text = self._shell.InteractiveTB.stb2text(lines)
        with self._unheard(), contextlib.suppress(UnicodeEncodeError):
            self._stderr.show(text if text.endswith("\n") else f"{text}\n")

    @contextlib.contextmanager
    def _unheard(self) -> Iterator[None]:
        """Keep nothing of what is printed: what is displayed in a terminal, a traceback, is kept already."""
        with swapped(self._stdout, deaf=True), swapped(self._stderr, deaf=True):
            yield


class _Budget:
    """What is shown of the printed text altogether."""

    def __init__(self) -> None:
        self._room = SHOWN_CHARS
        self.left_out = 0

    def take(self, length: int) -> int:
        """Return how many of so many characters may be shown."""
        room = min(self._room, length)
        self._room -= room
        self.left_out += length - room
        return room


class _Tap:
    """One standard stream, heard at its `write`."""

    def __init__(self, name: str, limit: int, budget: _Budget) -> None:
        self._stream: Any = getattr(sys, name)
        self.show: Callable[[str], object] = self._stream.write if self._stream is not None else len
        """Shows text without keeping it."""
        self._limit, self._budget = limit, budget
        self._lock = threading.RLock()
        self.deaf = False
        self.forget()

    def forget(self) -> None:
        """Forget what was kept."""
        self._kept = TerminalText(self._limit)
        self._pieces: list[str] = []
        self._gathered = 0

    def text(self) -> str:
        """Return what was kept."""
        with self._lock:
            self._sift()
            return self._kept.text()

    @contextlib.contextmanager
    def hearing(self) -> Iterator[None]:
        """Hear what is written, and do not let the stream be closed."""
        if self._stream is None:
            yield
            return
        with swapped(self._stream, write=self._write, close=_stay_open):
            yield

    def _write(self, text: Any) -> object:
        if not isinstance(text, str):
            return self.show(text)  # which refuses it
        if not self.deaf:
            with self._lock:
                self._pieces.append(text)
                self._gathered += len(text)
                if self._gathered >= PIECES:
                    self._sift()
        room = self._budget.take(len(text))
        if room:
            self.show(text[:room])
        return len(text)

    def _sift(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        self._gathered = 0
        self._kept.write(text)


def _stay_open() -> None:
    """Take the place of a standard stream's `close`: the notebook's output goes through it."""


def _text_of(data: Mapping[str, Any]) -> str:
    return next((str(data[k]) for k in ("text/plain", "text/markdown", "text/latex") if data.get(k)), "")


@contextlib.contextmanager
def swapped(owner: Any, **values: Any) -> Iterator[None]:
    """Give an object other attributes of its own for a while; one that takes none stays as it is."""
    own = getattr(owner, "__dict__", {})
    before = {name: own[name] for name in values if name in own}
    with contextlib.suppress(AttributeError):
        for name, value in values.items():
            setattr(owner, name, value)
    try:
        yield
    finally:
        with contextlib.suppress(AttributeError):
            for name in values:
                if name in before:
                    setattr(owner, name, before[name])
                else:
                    delattr(owner, name)


@contextlib.contextmanager
def _threads_in_their_context() -> Iterator[None]:
    """Let threads that are started take the context along, by which a kernel knows whose output it is.

    Python does so itself from 3.14 on, where it is free of the global lock.
    """
    start = threading.Thread.start

    def start_in_context(thread: threading.Thread) -> None:
        context, run = contextvars.copy_context(), thread.run
        thread.run = lambda: context.run(run)  # type: ignore[method-assign]
        start(thread)

    with swapped(threading.Thread, start=start_in_context):
        yield
