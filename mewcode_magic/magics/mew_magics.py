"""What the classes of magics have in common: the shell's agent, and where results go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics

if TYPE_CHECKING:
    from mewcode_magic.app import Mew
    from mewcode_magic.magics.screen import Screen

__all__ = ["MewMagics"]


class MewMagics(Magics):
    """Magics of one shell; `open_mew` returns its agent, which is made when it is first needed."""

    def __init__(self, shell: Any, open_mew: Callable[[], Mew], screen: Screen) -> None:
        super().__init__(shell)
        self.shell: Any = shell
        self.screen = screen
        self._open_mew = open_mew

    @property
    def mew(self) -> Mew:
        """The shell's agent."""
        return self._open_mew()
