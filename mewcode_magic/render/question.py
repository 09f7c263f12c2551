"""Asking the user, in the cell that runs: whether a call may be run, whether a recorded turn is shown."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mewcode_magic.events import PermissionAsked
from mewcode_magic.render.code import code_html, shortened
from mewcode_magic.render.lines import NO_TEX, quiet_line, recorded_in_words
from mewcode_magic.render.text import all_seen, line
from mewcode_magic.render.view import Output, View
from mewcode_magic.sessions import Turn

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Stopped", "ask", "prefers_recorded"]

_YES = {"y", "yes", "ok", "是", "好"}
_NO = {"", "n", "no", "否", "不"}
_ALWAYS = {"a", "always", "总是"}


class Stopped(KeyboardInterrupt):
    """The user stopped the turn. The cell fails, so that Run All stops too, but without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return ["Stopped."]


def ask(event: PermissionAsked, output: Output) -> None:
    """Show what a call would do, wait for the user's answer, and give it to the call.

    It is typed, not clicked: clicks reach the kernel only after the cell has ended. In a notebook the answer
    takes the question's place, since the call's own line shows what it did.

    Raises:
        KeyboardInterrupt: the user stopped the turn instead.
    """
    place = output.open()
    place.show(_question(event))
    choices = ["yes", "no", *([f"always ({line(event.always, 80)})"] if event.always else [])]
    told = "not answered"
    try:
        typed = input(f"{', '.join(choices)}, or what to do instead: ")
        answer = _answer(typed.strip(), event)
        event.reply(answer)
        told = answer if answer in ("yes", "no", "always") else typed
    finally:
        place.show(quiet_line(f"{event.tool}: {told}"))


def prefers_recorded(turn: Turn) -> bool:
    """Ask whether a recorded turn is to be shown; otherwise its prompt is asked again.

    Raises:
        Stopped: the user stopped the cell instead.
    """
    recorded = recorded_in_words(turn.prompt.ts, turn.model)
    try:
        typed = input(f"{recorded}. Show that? yes, or no to ask again: ")
    except KeyboardInterrupt:
        raise Stopped from None
    return typed.strip().casefold().rstrip(".!") not in _NO - {""}


def _answer(typed: str, event: PermissionAsked) -> str:
    word = typed.casefold().rstrip(".!")
    if word in _YES:
        return "yes"
    if word in _NO:
        return "no"
    return "always" if word in _ALWAYS and event.always else typed


def _question(event: PermissionAsked) -> View:
    """Return the question with the whole of what would be done, and nothing in it that cannot be seen."""
    asked, detail = line(event.question), shortened(event.detail)
    seen = all_seen(detail)
    if len(seen) > len(detail):  # an escape is longer than its character
        asked += r" (what cannot be seen in it stands as \u…)"
    html = code_html(event.detail, event.language) if event.detail else ""
    head = f"<b>{escape(event.tool)} waits for you:</b> {escape(asked)}"

    def styled() -> RenderableType:
        from rich.text import Text

        return Text(f"{event.tool} waits for you: ", style="bold").append(asked, style="not bold")

    return View(
        f"[{event.tool} waits for you: {asked}]",
        html=f'<div class="{NO_TEX}">{head}{html}</div>',
        code=seen,
        language=event.language,
        styled=styled,
    )
