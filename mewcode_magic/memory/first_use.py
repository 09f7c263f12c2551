"""What this home knows of projects: `<home>/projects.json`, an object of project folder to what is known.

::

    {"/home/me/sales": {"first_use": "2026-11-29T10:00:00+00:00", "memories": ["fiscal-year", "crm"]}}

`memories` are the slugs of those in the project's folder that this home wrote, or that the user was told of:
all others came from elsewhere, with a cloned repository or a pull. Older files have the time alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from mewcode_magic.errors import StorageError
from mewcode_magic.files import Lock, private_folder, read_text, write_atomic

__all__ = ["first_use", "unknown_memories"]

FILE_NAME = "projects.json"

LOCK_SECONDS = 1.0
"""A prompt does not wait longer for this."""

Known: TypeAlias = dict[str, object]


def first_use(home: Path, project: Path) -> bool:
    """Return whether `project` is used for the first time, and remember that it was.

    True exactly once for a project; where it cannot be remembered, True each time. It never raises.
    """
    if "first_use" in _known(home, project):
        return False
    return _remember(home, project, first_use=datetime.now(UTC).isoformat(timespec="seconds"))


def unknown_memories(home: Path, project: Path, slugs: Iterable[str]) -> set[str]:
    """Return those of a project's memories that this home does not know yet, and remember all of them.

    Whoever writes one makes it known by this too. Where it cannot be remembered, they are returned each time.
    It never raises.
    """
    known = _slugs(_known(home, project))
    unknown = {slug for slug in slugs if _utf8(slug) not in known}
    return unknown if unknown and _remember(home, project, memories=unknown) else set()


def _remember(home: Path, project: Path, *, first_use: str = "", memories: Iterable[str] = ()) -> bool:
    """Add to what is known of a project; return whether that was new, or could not be remembered."""
    path, key = home / FILE_NAME, _key(project)
    try:
        private_folder(home)
        lock = Lock(home / "projects.lock")
        if not lock.acquire(timeout=LOCK_SECONDS):
            return True
        try:
            projects = _projects(path)
            known = _entry(projects.get(key))
            new = dict(known)
            if first_use:
                new.setdefault("first_use", first_use)
            if slugs := _slugs(known) | set(map(_utf8, memories)):
                new["memories"] = sorted(slugs)
            if new == known:
                return False
            projects[key] = new
            write_atomic(path, json.dumps(projects, ensure_ascii=False, indent=2) + "\n")
        finally:
            lock.release()
    except StorageError:
        return True
    return True


def _known(home: Path, project: Path) -> Known:
    return _entry(_projects(home / FILE_NAME).get(_key(project)))


def _entry(value: object) -> Known:
    """Return what is known of a project; older files have the time of first use alone."""
    if isinstance(value, str):
        return {"first_use": value}
    return value if isinstance(value, dict) else {}


def _slugs(known: Known) -> set[str]:
    slugs = known.get("memories")
    return {slug for slug in slugs if isinstance(slug, str)} if isinstance(slugs, list) else set()


def _key(project: Path) -> str:
    return os.fsencode(os.path.realpath(project)).decode("utf-8", errors="replace")


def _utf8(slug: str) -> str:
    """Return a slug as it can be written: a file name may hold bytes that are not UTF-8."""
    return slug.encode("utf-8", errors="replace").decode("utf-8")


def _projects(path: Path) -> dict[str, object]:
    """Return what the file holds; nothing if it is missing, unreadable or broken."""
    try:
        found = json.loads(read_text(path)[0])
    except (StorageError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
