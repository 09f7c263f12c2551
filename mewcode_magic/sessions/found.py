"""What a search over all sessions gives back."""

from __future__ import annotations

from dataclasses import dataclass

from mewcode_magic.sessions.meta import SessionInfo

__all__ = ["Found"]


@dataclass(frozen=True, slots=True)
class Found:
    """A session that fits a search.

    `role`: who says `passage`, "user", "assistant" or "tool_result"; or "title" or "summary", if that holds
    more of the words than any record does. The passage is one line of data of about 160 characters; `marks`
    are the beginning and end of each hit in it. `hits`: how many records hold one of the words at least.
    `missing`: the words that the session does not hold; none, if there are sessions that hold all.
    """

    info: SessionInfo
    role: str
    passage: str
    marks: tuple[tuple[int, int], ...]
    hits: int
    missing: tuple[str, ...] = ()
