"""Compaction: a summary takes the place of a conversation's earlier part, before the window is full."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from itertools import accumulate

from mewcode_magic.config import MewCode
from mewcode_magic.context.retelling import MAX_TOKENS, summary_query
from mewcode_magic.context.room import Room
from mewcode_magic.context.tail import divide
from mewcode_magic.context.tokens import TokenMeter, estimate_message, estimate_tokens, estimate_tokens_of
from mewcode_magic.errors import (
    AnswerUnusable,
    ContextTooLong,
    ConversationFull,
    MewCodeError,
    NothingToCompact,
)
from mewcode_magic.events import CompactionEnded, CompactionStarted, Event, Model, Notice
from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions import Session

__all__ = ["Compaction"]

ATTEMPTS = 3
"""How often a summary is asked for that is too long to be answered, each time with half of it."""
SHARE = 0.8
"""Of the summarising model's window that is filled; the rest is for what the estimate does not see."""


class Compaction:
    """Keeps one session within its model's window.

    `front` estimates the tokens that are sent in front of the conversation.
    """

    def __init__(self, session: Session, settings: MewCode, *, front: Callable[[], int]) -> None:
        self._session, self._settings, self._front = session, settings, front
        self._meter = TokenMeter()
        self._failures = 0

    @property
    def tokens(self) -> int:
        """What a request takes as things stand: what the API counted, and an estimate of what came since."""
        return self._meter.tokens(self._session.messages, self._front)

    @property
    def is_automatic(self) -> bool:
        """Whether it happens by itself: it is not turned off, and has not failed too often in a row."""
        return self._settings.auto_compact and self._failures < self._settings.max_failed_compactions

    def is_due(self, window: int) -> bool:
        """Tell whether the conversation is to be compacted by itself before the next request."""
        return self.is_automatic and self.tokens > Room.of(window, self._settings).compacts_above

    def check_room(self, prompt: str, window: int) -> None:
        """See that there is room for a prompt where nothing makes room by itself.

        Raises:
            ConversationFull: there is none.
        """
        if self.is_automatic:
            return
        limit = Room.of(window, self._settings).refuses_above
        if (tokens := self.tokens + estimate_tokens(prompt)) > limit:
            raise ConversationFull(
                f"the conversation takes about {tokens:,} tokens, and this model's window takes {limit:,} "
                "with room for an answer; %compact shortens it, %sessions new begins another"
            )

    def run_by_itself(self, model: Model, *, window: int, side_window: int) -> Generator[Event, None, bool]:
        """Compact the conversation as `run` does, and tell whether it was; what fails is told, not raised.

        A conversation of which there is nothing to compact is left as it is.
        """
        started, before, done = time.monotonic(), self.tokens, False
        failures = self._failures + 1
        try:
            yield from self.run(model, window=window, side_window=side_window)
            done = True
        except NothingToCompact:
            return False
        except MewCodeError as error:
            yield CompactionEnded(before, before, time.monotonic() - started, failure=str(error))
        if done and not self.is_due(window):
            return True
        self._failures = failures
        if failures == self._settings.max_failed_compactions:
            yield Notice(
                f"Compaction has failed, or not made enough room, {failures} times in a row and is not "
                "tried by itself any more; %compact still does it, %sessions new begins another conversation."
            )
        return done

    def run(
        self, model: Model, *, window: int, side_window: int, focus: str = ""
    ) -> Generator[Event, None, None]:
        """Put a summary by `model` in the place of the conversation's earlier part.

        `window` is the window of the model that goes on with the conversation, `side_window` that of `model`,
        in tokens. `focus` is what the user wants kept in mind. Whatever is raised, all is as it was.

        Raises:
            NothingToCompact: too little stands before what is kept.
            ModelError: there is no summary.
            StorageError: it could not be recorded.
        """
        started, before = time.monotonic(), self.tokens
        room = Room.of(window, self._settings)
        earlier, kept = divide(self._session.messages, room, self._settings)
        least = self._settings.min_summarize_prefix_tokens
        sizes = accumulate(map(estimate_message, earlier), initial=0)
        if not earlier or all(self._meter.corrected(size) < least for size in sizes):
            raise NothingToCompact(
                "nothing was compacted: the latest messages stay word for word, and what stands before them "
                f"has fewer than {least:,} tokens (MewCode.min_summarize_prefix_tokens)"
            )
        yield CompactionStarted(before)
        summary, usage = _summary(model, earlier, focus=focus, limit=int(side_window * SHARE) - MAX_TOKENS)
        self._session.compact(summary, kept)
        self._failures = 0
        yield CompactionEnded(before, self.tokens, time.monotonic() - started, usage)


def _summary(model: Model, messages: list[Message], *, focus: str, limit: int) -> tuple[str, Usage]:
    """Return the summary of messages and what it took.

    Raises:
        ModelError: there is none.
    """
    for attempt in range(ATTEMPTS):
        query = summary_query(messages, focus=focus, limit=limit)
        try:
            reply = model.query(query)
        except ContextTooLong:
            if attempt == ATTEMPTS - 1:
                raise
            limit = estimate_tokens_of(query.messages) // 2
            continue
        if summary := str(reply.value).strip():
            return summary, reply.usage
        break
    raise AnswerUnusable(f"{model.name} gave an empty summary")
