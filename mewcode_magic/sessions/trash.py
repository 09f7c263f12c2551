"""Deleted and long inactive sessions: moved aside, and removed for good after a while.

A file in the trash is as old as its deletion.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from mewcode_magic.errors import SessionInUse
from mewcode_magic.files import private_folder, storage_errors
from mewcode_magic.sessions.glance import is_sound
from mewcode_magic.sessions.listing import facts_of, session_file
from mewcode_magic.sessions.meta import SessionInfo
from mewcode_magic.sessions.record_file import lock_session

__all__ = ["empty_trash", "move_inactive", "move_to_trash"]

_TRASH = ".trash"


def move_to_trash(path: Path) -> None:
    """Move a session's files to the trash; the caller has its lock.

    Raises:
        StorageError: they cannot be moved.
    """
    trash = private_folder(path.parent / _TRASH)
    # The JSONL last: until it is gone the session is there.
    for file in (path.with_suffix(".meta"), path):
        with storage_errors("move to the trash", file):
            if file.is_symlink() or not file.exists():
                continue
            os.utime(file)
            file.replace(trash / file.name)
    path.with_suffix(".lock").unlink(missing_ok=True)


def move_inactive(infos: Iterable[SessionInfo], since: float) -> list[str]:
    """Move the sessions of a list in which nothing was said `since` then, in Unix seconds; return their ids.

    `infos`: the latest first. The latest of each notebook stays, and what is open, or whose end is damaged,
    or tells no time.

    Raises:
        StorageError: one cannot be read or moved.
    """
    infos = list(infos)
    latest = {info.notebook: info.id for info in reversed(infos) if info.notebook}
    return [
        info.id
        for info in infos
        if (info.notebook is None or latest[info.notebook] != info.id) and _move_if_inactive(info.path, since)
    ]


def empty_trash(folder: Path, before: float) -> tuple[set[str], set[str]]:
    """Remove what was moved to the trash of a sessions folder before then, in Unix seconds.

    Returns the ids of the sessions that were removed, and of those that are left.

    Raises:
        StorageError: something cannot be removed.
    """
    trash = folder / _TRASH
    removed: set[Path] = set()
    left: set[Path] = set()
    with storage_errors("empty", trash):
        try:
            with os.scandir(trash) as found:
                entries = [entry for entry in found if entry.is_file(follow_symlinks=False)]
        except FileNotFoundError:
            return set(), set()
        for entry in entries:
            path = Path(entry.path)
            if entry.stat(follow_symlinks=False).st_mtime < before:
                path.unlink(missing_ok=True)
                removed.add(path)
            else:
                left.add(path)
    return _ids(removed), _ids(left)


def _ids(files: Iterable[Path]) -> set[str]:
    return {file.stem for file in files if file.suffix == ".jsonl"}


def _move_if_inactive(path: Path, since: float) -> bool:
    """Move one session to the trash, unless it is open; tell whether."""
    if not _is_inactive(path, since):
        return False
    try:
        lock = lock_session(path)
    except SessionInUse:
        return False
    try:
        inactive = _is_inactive(path, since)  # somebody may have been here before the lock was had
        if inactive:
            move_to_trash(path)
        return inactive
    finally:
        lock.release()


def _is_inactive(path: Path, since: float) -> bool:
    file = session_file(path.parent, path.stem)
    if file is None:
        return False
    facts = facts_of(file, cached=False)
    if facts.last_active is None or max(facts.last_active, facts.imported or 0.0) >= since:
        return False
    with storage_errors("read", path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return is_sound(descriptor, file.stat.st_size)
        finally:
            os.close(descriptor)
