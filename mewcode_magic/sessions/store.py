"""The sessions of a project: begin, list, read, resume, copy, rename, delete, and clean up.

::

    <project>/.mewcode/sessions/ID.jsonl     one session; ID is YYYYMMDD-HHMMSS-xxxx, four hex digits, local
                                             time, or session_YYYYMMDD_HHMMSS_xxxx in the typed dialect
    <project>/.mewcode/sessions/ID.meta      a cache of what the list shows of it
    <project>/.mewcode/sessions/ID.lock      held, and names its holder, while the session is open
    <project>/.mewcode/sessions/.search.sqlite  a cache of which words were said where
    <project>/.mewcode/sessions/.trash/      deleted ones, as old as their deletion
    <project>/.mewcode/session/tool-results/ID/  results that were too long for the conversation
"""

from __future__ import annotations

import builtins
import contextlib
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SessionInUse, StorageError
from mewcode_magic.files import Lock, storage_errors
from mewcode_magic.messages import Message
from mewcode_magic.sessions.copying import copy_session, remove_copy
from mewcode_magic.sessions.facts import Facts, one_line, survey
from mewcode_magic.sessions.found import Found
from mewcode_magic.sessions.history import History, Resumed, read_history
from mewcode_magic.sessions.ids import find_id, free_path, no_session
from mewcode_magic.sessions.listing import (
    SessionFile,
    facts_of,
    list_sessions,
    session_file,
    session_files,
)
from mewcode_magic.sessions.meta import SessionInfo, info_of, write_meta
from mewcode_magic.sessions.record_file import is_locked, lock_session
from mewcode_magic.sessions.records import Dialect
from mewcode_magic.sessions.replay import Replay, read_conversation
from mewcode_magic.sessions.result_files import remove_results
from mewcode_magic.sessions.session import Session
from mewcode_magic.sessions.trash import empty_trash, move_inactive, move_to_trash

__all__ = ["SessionStore"]

_DAY = 86_400
_FORK = " (fork)"


class SessionStore:
    """The sessions of the project in `project_dir`; `settings` None takes the defaults and the environment.

    Settings are read when they are needed, so that `%config` takes effect.
    """

    def __init__(self, project_dir: Path | str, *, settings: MewCode | None = None) -> None:
        self.project = Path(project_dir).absolute()
        self.folder = self.project / ".mewcode" / "sessions"
        self._settings = settings or MewCode()
        self._sessions: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
        """Those opened here, as long as somebody has them."""

    # -- all sessions ----------------------------------------------------------------------------------

    def list(self) -> builtins.list[SessionInfo]:
        """Return all sessions, the one that was active last first.

        Of a session without a `.meta` that is up to date only the ends are read; its counts are None then.

        Raises:
            StorageError: the folder cannot be read.
        """
        return list_sessions(self.folder)

    def fill_counts(self, infos: Iterable[SessionInfo] | None = None) -> int:
        """Rebuild the `.meta` of the sessions whose counts are unknown; return how many were.

        `infos`: those to look at, None for all. It reads whole files, so it is something for a background
        thread. What cannot be read or written is left as it is.

        Raises:
            StorageError: the folder cannot be read.
        """
        count = 0
        for info in self.list() if infos is None else infos:
            if info.messages is not None:
                continue
            with contextlib.suppress(OSError, StorageError):
                stat = info.path.lstat()
                write_meta(info.path.with_suffix(".meta"), info.id, survey(info.path), stat)
                count += 1
        return count

    def find(self, text: str) -> str:
        """Return the id that `text` names: an id, or the beginning of exactly one.

        Raises:
            SessionNotFound: there is none; the message names some that are near.
            SessionAmbiguous: there are several.
            StorageError: the folder cannot be read.
        """
        return find_id(text, (file.id for file in session_files(self.folder)), self.folder)

    def recent_ids(self) -> builtins.list[str]:
        """Return the ids of all sessions, the one that was written last first; no file is opened.

        Raises:
            StorageError: the folder cannot be read.
        """
        files = sorted(session_files(self.folder), key=lambda file: file.stat.st_mtime_ns, reverse=True)
        return [file.id for file in files]

    def search(
        self, text: str, *, limit: int = 20, tell: Callable[[str], object] | None = None
    ) -> builtins.list[Found]:
        """Return at most `limit` sessions in which words of `text` were said, the best first.

        Those that hold all the words; if there are none, those that hold some. The words are data, nothing
        in them is an operator. The first search reads all files and leaves an index beside them, which later
        ones bring up to date. `tell` is called with one line if it cannot be used.

        Raises:
            StorageError: the folder cannot be read.
            SessionError: this Python's SQLite was built without FTS5.
        """
        from mewcode_magic.sessions.search import search_sessions  # it needs SQLite

        return search_sessions(self.folder, text, limit=limit, tell=tell)

    def cleanup(self, max_age_days: float | None = None) -> builtins.list[str]:
        """Move the sessions that were inactive for `max_age_days` to the trash, and return their ids.

        None takes `MewCode.session_max_age_days`; 0 does nothing. Open and damaged sessions stay, and the
        latest one of each notebook. What was in the trash for `MewCode.trash_days` is removed, with the
        results that it kept in files. Only the ends of files are read.

        Raises:
            StorageError: something cannot be read, moved or removed.
        """
        days = self._settings.session_max_age_days if max_age_days is None else max_age_days
        now = time.time()
        moved = move_inactive(self.list(), now - days * _DAY) if days > 0 else []
        long_ago = now - self._settings.trash_days * _DAY
        removed, left = empty_trash(self.folder, long_ago)
        known = {file.id for file in session_files(self.folder)} | left
        remove_results(self.project, known=known, gone=removed, before=long_ago)
        return moved

    # -- one session -----------------------------------------------------------------------------------

    def create(self, *, notebook: str | None = None) -> Session:
        """Begin a session; its file, and the folders above it, are made with its first record."""
        facts = Facts(self.dialect, notebook=one_line(notebook or "") or None)
        return self._opened(
            Session(free_path(self.folder, self.dialect, self._sessions), self.project, facts)
        )

    @property
    def dialect(self) -> Dialect:
        """The dialect of new sessions: the setting's."""
        return "typed" if self._settings.session_dialect == "typed" else "role"

    def info(self, session_id: str) -> SessionInfo:
        """Return what the list shows of one session.

        Raises:
            SessionNotFound: there is none of this id.
            StorageError: it cannot be read.
        """
        file = self._existing(session_id)
        return info_of(file.id, Path(file.path), facts_of(file))

    def read(self, session_id: str) -> History:
        """Return what resuming a session would replay; needs no lock.

        Raises:
            SessionNotFound: there is none of this id.
            StorageError: it cannot be read.
        """
        history, _ = read_history(self._existing(session_id), gap_hours=self._settings.time_gap_hours)
        return history

    def transcript(self, session_id: str) -> builtins.list[Message]:
        """Return all that was said in a session, also before it was compacted; needs no lock.

        Raises:
            SessionNotFound: there is none of this id.
            StorageError: it cannot be read.
        """
        path = Path(self._existing(session_id).path)
        with storage_errors("read", path):
            return read_conversation(path).messages

    def resume(self, session_id: str) -> Resumed:
        """Open a session to go on with it, in the dialect that it has.

        Raises:
            SessionNotFound: there is none of this id.
            SessionInUse: it is open already.
            StorageError: it cannot be read or written.
        """
        path = Path(self._existing(session_id).path)
        lock = lock_session(path)
        try:
            return self._resume(session_id, lock)
        except BaseException:
            lock.release()
            raise

    def fork(self, session_id: str) -> Resumed:
        """Copy a session under a new id and open the copy; the original may be open elsewhere.

        Results that it keeps in files are copied too, and the copy names its own.

        Raises:
            SessionNotFound: there is none of this id.
            StorageError: it cannot be read, or the copy not be written.
        """
        file = self._existing(session_id)
        source = Path(file.path)
        facts = facts_of(file)
        path = free_path(self.folder, facts.dialect, self._sessions)
        lock = lock_session(path)
        try:
            with storage_errors("copy", source):
                copy_session(source, path, self.project)
                title = survey(source).title if facts.messages is None else facts.title
            resumed = self._resume(path.stem, lock)
            if title:
                resumed.session.rename(title.removesuffix(_FORK) + _FORK)
        except BaseException:
            remove_copy(path, self.project)
            lock.release()
            raise
        return resumed

    def rename(self, session_id: str, title: str) -> None:
        """Give a session a title, of at most 200 characters in one line; it stands in the session's file.

        Raises:
            SessionNotFound: there is none of this id.
            SessionInUse: it is open elsewhere.
            SessionError: the title is blank.
            StorageError: it cannot be written.
        """
        with self._for_a_marker(session_id) as session:
            session.rename(title)

    def summarize(self, session_id: str, summary: str) -> None:
        """Record one line, of at most 400 characters, on what a session was about.

        Raises:
            SessionNotFound: there is none of this id.
            SessionInUse: it is open elsewhere.
            SessionError: the line is blank.
            StorageError: it cannot be written.
        """
        with self._for_a_marker(session_id) as session:
            session.summarize(summary)

    def delete(self, session_id: str) -> None:
        """Move a session to the trash; `cleanup` removes it for good after `MewCode.trash_days`.

        Raises:
            SessionNotFound: there is none of this id.
            SessionInUse: it is open, here or elsewhere.
            StorageError: it cannot be moved.
        """
        path = Path(self._existing(session_id).path)
        if self._open_here(session_id) is not None:
            raise SessionInUse(f"session {session_id} is the one that is open here; %sessions new leaves it")
        lock = lock_session(path)
        try:
            move_to_trash(path)
        finally:
            lock.release()

    def is_open_elsewhere(self, session_id: str) -> bool:
        """Tell whether a session is open in another process, or through another store of this one.

        Raises:
            SessionNotFound: there is none of this id.
            StorageError: its lock file cannot be opened.
        """
        path = Path(self._existing(session_id).path)
        return self._open_here(session_id) is None and is_locked(path)

    @contextlib.contextmanager
    def _for_a_marker(self, session_id: str) -> Iterator[Session]:
        """Yield a session without its messages: the open one, else one that is opened as long as it takes."""
        path = Path(self._existing(session_id).path)
        if (session := self._open_here(session_id)) is not None:
            yield session
            return
        lock = lock_session(path)
        try:
            file = self._existing(session_id)
            facts = facts_of(file)
            with storage_errors("read", path):
                replay = Replay.unread(facts.dialect, path)
            session = Session.resumed(path, self.project, facts, lock=lock, replay=replay, messages=[])
        except BaseException:
            lock.release()
            raise
        with contextlib.closing(session):
            yield session

    # -- within ----------------------------------------------------------------------------------------

    def _resume(self, session_id: str, lock: Lock) -> Resumed:
        """Open a session whose lock is held."""
        file = self._existing(session_id)  # it may have been deleted before the lock was had
        history, replay = read_history(file, gap_hours=self._settings.time_gap_hours)
        session = Session.resumed(
            Path(file.path),
            self.project,
            facts_of(file),
            lock=lock,
            replay=replay,
            messages=list(history.messages),
        )
        self._opened(session)
        return Resumed(history.messages, history.report, history.last_active, session)

    def _opened(self, session: Session) -> Session:
        self._sessions[session.id] = session
        return session

    def _open_here(self, session_id: str) -> Session | None:
        session = self._sessions.get(session_id)
        return None if session is None or session.closed else session

    def _existing(self, session_id: str) -> SessionFile:
        file = session_file(self.folder, session_id)
        if file is None:
            raise no_session(session_id, self.folder)
        return file
