"""What `%resume` says: what goes on and is not as it was, or why nothing of this notebook's does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mewcode_magic.magics.screen import counted, local_time

if TYPE_CHECKING:
    from mewcode_magic.app import Mew
    from mewcode_magic.sessions import Resumed

__all__ = ["told_of_none", "told_of_resume"]


def told_of_resume(resumed: Resumed, *, forked: bool = False) -> list[str]:
    """Return the lines on what was resumed, and what of it is not as it was."""
    from mewcode_magic.render.text import line  # rendering is loaded when it is first needed

    session, report = resumed.session, resumed.report
    prompts = [message.text() for message in resumed.messages if message.is_prompt]
    count = counted(len(resumed.messages), "message")
    last_active = f", last active {local_time(resumed.last_active)}" if resumed.last_active else ""
    what = f"a copy, {session.id}" if forked else session.id
    lines = [f"Resumed {what}, {line(session.title, 60)!r}: {count}{last_active}."]
    if prompts:
        lines.append(f"Your last prompt was: {line(prompts[-1], 100)}")
    if report.boundary:
        lines.append("It goes on from the summary of what was said before.")
    if report.gap:
        lines.append("The agent is told how long ago that was, and that files may have changed since.")
    if report.skipped_lines:
        lines.append(f"{counted(report.skipped_lines, 'line')} of its file could not be read.")
    if report.mended_lines:
        lines.append(
            f"In {counted(report.mended_lines, 'line')} of its file, bytes that are no text were replaced."
        )
    if report.dropped_messages:
        lines.append(f"Left out, for calls without a result: {counted(report.dropped_messages, 'message')}.")
    return lines


def told_of_none(mew: Mew, *, in_kernel: bool) -> str:
    """Return why no session of this notebook was resumed, and what can be done; `in_kernel`: of Jupyter."""
    session, notebook = mew.session, mew.place.notebook
    if session.messages:
        what = f"Session {session.id} is open already; %%agent goes on with it."
    else:
        what = "A new session begins with the next prompt"
        what += f"; there is none of {notebook} to go on with." if notebook else "."
    if not in_kernel:
        what += " This is no notebook; %resume without --here takes up the project's latest session."
    elif notebook is None:
        what += " Which notebook this is, the front end does not say; set JPY_SESSION_NAME to its path."
    taken = [info.id for info in mew.sessions.list() if notebook and info.notebook == notebook]
    if not session.messages and taken:
        what += f" Session {taken[0]} is open elsewhere; %resume {taken[0]} --fork copies it."
    return what
