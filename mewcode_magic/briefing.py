"""What an agent is told beside its conversation: of the session before, of what the user ran."""

from __future__ import annotations

import contextlib

from mewcode_magic.afterwards import Afterwards
from mewcode_magic.config import MewCode
from mewcode_magic.context import activity_blocks, activity_notice, error_block, notice_of_summary
from mewcode_magic.conversation import Conversation
from mewcode_magic.errors import MewCodeError, NoFailure
from mewcode_magic.events import Model
from mewcode_magic.kernel.activity import Activity
from mewcode_magic.messages import Block
from mewcode_magic.sessions import SessionInfo, SessionStore, free_sessions

__all__ = ["Briefing"]


class Briefing:
    """Tells the agent of one shell; `activity` None: what the user does beside it is not known."""

    def __init__(
        self, sessions: SessionStore, afterwards: Afterwards, activity: Activity | None, settings: MewCode
    ) -> None:
        self._sessions, self._afterwards = sessions, afterwards
        self._activity, self._settings = activity, settings

    def tell_of_earlier_session(self, conversation: Conversation) -> None:
        """Have the agent told, once in a new session, what the one before was about.

        One that has no summary yet gets it behind this turn; the next prompt then brings it.
        """
        notices = self._afterwards.take_notices(conversation.session.id)
        if not conversation.session.messages:
            earlier = self._session_before()
            summary = earlier.summary if earlier is not None else ""
            conversation.earlier = None if summary else earlier
            notices += [notice_of_summary(earlier, summary)] if earlier is not None and summary else []
        waiting = conversation.notices
        waiting += [notice for notice in notices if notice not in waiting]

    def sum_up_earlier_session(self, conversation: Conversation, model: Model) -> None:
        """Have `model` sum up, in the background, the session before that a conversation still waits for."""
        if conversation.earlier is not None:
            self._afterwards.summarize(model, conversation.earlier, tell=conversation.session.id)
            conversation.earlier = None

    def tell_of_activity(self, conversation: Conversation) -> list[Block]:
        """Have the agent told what the user ran since its last turn, and return the figures displayed."""
        if self._activity is None:
            return []
        cells, figures, left_out = self._activity.take()
        if notice := activity_notice(cells, left_out, self._settings):
            conversation.notices.append(notice)
        return activity_blocks(figures)

    @property
    def has_error(self) -> bool:
        """Whether a cell of the user's has failed, which `last_error` returns."""
        return self._activity is not None and self._activity.last_error is not None

    def last_error(self) -> Block:
        """Return the user's last cell that failed, with its traceback, as an attachment.

        Raises:
            NoFailure: no cell has failed.
        """
        cell = None if self._activity is None else self._activity.last_error
        if cell is None:
            raise NoFailure("no cell has failed since MewCode was loaded; ask without --fix")
        return error_block(cell, self._settings)

    def _session_before(self) -> SessionInfo | None:
        """Return the project's latest session in which something was asked and that nobody has open."""
        with contextlib.suppress(MewCodeError):  # what is wrong with another session must not cost the answer
            return next((info for info in free_sessions(self._sessions) if info.title), None)
        return None
