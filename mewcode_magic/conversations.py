"""The conversations of a shell: which one is open, and going from one to another."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mewcode_magic.config import MewCode
from mewcode_magic.context import notices_of_resume
from mewcode_magic.conversation import Conversation
from mewcode_magic.errors import SessionNotFound
from mewcode_magic.files import shown
from mewcode_magic.kernel.place import Place, place_of
from mewcode_magic.memory import MemoryStore
from mewcode_magic.recorded import RecordedTurns
from mewcode_magic.sessions import Resumed, Session, SessionInfo, SessionStore, free_sessions

__all__ = ["Conversations"]


class Conversations:
    """One of them is open at a time, begun when it is first needed. No turn may run while one is left."""

    def __init__(
        self, sessions: SessionStore, memory: MemoryStore, settings: MewCode, *, home: Path, shell: Any = None
    ) -> None:
        self._sessions, self._memory, self._settings = sessions, memory, settings
        self._project, self._home, self._shell = sessions.project, home, shell
        self._open: Conversation | None = None
        self._recorded: dict[str, RecordedTurns] = {}
        """Of each session that was open here, by id, the turns of earlier kernels."""

    @property
    def current(self) -> Conversation:
        """The open one."""
        if self._open is None:
            session = self._sessions.create(notebook=self.place.notebook)
            self._recorded[session.id] = RecordedTurns(self._sessions)
            self._open = self._over(session)
        return self._open

    @property
    def recorded(self) -> RecordedTurns:
        """What earlier kernels recorded of the open one."""
        return self._recorded[self.current.session.id]

    @property
    def place(self) -> Place:
        """Where what runs in the shell now stands."""
        return place_of(self._shell, self._project)

    def begin(self) -> Session:
        """Leave the open one and begin another.

        Raises:
            StorageError: a record could not be written; the session stays open and keeps it.
        """
        self._save()
        self.leave()
        return self.current.session

    def go_on(self, session_id: str, *, fork: bool) -> Resumed:
        """Leave the open one and go on with an earlier session, or with a copy of it.

        Raises:
            SessionNotFound: there is none of this id.
            SessionInUse: it is open in another process and `fork` is not set.
            StorageError: it cannot be read, or a record of the open session could not be written; that one
                stays open and keeps it.
        """
        self._save()
        if session_id == self._open_id and not fork:
            self.leave()
        resumed = self._sessions.fork(session_id) if fork else self._sessions.resume(session_id)
        self.leave()
        recorded = self._recorded.get(session_id) or RecordedTurns(self._sessions)
        recorded = recorded.copy() if fork else recorded
        recorded.open(resumed)
        self._recorded[resumed.session.id] = recorded
        bound = [name for m in resumed.messages for names in m.variables.values() for name in names]
        self._open = self._over(resumed.session, notices_of_resume(resumed), bound)
        return resumed

    def leave(self) -> None:
        """Close the open one, if there is one.

        Raises:
            StorageError: a record could not be written and is lost; the session is closed nevertheless.
        """
        conversation, self._open = self._open, None
        if conversation is not None:
            self._recorded[conversation.session.id].close()
            conversation.session.close()

    def latest(self) -> SessionInfo:
        """Return this notebook's latest session, else the project's, that nobody has open.

        Raises:
            SessionNotFound: there is none.
            StorageError: the sessions cannot be read.
        """
        opened = self._open_id
        for info in free_sessions(self._sessions, but=opened, first_of=self.place.notebook):
            return info
        folder = shown(self._sessions.folder)
        if any(info.id != opened for info in self._sessions.list()):
            raise SessionNotFound(
                f"every session in {folder} is open elsewhere; %resume ID --fork copies one"
            )
        if self._open is not None and self._open.session.messages:
            raise SessionNotFound(f"the open session is the only one in {folder}; %%agent goes on with it")
        raise SessionNotFound(f"no session to resume in {folder}; %%agent begins one")

    def _save(self) -> None:
        """Write what waits, before another session takes the place of the open one."""
        if self._open is not None:
            self._open.session.end_turn()

    @property
    def _open_id(self) -> str | None:
        return None if self._open is None else self._open.session.id

    def _over(self, session: Session, notices: Iterable[str] = (), bound: Iterable[str] = ()) -> Conversation:
        return Conversation(
            session,
            project=self._project,
            home=self._home,
            memory=self._memory,
            settings=self._settings,
            shell=self._shell,
            notices=notices,
            bound=bound,
        )
