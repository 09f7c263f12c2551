"""MewCode for notebooks: a Claude-style agent in a cell that remembers, on plain files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["__version__", "load_ipython_extension", "unload_ipython_extension"]

__version__ = "0.1.0"


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics and settings; loading again, under either name, changes nothing."""
    from mewcode_magic.magics import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Close the open session and take the magics and settings away again."""
    from mewcode_magic.magics import unload

    unload(shell)
