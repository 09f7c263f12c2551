"""What answers: Claude over the Messages API, the offline answers, or a script.

An extension that loads does not import this package; the SDK is imported with the first request.
"""

from __future__ import annotations

import threading

from mewcode_magic.config import MewCode
from mewcode_magic.model.connection import Connection
from mewcode_magic.model.models import Models
from mewcode_magic.model.names import DEFAULT_MODEL, OFFLINE, SIDE_MODEL, window_of
from mewcode_magic.model.scripted import Scripted, ScriptedReply

__all__ = [
    "DEFAULT_MODEL",
    "OFFLINE",
    "SIDE_MODEL",
    "Models",
    "Scripted",
    "ScriptedReply",
    "describe_connection",
    "warm_up",
    "window_of",
]


def describe_connection() -> str:
    """Return one line on where the key comes from (never the key) and which server is asked."""
    return str(Connection.from_environment())


def warm_up(busy: threading.Event, *, settings: MewCode | None = None) -> threading.Thread | None:
    """Import in the background what the chosen model needs; return the thread, or None if nothing is needed.

    The caller sets `busy` while a cell runs; the work is easy on it meanwhile.
    """
    name = (settings or MewCode()).model.strip()
    if name == OFFLINE or not Connection.from_environment().is_set:
        return None
    from mewcode_magic.model.warm import warm

    return warm(busy)
