"""What answers: Claude over the Messages API, the offline answers, or a script.

The models are imported when they are chosen: an extension that loads should not wait for them.
"""

from __future__ import annotations

import threading

from mewcode_magic.config import MewCode
from mewcode_magic.events import Model
from mewcode_magic.model.names import DEFAULT_MODEL, OFFLINE, SIDE_MODEL
from mewcode_magic.model.scripted import Scripted, ScriptedReply

__all__ = [
    "DEFAULT_MODEL",
    "OFFLINE",
    "SIDE_MODEL",
    "Scripted",
    "ScriptedReply",
    "choose_model",
    "choose_side_model",
    "describe_connection",
    "warm_up",
]


def choose_model(name: str = "", *, settings: MewCode | None = None) -> Model:
    """Return the model of that name; "" means the setting `model`.

    Where that is empty too, it is `DEFAULT_MODEL` if the environment has a key or a server, else the
    offline answers. Nothing is connected yet, and the SDK not imported.
    """
    name = _model_name(name, settings)
    if name == OFFLINE:
        from mewcode_magic.model.offline import Offline

        return Offline()
    from mewcode_magic.model.claude import Claude

    return Claude(name)


def choose_side_model(main: Model, *, settings: MewCode) -> Model:
    """Return the model that answers the program's own questions beside a conversation with `main`.

    That is the setting `side_model`; where it is empty, `SIDE_MODEL` beside a Claude at Anthropic's own
    address, else `main` itself, which is the only one known to be there.
    """
    from mewcode_magic.model.claude import Claude
    from mewcode_magic.model.connection import Connection

    if not isinstance(main, Claude):
        return main
    if name := settings.side_model.strip():
        return choose_model(name, settings=settings)
    return main if Connection.from_environment().is_elsewhere else Claude(SIDE_MODEL)


def describe_connection() -> str:
    """Return one line on where the key comes from (never the key) and which server is asked."""
    from mewcode_magic.model.connection import Connection

    return str(Connection.from_environment())


def warm_up(busy: threading.Event, *, settings: MewCode | None = None) -> threading.Thread | None:
    """Import in the background what the chosen model needs; return the thread, or None if nothing is needed.

    The caller sets `busy` while a cell runs; the work stands still meanwhile.
    """
    if _model_name("", settings) == OFFLINE or not _can_connect():
        return None
    from mewcode_magic.model.warm import warm

    return warm(busy)


def _model_name(name: str, settings: MewCode | None) -> str:
    chosen = (name or (settings or MewCode()).model).strip()
    return chosen or (DEFAULT_MODEL if _can_connect() else OFFLINE)


def _can_connect() -> bool:
    from mewcode_magic.model.connection import Connection

    return Connection.from_environment().is_set
