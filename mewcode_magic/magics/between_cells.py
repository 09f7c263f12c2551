"""What is done beside the user's cells: old sessions move to the trash, and the model's SDK is imported."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mewcode_magic.errors import MewCodeError
from mewcode_magic.magics.upkeep import clean_up

if TYPE_CHECKING:
    from mewcode_magic.config import MewCode
    from mewcode_magic.magics.screen import Screen

__all__ = ["BetweenCells"]


class BetweenCells:
    """Listens to the shell for the beginnings and ends of cells.

    The first end that it hears may be that of `%load_ext` itself, whose beginning it did not hear. What the
    agent runs in the shell begins and ends inside of a cell.
    """

    def __init__(self, shell: Any, settings: MewCode, screen: Screen) -> None:
        self._shell, self._settings, self._screen = shell, settings, screen
        self._running = threading.Event()
        self._warming: threading.Thread | None = None
        self._heard_a_beginning = self._cleaned_up = False
        self._depth = 0

    def watch(self) -> None:
        """Begin to listen. Loaded before any cell, as the shell starts, the import begins at once."""
        self._shell.events.register("pre_run_cell", self._before)
        self._shell.events.register("post_run_cell", self._after)
        if self._shell.execution_count == 1:
            self._warm_up()

    def rest(self) -> None:
        """Stop listening."""
        self._shell.events.unregister("pre_run_cell", self._before)
        self._shell.events.unregister("post_run_cell", self._after)

    def _before(self, _info: object) -> None:
        self._heard_a_beginning = True
        self._depth += 1
        if self._depth == 1:
            self._running.set()
            self._screen.catch_up()

    def _after(self, _result: object) -> None:
        self._depth = max(0, self._depth - 1)
        if self._depth:
            return
        self._running.clear()
        self._warm_up()
        if self._heard_a_beginning and not self._cleaned_up:
            self._cleaned_up = True
            self._clean_up()

    def _warm_up(self) -> None:
        # A key can come in any cell. Until the environment has one, what knows more is not even imported.
        if self._warming is None and any(name.startswith("ANTHROPIC_") for name in os.environ):
            from mewcode_magic.model import warm_up

            self._warming = warm_up(self._running, settings=self._settings)

    def _clean_up(self) -> None:
        if not Path(self._settings.project_dir, ".mewcode").is_dir():
            return
        from mewcode_magic.sessions import SessionStore

        store = SessionStore(self._settings.project_dir, settings=self._settings)
        try:
            told = clean_up(store, self._settings)
        except MewCodeError as error:
            told = f"Old sessions could not be cleaned up: {error}"
        if told:
            self._screen.say(told)
