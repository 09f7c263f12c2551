"""What answers: Claude over the Messages API, the offline answers, or a script."""

from __future__ import annotations

import threading

from mewcode_magic.config import MewCode
from mewcode_magic.events import Model
from mewcode_magic.model.claude import DEFAULT_MODEL, Claude
from mewcode_magic.model.connection import Connection
from mewcode_magic.model.offline import Offline
from mewcode_magic.model.scripted import Scripted, ScriptedReply

__all__ = [
    "DEFAULT_MODEL",
    "OFFLINE",
    "Claude",
    "Offline",
    "Scripted",
    "ScriptedReply",
    "choose_model",
    "describe_connection",
    "warm_up",
]

OFFLINE = Offline.name
"""The name that asks for the offline answers."""


def choose_model(name: str = "", *, settings: MewCode | None = None) -> Model:
    """Return the model of that name; "" means the setting `model`.

    Where that is empty too, it is `DEFAULT_MODEL` if the environment has a key or a server, else the
    offline answers. Nothing is imported or connected yet.
    """
    name = _model_name(name, settings)
    return Offline() if name == OFFLINE else Claude(name)


def describe_connection() -> str:
    """Return one line on where the key comes from (never the key) and which server is asked."""
    return str(Connection.from_environment())


def warm_up(busy: threading.Event, *, settings: MewCode | None = None) -> threading.Thread | None:
    """Import in the background what the chosen model needs; return the thread that does it.

    None: there is nothing to do, for the offline answers, or because it is imported. The caller sets `busy`
    while a cell runs; the work stands still meanwhile.
    """
    if _model_name("", settings) == OFFLINE or not Connection.from_environment().is_set:
        return None
    from mewcode_magic.model.warm import warm

    return warm(busy)


def _model_name(name: str, settings: MewCode | None) -> str:
    chosen = (name or (settings or MewCode()).model).strip()
    return chosen or (DEFAULT_MODEL if Connection.from_environment().is_set else OFFLINE)
