"""What git would do with a file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from mewcode_magic.files import shown

__all__ = ["is_ignored", "seen_by_git"]

GIT_SECONDS = 2.0
"""Time that git is given to say whether it ignores a file."""


def is_ignored(path: Path) -> bool | None:
    """Whether git leaves a file alone; None in no repository, or if git does not say.

    A file that was committed is not left alone, whatever `.gitignore` says.
    """
    if _root(path) is None:
        return None
    # The repository may be anybody's, and its configuration may name a program as the monitor.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(path.parent)]
    command += ["check-ignore", "--quiet", "--", path.name]
    try:
        status = subprocess.run(  # noqa: S603 - a fixed command; the path is one argument of it
            command, check=False, capture_output=True, timeout=GIT_SECONDS
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {0: True, 1: False}.get(status)


def seen_by_git(path: Path) -> str:
    """Return in a few words whether a file would be committed."""
    root = _root(path)
    if root is None:
        return "not in a git repository"
    ignored = is_ignored(path)
    if ignored is None:
        return f"inside the git repository {shown(root)}"
    return "git ignores it" if ignored else "git tracks this folder, so it can be committed"


def _root(path: Path) -> Path | None:
    # Path.exists raises where a folder cannot be searched.
    return next((folder for folder in path.parents if os.path.lexists(folder / ".git")), None)
