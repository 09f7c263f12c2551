"""How output reaches the person: a kernel's front end, a run with nobody there, or a terminal.

A kernel's front end can change what it shows, so a text grows in its place there. In a run with nobody there
(nbconvert, papermill, nbval) each thing is displayed once, when it is final: nbval compares what was first
shown. A terminal gets plain text as it comes.
"""

from __future__ import annotations

import sys
import threading
import time
import uuid
from dataclasses import dataclass, replace
from typing import Any, Protocol

from mewcode_magic.kernel import can_ask, is_kernel
from mewcode_magic.render.style import rules_for
from mewcode_magic.render.text import clean

__all__ = ["Handle", "Output", "Stretch", "View", "output_for"]

PAUSE = 0.1
"""Seconds between two updates of a growing text."""

SHARE = 4
"""The pause is also at least so many times what the last update took, so that a long text costs no more."""


@dataclass(frozen=True, slots=True)
class View:
    """One thing to show: `plain` for terminals and for front ends without HTML, and its richer form.

    `html` and `markdown` are shown as they are: whoever builds a view escapes what is data.
    """

    plain: str = ""
    html: str = ""
    markdown: str = ""

    def bundle(self) -> dict[str, str]:
        """Return the view by MIME type, as the display protocol takes it."""
        forms = {"text/html": self.html, "text/markdown": self.markdown, "text/plain": clean(self.plain)}
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


def output_for(shell: Any) -> Output:
    """Return the output of `shell`'s running cell; without a shell, standard output."""
    if not is_kernel(shell):
        return _TerminalOutput()
    captured = type(shell.display_pub).__name__ == "CapturingDisplayPublisher"  # %%capture keeps each update
    return _KernelOutput(shell, live=can_ask(shell) and not captured)


class _KernelOutput:
    def __init__(self, shell: Any, *, live: bool) -> None:
        self._shell, self.live = shell, live
        self._styled: set[str] = set()

    def open(self) -> _KernelHandle:
        return _KernelHandle(self._shell, live=self.live, styled=self._styled)

    def stretch(self) -> _KernelStretch:
        return _KernelStretch(self.open(), live=self.live)


class _KernelHandle:
    def __init__(self, shell: Any, *, live: bool, styled: set[str]) -> None:
        """Make a place that is still empty; `styled` are the rules that stand in the output already."""
        self._shell, self._live = shell, live
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
            update=self.shown is not None,
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

    def __init__(self, handle: _KernelHandle, *, live: bool) -> None:
        self._handle, self._live = handle, live
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
            # Plain text would be the same again, and saved outputs twice as long.
            self._handle.show(View(markdown=safe_markdown(text)), final=final)
        self._due = began + max(PAUSE, SHARE * (time.monotonic() - began))


class _TerminalOutput:
    live = False

    def open(self) -> _TerminalHandle:
        return _TerminalHandle()

    def stretch(self) -> _TerminalStretch:
        return _TerminalStretch()


class _TerminalHandle:
    def __init__(self) -> None:
        self._shown = ""

    def show(self, view: View, *, final: bool = True) -> None:  # noqa: ARG002 - a line once printed stays
        if view.plain != self._shown:
            _write(view.plain + "\n")
            self._shown = view.plain


class _TerminalStretch:
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
