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
import os
import shutil
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SessionAmbiguous, SessionInUse, SessionNotFound, StorageError
from mewcode_magic.files import Lock, shown, storage_errors
from mewcode_magic.messages import Message
from mewcode_magic.sessions.facts import Facts, moment, one_line, survey
from mewcode_magic.sessions.found import Found
from mewcode_magic.sessions.history import History, Resumed, ResumeReport
from mewcode_magic.sessions.listing import (
    SessionFile,
    facts_of,
    free_path,
    list_sessions,
    session_file,
    session_files,
)
from mewcode_magic.sessions.meta import SessionInfo, info_of, write_meta
from mewcode_magic.sessions.record_file import lock_session
from mewcode_magic.sessions.records import Dialect
from mewcode_magic.sessions.replay import Replay, collection_paused, read_conversation, read_replay
from mewcode_magic.sessions.result_files import RESULTS, copy_results, remove_results, results_folder
from mewcode_magic.sessions.session import Session
from mewcode_magic.sessions.trash import empty_trash, move_if_inactive, move_to_trash

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
        ids = sorted((file.id for file in session_files(self.folder)), reverse=True)
        if text in ids:
            return text
        found = [name for name in ids if text and name.startswith(text)]
        if len(found) == 1:
            return found[0]
        if found:
            some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")  # noqa: PLR2004
            raise SessionAmbiguous(
                f"{len(found)} sessions begin with {_short(text)}: {some}; name one in full"
            )
        from difflib import get_close_matches

        raise self._not_found(text, get_close_matches(text[:100], ids, cutoff=0.5))

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
        infos = self.list() if days > 0 else []
        latest = {info.notebook: info.id for info in reversed(infos) if info.notebook}
        moved = [
            info.id
            for info in infos
            if (info.notebook is None or latest[info.notebook] != info.id)
            and move_if_inactive(info.path, now - days * _DAY)
        ]
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
        history, _ = self._load(self._existing(session_id))
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
                _copy(source, path, renames=copy_results(self.project, source.stem, path.stem))
                title = survey(source).title if facts.messages is None else facts.title
            resumed = self._resume(path.stem, lock)
            if title:
                resumed.session.rename(title.removesuffix(_FORK) + _FORK)
        except BaseException:
            for made in (path, path.with_suffix(".meta"), lock.path):
                made.unlink(missing_ok=True)
            shutil.rmtree(results_folder(self.project, path.stem), ignore_errors=True)
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
        lock = Lock(Path(self._existing(session_id).path).with_suffix(".lock"))
        if self._open_here(session_id) is not None or not lock.path.exists():
            return False
        free = lock.acquire()
        lock.release()
        return not free

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

    def _load(self, file: SessionFile) -> tuple[History, Replay]:
        """Return what a session replays, and the state of its file."""
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
            gap=gap if gap > timedelta(hours=self._settings.time_gap_hours) else None,
            boundary=replay.boundary,
        )
        return History(messages, report, last_active), replay

    def _resume(self, session_id: str, lock: Lock) -> Resumed:
        """Open a session whose lock is held."""
        file = self._existing(session_id)  # it may have been deleted before the lock was had
        history, replay = self._load(file)
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
            raise self._not_found(session_id, [])
        return file

    def _not_found(self, text: str, near: builtins.list[str]) -> SessionNotFound:
        hint = f"; near it: {', '.join(near)}" if near else ""
        return SessionNotFound(
            f"there is no session {_short(text)} in {shown(self.folder)}{hint}; %sessions lists them"
        )


def _copy(source: Path, target: Path, *, renames: bool) -> None:
    """Copy a session's file; if it `renames`, what names the one's kept results names the other's."""
    with source.open("rb") as reader:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as writer:
            if renames:
                old, new = (orjson.dumps(f"{RESULTS.name}/{path.stem}/")[1:-1] for path in (source, target))
                writer.writelines(line.replace(old, new) for line in reader)
            else:
                shutil.copyfileobj(reader, writer, 1 << 20)
            writer.flush()
            os.fsync(writer.fileno())


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")  # noqa: PLR2004
