"""Which folder is the project, and which its main checkout."""

from __future__ import annotations

from pathlib import Path

__all__ = ["find_project_root", "main_checkout"]


def find_project_root(start: Path, home: Path) -> Path:
    """Return the project that `start` lies in.

    That is the nearest ancestor holding `.mewcode/` or `.git`, else the nearest holding `MEWCODE.md`, else
    `start` itself. A `.mewcode` that is `home`, the user's own MewCode folder, makes no project.
    """
    start, home = start.resolve(), home.resolve()
    ancestors = (start, *start.parents)
    for folder in ancestors:
        mewcode = folder / ".mewcode"
        if (mewcode.is_dir() and mewcode.resolve() != home) or (folder / ".git").exists():
            return folder
    for folder in ancestors:
        if folder != home and (folder / "MEWCODE.md").is_file():
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
    except (OSError, UnicodeDecodeError):
        return project
    return common.parent if common.name == ".git" else project
