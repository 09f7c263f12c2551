"""Asking the user whether a call may be run, in the cell that runs."""

from __future__ import annotations

from html import escape

from mewcode_magic.events import PermissionAsked
from mewcode_magic.render.code import code_html, shortened
from mewcode_magic.render.display import Output, View
from mewcode_magic.render.lines import NO_TEX, quiet_line
from mewcode_magic.render.text import all_seen, line

__all__ = ["ask"]

_YES = {"y", "yes", "ok", "是", "好"}
_NO = {"", "n", "no", "否", "不"}
_ALWAYS = {"a", "always", "总是"}


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
    plain = "\n".join([f"[{event.tool} waits for you: {asked}]", *_indented(seen)])
    code = code_html(event.detail, event.language) if event.detail else ""
    head = f"<b>{escape(event.tool)} waits for you:</b> {escape(asked)}"
    return View(plain, html=f'<div class="{NO_TEX}">{head}{code}</div>')


def _indented(text: str) -> list[str]:
    return [f"    {row}" for row in text.split("\n")] if text else []
