"""What git would do with a file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from mewcode_magic.files import shown

__all__ = ["seen_by_git"]

GIT_SECONDS = 2.0
"""Time that git is given to say whether it ignores a file."""


def seen_by_git(path: Path) -> str:
    """Return in a few words whether a file would be committed."""
    # Path.exists raises where a folder cannot be searched.
    root = next((folder for folder in path.parents if os.path.lexists(folder / ".git")), None)
    if root is None:
        return "not in a git repository"
    command = ["git", "-C", str(path.parent), "check-ignore", "--quiet", path.name]
    try:
        status = subprocess.run(  # noqa: S603 - a fixed command; the path is one argument of it
            command, check=False, capture_output=True, timeout=GIT_SECONDS
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        status = -1
    said = {0: "git ignores it", 1: "git tracks this folder, so it can be committed"}
    return said.get(status, f"inside the git repository {shown(root)}")
