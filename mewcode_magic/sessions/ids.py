"""A session's id, which is its file's name: making one, telling one, finding the one that is meant."""

from __future__ import annotations

import os
import string
import time
from collections.abc import Container, Iterable
from pathlib import Path

from mewcode_magic.errors import SessionAmbiguous, SessionNotFound
from mewcode_magic.files import shown
from mewcode_magic.sessions.records import Dialect

__all__ = ["ENDING", "find_id", "free_path", "is_id", "no_session"]

ENDING = ".jsonl"
"""What a session's file is named after its id."""
MAX_NAME = 200
"""Bytes of a session's id; with an ending it is still a name that file systems take."""
_SHOWN = 60
"""Characters of what was asked for that a message repeats."""
_NAMED = 5
"""Sessions that a message names."""


def free_path(folder: Path, dialect: Dialect, taken: Container[str]) -> Path:
    """Return where a new session goes: a file that is not there yet, of an id that is not `taken`."""
    while True:
        session_id = _new_id(dialect)
        path = folder / f"{session_id}{ENDING}"
        if session_id not in taken and not os.path.lexists(path):
            return path


def _new_id(dialect: Dialect) -> str:
    """Return an id: the local time, and a few characters against two at once."""
    if dialect == "role":
        return f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"
    letters = string.ascii_lowercase + string.digits
    tail = "".join(letters[byte % len(letters)] for byte in os.urandom(4))
    return f"session_{time.strftime('%Y%m%d_%H%M%S')}_{tail}"


def is_id(name: str) -> bool:
    """Tell a name that a session can have: one part of a path, not hidden, not too long."""
    if not name or name[0] == "." or "/" in name or "\0" in name or os.sep in name:
        return False
    try:
        return len(name.encode()) <= MAX_NAME
    except UnicodeEncodeError:  # half of a surrogate pair, or a file name that is no UTF-8
        return False


def find_id(text: str, ids: Iterable[str], folder: Path) -> str:
    """Return the id among those of a folder that `text` names: an id, or the beginning of exactly one.

    Raises:
        SessionNotFound: there is none; the message names some that are near.
        SessionAmbiguous: there are several.
    """
    ids = sorted(ids, reverse=True)
    if text in ids:
        return text
    found = [name for name in ids if text and name.startswith(text)]
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise SessionAmbiguous(f"{len(found)} sessions begin with {_short(text)}: {some}; name one in full")
    from difflib import get_close_matches

    raise no_session(text, folder, near=get_close_matches(text[:100], ids, cutoff=0.5))


def no_session(text: str, folder: Path, *, near: Iterable[str] = ()) -> SessionNotFound:
    """Return the error that tells of a session that is not in a folder, and of those whose ids are `near`."""
    names = ", ".join(near)
    hint = f"; near it: {names}" if names else ""
    return SessionNotFound(
        f"there is no session {_short(text)} in {shown(folder)}{hint}; %sessions lists them"
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
