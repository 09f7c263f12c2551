"""The files of the sessions in a folder, and what the list shows of each without reading them whole."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from mewcode_magic.files import storage_errors
from mewcode_magic.sessions.facts import Facts
from mewcode_magic.sessions.glance import glance
from mewcode_magic.sessions.ids import ENDING, is_id
from mewcode_magic.sessions.meta import SessionInfo, info_of, read_meta
from mewcode_magic.sessions.records import dialect_of_id

__all__ = ["SessionFile", "facts_of", "list_sessions", "session_file", "session_files"]

_META = ".meta"


class SessionFile(NamedTuple):
    """One session's JSONL. `has_meta`: a `.meta` stands beside it."""

    id: str
    path: str
    stat: os.stat_result
    has_meta: bool


def session_files(folder: Path) -> list[SessionFile]:
    """Return the session files of a folder, in no order; links and folders are none.

    Raises:
        StorageError: the folder cannot be read.
    """
    entries: list[os.DirEntry[str]] = []
    metas: set[str] = set()
    with storage_errors("read the folder", folder):
        try:
            with os.scandir(folder) as found:
                for entry in found:
                    if entry.name.endswith(ENDING):
                        entries.append(entry)
                    elif entry.name.endswith(_META):
                        metas.add(entry.name[: -len(_META)])
        except FileNotFoundError:
            return []
    files: list[SessionFile] = []
    for entry in entries:
        name = entry.name[: -len(ENDING)]
        try:
            stat = entry.stat(follow_symlinks=False)
        except OSError:  # gone by now
            continue
        if S_ISREG(stat.st_mode) and is_id(name):
            files.append(SessionFile(name, entry.path, stat, name in metas))
    return files


def session_file(folder: Path, session_id: str) -> SessionFile | None:
    """Return the file of the session with this id, or None; whatever the id is, it is never one elsewhere.

    Raises:
        StorageError: the folder cannot be read.
    """
    if not is_id(session_id):
        return None
    path = folder / f"{session_id}{ENDING}"
    with storage_errors("read", path):
        try:
            stat = path.lstat()
        except FileNotFoundError:
            return None
    return SessionFile(session_id, str(path), stat, has_meta=True) if S_ISREG(stat.st_mode) else None


def facts_of(file: SessionFile, *, cached: bool = True) -> Facts:
    """Return what is known of a session from its `.meta`, if that is up to date, else from the file's ends.

    `cached`: a `.meta` may be used. Of a file that cannot be read nothing is known.
    """
    if (
        cached
        and file.has_meta
        and (facts := read_meta(file.path[: -len(ENDING)] + _META, file.id, file.stat))
    ):
        return facts
    try:
        descriptor = os.open(file.path, os.O_RDONLY)
    except OSError:
        return Facts(dialect_of_id(file.id), messages=None, tokens=None, usage=None)
    try:
        return glance(descriptor, file.stat.st_size, file.id)
    except OSError:
        return Facts(dialect_of_id(file.id), messages=None, tokens=None, usage=None)
    finally:
        os.close(descriptor)


def list_sessions(folder: Path) -> list[SessionInfo]:
    """Return the sessions of a folder, the one that was active last first.

    Raises:
        StorageError: the folder cannot be read.
    """
    known = [(file, facts_of(file)) for file in session_files(folder)]
    # Records have whole seconds; within one the file's time tells which was written later.
    known.sort(
        key=lambda pair: (int(pair[1].last_active or 0), pair[0].stat.st_mtime_ns, pair[0].id), reverse=True
    )
    return [info_of(file.id, folder / f"{file.id}{ENDING}", facts) for file, facts in known]
