"""Which folder is the project, which its main checkout, and what in its `.mewcode` git should not see."""

from __future__ import annotations

import os
from pathlib import Path

from mewcode_magic.errors import SettingError
from mewcode_magic.files import absolute, is_planted, private_folder, shown, write_atomic

__all__ = ["find_project_root", "main_checkout", "mark_private", "project_folder"]

PRIVATE = """\
sessions/
session/
MEWCODE.md
memories.md*
memory/.trash/
*.lock
"""
"""What git is told to leave alone in `.mewcode`; committing its `memory/` is the team's choice."""


def project_folder(given: Path | str, home: Path) -> Path:
    """Return the project's folder, absolute: the `given` one, or without it the one of the working directory.

    One that is not there yet is made with the first file in it.

    Raises:
        SettingError: something that is no folder stands there, or it cannot be told where it is.
    """
    path = absolute(given)
    if not given:
        return find_project_root(path, home)
    if path.exists() and not path.is_dir():
        raise SettingError(f"MewCode.project_dir is {shown(path)}, which is not a folder; name a folder")
    return path.resolve()


def find_project_root(start: Path, home: Path) -> Path:
    """Return the project that `start` lies in.

    That is the nearest ancestor holding `.mewcode/` or `.git`, else the nearest holding `MEWCODE.md`, else
    `start` itself. A `.mewcode` that is `home`, the user's own MewCode folder, makes no project, and neither
    does what another user has put into a folder that is everybody's, such as `/tmp`.
    """
    start, home = start.resolve(), home.resolve()
    ancestors = (start, *start.parents)
    for folder in ancestors:
        mewcode, git = folder / ".mewcode", folder / ".git"
        if mewcode.is_dir() and mewcode.resolve() != home and not is_planted(mewcode):
            return folder
        if git.exists() and not is_planted(git):
            return folder
    for folder in ancestors:
        instructions = folder / "MEWCODE.md"
        if folder != home and instructions.is_file() and not is_planted(instructions):
            return folder
    return start


def main_checkout(project: Path) -> Path:
    """Return the checkout whose memories `project` shares: its own, or a linked worktree's main one.

    In a linked worktree `.git` is a file naming `<main>/.git/worktrees/<name>`, whose `commondir` file leads
    back to `<main>/.git` (gitrepository-layout(5)). A submodule's file has no `commondir`, so it stays.
    """
    pointer = project / ".git"
    try:
        if not pointer.is_file():
            return project
        key, _, value = pointer.read_text(encoding="utf-8").strip().partition(": ")
        if key != "gitdir":
            return project
        gitdir = (project / value).resolve()
        common = (gitdir / (gitdir / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: links in a circle
        return project
    return common.parent if common.name == ".git" else project


def mark_private(project: Path) -> Path:
    """Make `project`'s `.mewcode` folder, with a `.gitignore` unless it has one, and return it.

    Call it before the first private file is written there, so that none is ever committed by accident.

    Raises:
        StorageError: the folder or the file cannot be made.
    """
    folder = private_folder(project / ".mewcode")
    ignore = folder / ".gitignore"
    if not os.path.lexists(ignore):  # a broken link is somebody's doing too
        write_atomic(ignore, PRIVATE, mode=0o644)
    return folder
