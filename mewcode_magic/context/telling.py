"""What one session's agent has been told beside the conversation, and is to be told with the next prompt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mewcode_magic.config import MewCode
from mewcode_magic.context.front import Front, read_front
from mewcode_magic.context.growing import Growing
from mewcode_magic.context.notices import notices_of_missing
from mewcode_magic.errors import MewCodeError
from mewcode_magic.memory import Memory, MemoryStore
from mewcode_magic.messages import Surfaced
from mewcode_magic.sessions import Session

__all__ = ["News", "Telling"]


@dataclass(frozen=True, slots=True)
class News:
    """What the next prompt tells in `notices`, and the front once the agent has got it."""

    notices: list[str]
    front: Front


class Telling:
    """Knows what an agent knows. `notices` wait for the next prompt, with which they are sent.

    `bound` are the names that calls bound in a kernel that may be gone; of those that the present one then
    lacks the agent is told with the next prompt.
    """

    def __init__(
        self,
        session: Session,
        memory: MemoryStore,
        settings: MewCode,
        *,
        project: Path,
        home: Path,
        shell: Any = None,
        notices: Iterable[str] = (),
        bound: Iterable[str] = (),
    ) -> None:
        self.notices = list(notices)
        self._bound = list(bound)
        self._session, self._memory, self._settings = session, memory, settings
        self._project, self._home, self._shell = project, home, shell
        self._front: Front | None = None
        self._seen = Growing()
        self._known: list[Surfaced] = []

    @property
    def front(self) -> Front:
        """What stands in front of the session, as it was on disk when it began, resumed or was compacted."""
        if self._front is None or not self._session.messages:
            self._front = self._read()
        return self._front

    def news(self) -> News:
        """Return what the agent must be told with the next prompt; `told` says that it was."""
        messages = self._session.messages
        stopped = bool(messages) and messages[-1].interrupted
        notices = ["Your previous answer was stopped before its end."] if stopped else []
        news, front = self.front.news(self._memory)
        return News([*self.notices, *notices_of_missing(self._bound, self._shell), *notices, *news], front)

    def told(self, news: News) -> None:
        """Take note that the agent was told the news."""
        self._front, self.notices, self._bound = news.front, [], []

    def learned(self, before: dict[str, Memory], after: dict[str, Memory]) -> None:
        """Take note that the agent knows what it changed itself between two snapshots of the memories."""
        self._front = self.front.learned(before, after)

    def read_again(self) -> None:
        """Read instructions, memories and date again; what cannot be read now stays as it was."""
        with contextlib.suppress(MewCodeError):
            self._front = self._read()

    def surfaced(self) -> list[Surfaced]:
        """Return the memories that stand in front of the session's prompts."""
        new, goes_on = self._seen.look(self._session.messages)
        known = self._known if goes_on else []
        self._known = known + [surfaced for message in new for surfaced in message.recalled]
        return self._known

    def _read(self) -> Front:
        return read_front(self._project, self._home, self._memory, self._settings)
