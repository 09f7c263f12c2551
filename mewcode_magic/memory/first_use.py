"""Which projects MewCode was used in: `<home>/projects.json`, an object of project folder to first use."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from mewcode_magic.errors import StorageError
from mewcode_magic.files import Lock, private_folder, read_text, write_atomic

__all__ = ["first_use"]

FILE_NAME = "projects.json"

LOCK_SECONDS = 1.0
"""A prompt does not wait longer for this."""


def first_use(home: Path, project: Path) -> bool:
    """Return whether `project` is used for the first time, and remember that it was.

    True exactly once for a project; where it cannot be remembered, True each time. It never raises.
    """
    path = home / FILE_NAME
    key = os.fsencode(os.path.realpath(project)).decode("utf-8", errors="replace")
    if key in _projects(path):
        return False
    try:
        private_folder(home)
        lock = Lock(home / "projects.lock")
        if not lock.acquire(timeout=LOCK_SECONDS):
            return True
        try:
            projects = _projects(path)
            if key in projects:
                return False
            projects[key] = datetime.now(UTC).isoformat(timespec="seconds")
            write_atomic(path, json.dumps(projects, ensure_ascii=False, indent=2) + "\n")
        finally:
            lock.release()
    except StorageError:
        return True
    return True


def _projects(path: Path) -> dict[str, str]:
    """Return what the file holds; nothing if it is missing, unreadable or broken."""
    try:
        found = json.loads(read_text(path)[0])
    except (StorageError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
