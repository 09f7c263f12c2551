"""What resuming a session gives back, and what was found when it was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mewcode_magic.files import storage_errors
from mewcode_magic.messages import Message
from mewcode_magic.sessions.facts import moment
from mewcode_magic.sessions.listing import SessionFile, facts_of
from mewcode_magic.sessions.replay import Replay, collection_paused, read_replay
from mewcode_magic.sessions.session import Session

__all__ = ["History", "ResumeReport", "Resumed", "read_history"]


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


def read_history(file: SessionFile, *, gap_hours: float) -> tuple[History, Replay]:
    """Return what a session replays, and the state of its file.

    `gap_hours`: a longer time since the last record is reported.

    Raises:
        StorageError: it cannot be read.
    """
    path = Path(file.path)
    with storage_errors("read", path), collection_paused():
        replay = read_replay(path)
        messages, dropped = replay.repaired()
    last_active = moment(facts_of(file, cached=False).last_active)
    gap = datetime.now(UTC) - last_active if last_active else timedelta()
    report = ResumeReport(
        skipped_lines=replay.skipped,
        mended_lines=replay.mended,
        dropped_messages=dropped,
        gap=gap if gap > timedelta(hours=gap_hours) else None,
        boundary=replay.boundary,
    )
    return History(messages, report, last_active), replay
