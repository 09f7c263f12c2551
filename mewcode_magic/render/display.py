"""How output reaches the person: a kernel's front end, a run with nobody there, or a terminal.

A kernel's front end can change what it shows, so a text grows in its place there. In a run with nobody there
(nbconvert, papermill, nbval) each thing is displayed once, when it is final: nbval compares what was first
shown. So it is in a console on a kernel. Terminals are the matter of `terminal`.
"""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import replace
from typing import Any

from mewcode_magic.kernel import can_ask, is_console, is_kernel
from mewcode_magic.render.style import rules_for
from mewcode_magic.render.terminal import terminal_output
from mewcode_magic.render.view import Output, View

__all__ = ["output_for"]

PAUSE = 0.1
"""Seconds between two updates of a growing text."""

SHARE = 4
"""The pause is also at least so many times what the last update took, so that a long text costs no more."""


def output_for(shell: Any) -> Output:
    """Return the output of `shell`'s running cell; without a shell, standard output."""
    if not is_kernel(shell):
        return terminal_output()
    captured = type(shell.display_pub).__name__ == "CapturingDisplayPublisher"  # %%capture keeps each update
    console = is_console(shell)
    return _KernelOutput(shell, live=can_ask(shell) and not (captured or console), console=console)


class _KernelOutput:
    def __init__(self, shell: Any, *, live: bool, console: bool) -> None:
        self._shell, self.live, self._console = shell, live, console
        self._styled: set[str] = set()

    def open(self) -> _KernelHandle:
        return _KernelHandle(self._shell, live=self.live, styled=self._styled, console=self._console)

    def stretch(self) -> _KernelStretch:
        return _KernelStretch(self.open(), live=self.live, console=self._console)

    def wait(self) -> None:
        """Show nothing: the front end marks the cell that runs."""

    def rest(self) -> None:
        """Show nothing either."""


class _KernelHandle:
    def __init__(self, shell: Any, *, live: bool, styled: set[str], console: bool) -> None:
        """Make a place that is still empty; `styled` are the rules that stand in the output already."""
        self._shell, self._live, self._console = shell, live, console
        self._styled, self._rules = styled, list[str]()
        self._id = uuid.uuid4().hex
        self.shown: View | None = None

    def show(self, view: View, *, final: bool = True) -> None:
        if view == self.shown or not (final or self._live):
            return
        # By its id the update reaches the cell that it was displayed in, whichever runs by now.
        self._shell.display_pub.publish(
            data=self._with_style(view).bundle(),
            metadata={},
            transient={"display_id": self._id},
            update=self.shown is not None and not self._console,
        )
        self.shown = view

    def _with_style(self, view: View) -> View:
        """Return `view` with the rules that this place brought along, and those that the output lacks."""
        self._rules += [rule for rule in rules_for(view.html) if rule not in self._styled]
        self._styled.update(self._rules)
        style = f"<style>{''.join(self._rules)}</style>" if self._rules else ""
        return replace(view, html=view.html + style)


class _KernelStretch:
    """Updates come from a timer's thread, so that the last words before a pause are shown too."""

    def __init__(self, handle: _KernelHandle, *, live: bool, console: bool) -> None:
        self._handle, self._live, self._console = handle, live, console
        self._pieces: list[str] = []
        self._painted = 0
        self._painting = threading.Lock()
        self._timer: threading.Timer | None = None
        self._due = 0.0
        self._ended = False

    def add(self, text: str) -> None:
        self._pieces.append(text)
        if not self._live or self._timer is not None:
            return
        if self._handle.shown is None:  # a thread's first display could land in another cell
            self._paint(final=False)
        else:
            self._paint_later()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._painting:
            self._ended = True
            self._paint(final=True)

    def _paint_later(self) -> None:
        self._timer = threading.Timer(max(0.0, self._due - time.monotonic()), self._paint_now)
        self._timer.daemon = True
        self._timer.start()

    def _paint_now(self) -> None:
        with self._painting:
            if self._ended:
                return
            self._paint(final=False)
            self._timer = None
            if self._painted < len(self._pieces):
                self._paint_later()

    def _paint(self, *, final: bool) -> None:
        from mewcode_magic.render.markdown import safe_markdown

        began = time.monotonic()
        self._painted = len(self._pieces)
        if text := "".join(self._pieces[: self._painted]).strip():
            # Where Markdown is shown, plain text would be the same again, and saved outputs twice as long.
            plain = text if self._console else ""
            self._handle.show(View(plain, markdown=safe_markdown(text)), final=final)
        self._due = began + max(PAUSE, SHARE * (time.monotonic() - began))
