"""Instruction files as tests write them, and what makes one another user's."""

import os
from pathlib import Path

import pytest

ANOTHER_USER = 12_345


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def give_away(path: Path, environment: pytest.MonkeyPatch) -> Path:
    """Make something another user's: by giving it away if that is allowed, else by being another user."""
    if os.geteuid() == 0:
        os.lchown(path, ANOTHER_USER, -1)
    else:
        environment.setattr(os, "getuid", lambda: ANOTHER_USER)
    return path
