"""What git says of a file, and what asking it may not set off."""

import subprocess
from pathlib import Path

import pytest
from instruction_files import write

from mewcode_magic.git import is_ignored, seen_by_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def test_ignored_and_committed_files_are_told_apart(repository: Path, tmp_path: Path) -> None:
    write(repository / ".gitignore", "*.local.md\n")
    for name in ("a.local.md", "b.local.md", "c.md"):
        write(repository / name, name)
    subprocess.run(["git", "-C", str(repository), "add", "--force", "b.local.md"], check=True)
    told = [is_ignored(repository / name) for name in ("a.local.md", "b.local.md", "c.md", "-x")]
    assert told == [True, False, False, False]
    assert is_ignored(tmp_path / "a.md") is None
    assert seen_by_git(repository / "a.local.md") == "git ignores it"


def test_asking_git_runs_no_program_that_the_repository_names(repository: Path, tmp_path: Path) -> None:
    monitor = write(tmp_path / "monitor", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    monitor.chmod(0o755)
    write(repository / "a.md", "a")
    for command in (["add", "a.md"], ["config", "core.fsmonitor", str(monitor)]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    assert is_ignored(repository / "b.md") is False
    assert not (tmp_path / "ran").exists()
