"""What resuming a session gives back, and what is to be told about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from mewcode_magic.messages import Message
from mewcode_magic.sessions.session import Session

__all__ = ["History", "ResumeReport", "Resumed"]


@dataclass(frozen=True, slots=True)
class ResumeReport:
    """What was found when a session was read.

    `skipped_lines`: lines that could not be read, wholly or in part, or of an unknown kind. `mended_lines`:
    lines of which all was read, but bytes or characters that are no text were replaced.
    `dropped_messages`: messages that cannot be replayed, because calls of theirs were not answered, or they
    answer none, or say nothing. `gap`: the time since the last record, if it is longer than
    `MewCode.time_gap_hours`. `boundary`: it begins with a summary of what was compacted.
    """

    skipped_lines: int = 0
    mended_lines: int = 0
    dropped_messages: int = 0
    gap: timedelta | None = None
    boundary: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """What a session replays; `last_active` is when its last record was written, in UTC."""

    messages: list[Message]
    report: ResumeReport
    last_active: datetime | None


@dataclass(frozen=True, slots=True)
class Resumed(History):
    """What a session replays, and the session to go on with."""

    session: Session
