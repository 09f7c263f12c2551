"""Where a prompt stands: in which notebook, cell and run of it, as far as the front end says so."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mewcode_magic.kernel.frontend import cell_id, notebook_path, run_id

__all__ = ["Place", "place_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """What identifies a cell that runs; None is what is not known.

    `notebook` is its path in the project, else its name. `run` tells one run of it from all others, in
    whichever kernel.
    """

    notebook: str | None = None
    cell: str | None = None
    run: str | None = None


def place_of(shell: Any, project: Path) -> Place:
    """Return the place of what runs in `shell` now."""
    return Place(notebook=_notebook(shell, project), cell=cell_id(shell), run=run_id(shell))


def _notebook(shell: Any, project: Path) -> str | None:
    path = notebook_path(shell)
    if path is None:
        return None
    with contextlib.suppress(ValueError):
        return path.resolve().relative_to(project).as_posix()
    return path.name
