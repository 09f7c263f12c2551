"""Which model answers a prompt, and which one the program's own questions beside it."""

from __future__ import annotations

from mewcode_magic.config import MewCode
from mewcode_magic.events import Model
from mewcode_magic.model.claude import Claude
from mewcode_magic.model.connection import Connection
from mewcode_magic.model.names import DEFAULT_MODEL, OFFLINE, SIDE_MODEL

__all__ = ["Models"]


class Models:
    """The models of one agent. Those that were used are kept, since their connections are open.

    `own` is a model object, or a name; None is the setting's.
    """

    def __init__(self, own: Model | str | None = None, *, settings: MewCode) -> None:
        self._own, self._settings = own, settings
        self._kept: dict[str, Model] = {}

    def main(self, name: str | None = None) -> Model:
        """Return the model that answers prompts; a name goes before what was chosen for all.

        Nothing is connected yet, and the SDK not imported.
        """
        own = self._own
        if own is None or isinstance(own, str):
            return self._named(name or own or self._settings.model)
        return self._named(name) if name else own

    def side(self, main: Model) -> Model:
        """Return the model that answers the program's own questions beside a conversation with `main`.

        That is the setting `side_model`; where it is empty, the newest Haiku beside a Claude at Anthropic's
        own address, else `main` itself, which is the only one known to be there.
        """
        if not isinstance(main, Claude):
            return main
        if name := self._settings.side_model.strip():
            return self._named(name)
        return main if Connection.from_environment().is_elsewhere else self._named(SIDE_MODEL)

    def _named(self, name: str) -> Model:
        name = name.strip() or (DEFAULT_MODEL if Connection.from_environment().is_set else OFFLINE)
        if name not in self._kept:
            self._kept[name] = _made(name)
        return self._kept[name]


def _made(name: str) -> Model:
    if name != OFFLINE:
        return Claude(name)
    from mewcode_magic.model.offline import Offline

    return Offline()
