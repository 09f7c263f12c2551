"""What the shell's front end is, and which notebook and cell it runs, as far as it says so."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = [
    "can_ask",
    "cell_id",
    "front_end",
    "is_console",
    "is_kernel",
    "missing_names",
    "notebook_path",
    "run_id",
]

_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The ids that a notebook file can hold."""


def is_kernel(shell: Any) -> bool:
    """Whether the shell is a kernel's, so that what is displayed reaches a notebook."""
    return getattr(shell, "kernel", None) is not None


def front_end(shell: Any) -> str:
    """Return in a few words what shows the shell's output, as far as it says so."""
    if not is_kernel(shell):
        return "a script" if shell is None else "IPython in a terminal"
    if "google.colab" in sys.modules:
        return "Colab"
    if "__vsc_ipynb_file__" in shell.user_ns or "VSCODE_PID" in os.environ:
        return "VS Code"
    return "Jupyter" if "JPY_SESSION_NAME" in os.environ else "a kernel whose front end does not say its name"


def can_ask(shell: Any) -> bool:
    """Whether somebody is there who can answer a question or see an output change.

    A kernel says so anew with each execution request: nbconvert, papermill and nbval forbid stdin.
    """
    if is_kernel(shell):
        return bool(getattr(shell.kernel, "_allow_stdin", False))
    return sys.stdin is not None and sys.stdin.isatty()


def is_console(shell: Any) -> bool:
    """Whether what runs was typed into a console, which shows plain text, and nothing twice.

    Notebooks name their file, or say something of the cell with each execution request.
    """
    if not (is_kernel(shell) and can_ask(shell)):
        return False
    return notebook_path(shell) is None and not shell.get_parent().get("metadata")


def notebook_path(shell: Any) -> Path | None:
    """Return the notebook's path where the front end gives it.

    Jupyter Server puts it into `JPY_SESSION_NAME`, VS Code into the variable `__vsc_ipynb_file__`.
    """
    namespace = getattr(shell, "user_ns", {})
    name = namespace.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    return Path(name) if isinstance(name, str) and name.endswith(".ipynb") else None


def cell_id(shell: Any) -> str | None:
    """Return the id of the running cell where the front end gives it (JupyterLab: `cellId`).

    What VS Code sends there is no id of the notebook's: it changes from one opening of the file to the next.
    """
    if not is_kernel(shell):
        return None
    metadata = shell.get_parent().get("metadata", {})
    value = metadata.get("cellId")
    return value if isinstance(value, str) and _CELL_ID.fullmatch(value) else None


def run_id(shell: Any) -> str | None:
    """Return the id of the front end's request that runs at present; no other one ever has it."""
    if not is_kernel(shell):
        return None
    value = shell.get_parent().get("header", {}).get("msg_id")
    return value if isinstance(value, str) else None


def missing_names(shell: Any, names: Iterable[str]) -> list[str]:
    """Return those of `names`, in order and once each, that the user's namespace does not hold.

    Without a shell there is no namespace, and all are missing.
    """
    namespace = {} if shell is None else shell.user_ns
    return [name for name in dict.fromkeys(names) if name not in namespace]
