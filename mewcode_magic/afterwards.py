"""What is done behind a turn's answer: memories are extracted, and the session before gets its summary."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from mewcode_magic.background import Worker
from mewcode_magic.config import MewCode
from mewcode_magic.context import notice_of_summary
from mewcode_magic.errors import AnswerUnusable, one_line
from mewcode_magic.events import Model, ModelEvent, Query, Reply, Request
from mewcode_magic.memory import Extraction, MemoryStore, extract
from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions import SessionInfo, SessionStore, summary_of

__all__ = ["Afterwards"]

T = TypeVar("T")

UNNOTICED_SECONDS = 0.05
"""What a cell may take longer, so that what rules extract at once is told with the answer."""


@dataclass(frozen=True)
class _UntilGivenUp:
    """A model whose answers count only until the work is given up: nothing is written after the end."""

    model: Model
    given_up: threading.Event

    @property
    def name(self) -> str:
        return self.model.name

    def stream(self, request: Request) -> Iterator[ModelEvent]:
        return self.model.stream(request)

    def query(self, query: Query) -> Reply:
        reply = self.model.query(query)
        if self.given_up.is_set():
            raise AnswerUnusable("the answer came after the agent was closed")
        return reply


class Afterwards:
    """One thing after another in the background. A failure is told by `state`, and touches nothing else."""

    def __init__(self, memory: MemoryStore, sessions: SessionStore, settings: MewCode) -> None:
        self._memory, self._sessions, self._settings = memory, sessions, settings
        self._worker = Worker("afterwards")
        self._lock = threading.Lock()
        self._usage = Usage()
        self._notices: list[tuple[str, str]] = []
        """Sessions whose agent is to be told something, and what."""
        self._last = ""
        self._given_up = threading.Event()

    @property
    def usage(self) -> Usage:
        """Tokens of all that was done."""
        return self._usage

    @property
    def state(self) -> str:
        """What is being done, else what was done last and how it went; "" if nothing was."""
        return "at work" if self._worker.busy else self._last

    def extract(
        self,
        model: Model,
        *,
        messages: Sequence[Message],
        earlier: Sequence[Message],
        instructions: str,
        session_id: str,
    ) -> Future[Extraction]:
        """Extract memories from a turn's messages; the future has the outcome, or the failure."""
        asked = _UntilGivenUp(model, self._given_up)

        def work() -> Extraction:
            extraction = extract(
                asked,
                self._memory,
                messages=messages,
                earlier=earlier,
                instructions=instructions,
                session_id=session_id,
                settings=self._settings,
                now=datetime.now(UTC),
            )
            done = len(extraction.written) + len(extraction.deleted)
            changes = "1 change" if done == 1 else f"{done or 'no'} changes"
            self._note(extraction.usage, f"extraction: {changes}", *extraction.refused)
            return extraction

        return self._submit("extraction", work)

    @property
    def extracts_nothing(self) -> bool:
        """Whether no memory is to be extracted, as the settings stand now."""
        return self._settings.extract == "off" or self._settings.permission_mode == "read-only"

    def give_time(self, extraction: Future[Extraction], *, to_its_end: bool) -> None:
        """Wait for an extraction as long as nobody notices, or `to_its_end`, as a setting can have it too."""
        forever = to_its_end or self._settings.extract == "wait"
        with contextlib.suppress(KeyboardInterrupt):  # stops the waiting, not what is waited for
            wait([extraction], timeout=None if forever else UNNOTICED_SECONDS)

    def summarize(self, model: Model, info: SessionInfo, *, tell: str) -> None:
        """Give a session the one line on what it was about; `take_notices` then has it for session `tell`."""
        asked = _UntilGivenUp(model, self._given_up)

        def work() -> None:
            summary, usage = summary_of(self._sessions.read(info.id).messages, asked)
            self._sessions.summarize(info.id, summary)
            self._note(usage, f"summary of session {info.id}: recorded")
            with self._lock:
                self._notices.append((tell, notice_of_summary(info, one_line(summary))))

        self._submit("summary", work)

    def take_notices(self, session_id: str) -> list[str]:
        """Return, once, what the agent of a session is to be told of what was done."""
        with self._lock:
            notices = [text for told, text in self._notices if told == session_id]
            self._notices = [(told, text) for told, text in self._notices if told != session_id]
        return notices

    def finish(self, seconds: float) -> bool:
        """Wait at most `seconds` for what is being done, then give it up; tell whether all was done."""
        done = self._worker.finish(seconds)
        self._given_up.set()
        self._given_up = threading.Event()
        return done

    def _submit(self, name: str, work: Callable[[], T]) -> Future[T]:
        def noted() -> T:
            try:
                return work()
            except Exception as error:
                self._note(Usage(), f"{name} failed", str(error))
                raise

        return self._worker.submit(noted)

    def _note(self, usage: Usage, *lines: str) -> None:
        with self._lock:
            self._usage += usage
            self._last = one_line("; ".join(lines))
