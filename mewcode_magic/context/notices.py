"""What an agent must be told of the session that goes on, or that went before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mewcode_magic.clock import local
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.kernel import missing_names
from mewcode_magic.sessions import Resumed, SessionInfo

__all__ = ["notice_of_summary", "notices_of_missing", "notices_of_resume"]

MOST_MISSING = 100
"""Variables that are named as missing."""


def notices_of_resume(resumed: Resumed) -> list[str]:
    """Return what an agent must be told when an earlier session goes on.

    That is when it was left, if that is long ago, and that of calls before a compaction nobody knows any more
    which variables they bound.
    """
    notices = []
    if resumed.report.gap is not None and resumed.last_active is not None:
        when = local(resumed.last_active).strftime("%Y-%m-%d %H:%M")
        notices.append(
            f"This conversation goes on after a break; its last message before is from {when}. Files and "
            "data may have changed since: read them again before you rely on what was said about them."
        )
    if resumed.report.boundary:
        notices.append(
            "Variables that the summary at the conversation's beginning names may not exist in the present "
            "kernel: look before you use them."
        )
    return notices


def notices_of_missing(bound: Iterable[str], shell: Any) -> list[str]:
    """Return what an agent must be told of variables that its calls bound, in a kernel that may be gone."""
    missing = missing_names(shell, bound)
    more = f" and {len(missing) - MOST_MISSING:,} more" if len(missing) > MOST_MISSING else ""
    names = ", ".join(missing[:MOST_MISSING]) + more
    return (
        [f"These variables of earlier calls do not exist in the present kernel: {names}."] if missing else []
    )


def notice_of_summary(info: SessionInfo, summary: str) -> str:
    """Return what the agent of a new session is told of the one before."""
    when = f" (last active {local(info.last_active):%Y-%m-%d %H:%M})" if info.last_active else ""
    return (
        f"The session before this one in the project was {info.id}{when}: {mask_credentials(summary)} "
        f"The user can go on with it by `%resume {info.id}`."
    )
