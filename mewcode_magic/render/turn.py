"""A turn's events as outputs of the cell: the answer as it streams, a quiet line for what else happened."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any

from mewcode_magic.errors import SessionInUse
from mewcode_magic.events import (
    CompactionEnded,
    CompactionStarted,
    Event,
    Notice,
    PermissionAsked,
    Recalled,
    Replayed,
    TextDelta,
    ThinkingDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    VariablesMissing,
)
from mewcode_magic.kernel import can_ask
from mewcode_magic.kernel.proposing import withdraw
from mewcode_magic.render.display import output_for
from mewcode_magic.render.lines import (
    beside,
    call_line,
    closing_line,
    compaction_line,
    figure_view,
    joined_view,
    not_inserted,
    outcome_view,
)
from mewcode_magic.render.question import Stopped, ask
from mewcode_magic.render.view import Handle, Output, Stretch, View

__all__ = ["outcome_of", "show_compaction", "show_turn"]


def show_turn(events: Generator[Event], *, shell: Any) -> TurnEnded:
    """Display a turn in `shell`'s running cell while it runs, and return how it ended.

    Each stretch of text between calls is one display that grows; notices, recalled memories, calls and the
    closing line are one quiet line each; a recorded turn has its mark instead of the latter, in front. What
    was shown stays, whatever ends the turn. What is remembered of it later joins the closing line, where that
    can still change.

    Raises:
        Stopped: the user stopped it; the turn has recorded what was said.
        SessionInUse: another thread's prompt ended it.
        MewCodeError: the turn broke off.
    """
    shown = _Shown(output_for(shell), asks=shell is not None and can_ask(shell))
    with closing(events):
        try:
            _take_all(events, shown)
        except BaseException:
            shown.keep_code(withdraw(shell))
            raise
        finally:
            shown.settle()
    if shown.ended is None:
        shown.keep_code(withdraw(shell))
        raise SessionInUse("another prompt came in between and ended this turn; what was said so far is kept")
    return shown.ended


def show_compaction(events: Generator[Event], *, shell: Any) -> None:
    """Display a compaction in `shell`'s running cell while it runs.

    Raises:
        Stopped: the user stopped it; the conversation is as it was.
        MewCodeError: it could not be done, or there is nothing to compact.
    """
    shown = _Shown(output_for(shell), asks=False)
    with closing(events):
        try:
            _take_all(events, shown)
        finally:
            shown.settle()


def _take_all(events: Generator[Event], shown: _Shown) -> None:
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            shown.wait()
            event = next(events) if interrupt is None else events.throw(interrupt)
            interrupt = None
            shown.take(event)
        except StopIteration:
            return
        except KeyboardInterrupt as error:
            if getgeneratorstate(events) == GEN_CLOSED:
                raise Stopped from None
            interrupt = error  # it came while something was displayed, and the turn must hear of it


def _closing(ended: TurnEnded) -> View:
    """Return the closing line, and what has been remembered by now."""
    line, outcome = closing_line(ended), outcome_of(ended)
    return joined_view([line, outcome]) if outcome else line


def outcome_of(ended: TurnEnded) -> View | None:
    """Return what was remembered of a turn; None if that is nothing, or not known yet."""
    future = ended.extraction
    if future is None or not future.done() or future.cancelled() or future.exception():
        return None
    return outcome_view(future.result())


class _Shown:
    """What of a turn is displayed, and what may still change."""

    def __init__(self, output: Output, *, asks: bool) -> None:
        self._asks = asks
        self.ended: TurnEnded | None = None
        self._output = output
        self._replayed = False
        self._stretch: Stretch | None = None
        self._calls: dict[str, tuple[ToolStarted, Handle]] = {}
        self._compaction: Handle | None = None
        self._asked = ""
        """The code, command or diff of the last question."""

    def wait(self) -> None:
        """Show that the model is awaited, where nothing else shows that something goes on."""
        if self._stretch is None and not self._calls and self.ended is None:
            self._output.wait()

    def take(self, event: Event) -> None:
        """Display an event."""
        if isinstance(event, TextDelta):
            self._stretch = self._stretch or self._output.stretch()
            self._stretch.add(event.text)
            return
        if isinstance(event, ThinkingDelta):
            return
        self._end_stretch()
        match event:
            case Notice() | Recalled() | Replayed() | VariablesMissing():
                self._replayed = self._replayed or isinstance(event, Replayed)
                self._output.open().show(beside(event))
            case PermissionAsked() if self._asks:  # else it is denied, and the call's line says so
                ask(event, self._output)
                self._asked = event.detail
            case ToolStarted() | ToolEnded():
                self._take_call(event)
            case CompactionStarted() | CompactionEnded():
                self._take_compaction(event)
            case TurnEnded():
                self.ended = event

    def _take_call(self, event: ToolStarted | ToolEnded) -> None:
        if isinstance(event, ToolStarted):
            handle = self._output.open()
            self._calls[event.id] = event, handle
            handle.show(call_line(event), final=False)
        else:
            started, handle = self._calls.pop(event.id)
            line = call_line(started, event)
            # As text it was read with the question.
            handle.show(replace(line, code="") if event.detail == self._asked else line)
            for image in event.images:
                self._output.open().show(figure_view(image))

    def _take_compaction(self, event: CompactionStarted | CompactionEnded) -> None:
        handle = self._compaction or self._output.open()
        if isinstance(event, CompactionStarted):
            handle.show(compaction_line(), final=False)
            self._compaction = handle
        else:
            handle.show(compaction_line(event))
            self._compaction = None

    def keep_code(self, code: str) -> None:
        """Display a proposed cell that front ends do not insert, because the running one fails."""
        if code:
            self._end_stretch()
            self._output.open().show(not_inserted(code))

    def settle(self) -> None:
        """Bring everything displayed into the state that it stays in; the closing line comes last."""
        self._output.rest()
        self._end_stretch()
        for started, handle in self._calls.values():
            handle.show(call_line(started, stopped=True))
        self._calls.clear()
        if self._compaction is not None:
            self._compaction.show(compaction_line(broken_off=True))
        if self.ended is not None and not self._replayed:  # its mark has said by what, and it cost nothing
            self._close(self.ended)

    def _close(self, ended: TurnEnded) -> None:
        handle = self._output.open()
        handle.show(_closing(ended))
        if self._output.live and ended.extraction is not None:
            ended.extraction.add_done_callback(lambda _: handle.show(_closing(ended)))

    def _end_stretch(self) -> None:
        if self._stretch is not None:
            self._stretch.end()
            self._stretch = None
