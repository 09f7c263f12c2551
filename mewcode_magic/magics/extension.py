"""What loading puts into a shell, once, whatever name it is loaded under; and how all of it is taken away."""

from __future__ import annotations

import atexit
import functools
import sys
from typing import TYPE_CHECKING, Any

from traitlets import TraitError

from mewcode_magic.config import MewCode
from mewcode_magic.errors import MewCodeError, SettingError
from mewcode_magic.kernel.activity import Activity
from mewcode_magic.magics.agent import AgentMagics
from mewcode_magic.magics.between_cells import BetweenCells
from mewcode_magic.magics.compact import CompactMagics
from mewcode_magic.magics.completion import (
    complete,
    stop_completing,
)
from mewcode_magic.magics.memory import MemoryMagics
from mewcode_magic.magics.offers import Offers
from mewcode_magic.magics.question_mark import guard, unguard
from mewcode_magic.magics.screen import Screen
from mewcode_magic.magics.sessions import SessionMagics
from mewcode_magic.magics.status import StatusMagics
from mewcode_magic.project import project_folder

if TYPE_CHECKING:
    from mewcode_magic.app import Mew

__all__ = ["Extension", "load", "unload"]

OWN_NAME, SHORT_NAME = "mewcode_magic", "mewcode"
"""The names that it is loaded under; a terminal program may own the short one instead."""


def load(shell: Any) -> None:
    """Load into `shell`; if that has happened already, change nothing.

    Raises:
        SettingError: a setting has a value that cannot be used; nothing is loaded.
    """
    if OWN_NAME not in shell.meta:
        shell.meta[OWN_NAME] = Extension(shell)
    # IPython keeps its books by name: what was loaded under the short one can be reloaded under the own one.
    shell.extension_manager.loaded.add(OWN_NAME)


def unload(shell: Any) -> None:
    """Take away all that `load` put into `shell`; harmless when nothing is loaded.

    Raises:
        SessionInUse: the agent is answering, perhaps by the very code that unloads; nothing is taken away.
        StorageError: a record could not be written; everything is taken away nevertheless.
    """
    extension: Extension | None = shell.meta.get(OWN_NAME)
    if extension is not None:
        extension.refuse_while_answering()
    loaded = shell.extension_manager.loaded
    loaded.discard(OWN_NAME)
    short = getattr(sys.modules.get(SHORT_NAME), "unload_ipython_extension", None)
    if getattr(short, "__module__", None) == OWN_NAME:
        loaded.discard(SHORT_NAME)
    if extension is not None:
        del shell.meta[OWN_NAME]
        extension.remove()


class Extension:
    """Settings, agent, magics and callbacks of one shell; `shell.meta`, IPython's place for it, keeps it.

    The agent is made when it is first needed, so that loading costs little; where it works is settled here.
    """

    def __init__(self, shell: Any) -> None:
        try:
            self.settings = MewCode(parent=shell)
        except TraitError as error:
            raise SettingError(
                f"a c.MewCode setting of the configuration, or one given by %config, does not fit: {error}; "
                "mend it, or restart the kernel"
            ) from error
        home = self.settings.home_path
        project = project_folder(self.settings.project_dir, home)
        self.settings.home, self.settings.project_dir = str(home), str(project)
        self.settings.fix_places()
        self._shell = shell
        screen = Screen(shell)
        kinds = (AgentMagics, CompactMagics, MemoryMagics, SessionMagics, StatusMagics)
        self._magics = [kind(shell, lambda: self.mew, screen) for kind in kinds]
        self._activity = Activity(shell, self.settings)
        self._between_cells = BetweenCells(shell, self.settings, screen)
        shell.configurables.append(self.settings)
        shell.register_magics(*self._magics)
        guard(shell.input_transformer_manager)
        self._between_cells.watch()
        self._activity.watch()
        complete(shell, Offers(self._magics, self.settings))
        atexit.register(self._exit)

    @functools.cached_property
    def mew(self) -> Mew:
        """The shell's agent."""
        from mewcode_magic.app import Mew

        return Mew(shell=self._shell, settings=self.settings, activity=self._activity)

    def refuse_while_answering(self) -> None:
        """Refuse to be removed under a turn that runs.

        Raises:
            SessionInUse: one does.
        """
        if "mew" in vars(self):  # it was needed
            self.mew.refuse_while_answering()

    def remove(self) -> None:
        """Take everything out of the shell, then close the open session.

        Raises:
            StorageError: a record could not be written.
        """
        atexit.unregister(self._exit)
        self._between_cells.rest()
        self._activity.rest()
        stop_completing(self._shell)
        unguard(self._shell.input_transformer_manager)
        manager = self._shell.magics_manager
        for magics in self._magics:
            for kind, functions in magics.magics.items():
                for name, function in functions.items():
                    if manager.magics[kind].get(name) == function:  # nobody else has taken the name
                        del manager.magics[kind][name]
            manager.registry.pop(type(magics).__name__, None)
            self._shell.configurables.remove(magics)  # where it has put itself
        self._shell.configurables.remove(self.settings)
        self._close()

    def _close(self) -> None:
        if "mew" in vars(self):
            self.mew.close()

    def _exit(self) -> None:
        try:
            self._close()
        except MewCodeError as error:
            sys.stderr.write(f"MewCode: {error}\n")
