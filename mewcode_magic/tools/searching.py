"""Searching files by processes of their own: `rg` tells which files may match, a Python process the lines.

So an expression is always one of Python's, and the answer the same whether or not ripgrep is installed; with
it, files without a match cost next to nothing. Both processes are killed at an interrupt and at the deadline.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mewcode_magic.errors import StorageError
from mewcode_magic.tools import line_search
from mewcode_magic.tools.walk import SKIPPED, Walk, in_repository

__all__ = ["Matches", "Row", "candidates", "search_lines"]

Row = tuple[int, bool, str]
"""A line's number, whether it matches or only stands near one that does, and its text."""

_OTHER_MEANING = re.compile(r"[\0\ud800-\udfff]|\\[AZz<>]|\(\?[^:P]|&&|--|~~|\[\[|\[\^\[|\{,")
"""What `rg` takes too, but may understand differently than Python does."""
_FILE_NAMES = 1 << 16


@dataclass(frozen=True, slots=True)
class Matches:
    """What a search has found, file by file."""

    rows: list[tuple[Path, list[Row]]]
    is_cut: bool
    """Whether more lines match than were asked for."""
    is_late: bool
    """Whether the deadline came first."""


def candidates(pattern: str, walk: Walk, *, ignore_case: bool) -> tuple[list[Path], bool] | None:
    """Return the files of a walk that may hold a match, as `rg` finds them, and whether time was short.

    None if there is no `rg`, or if it does not take the expression.
    """
    program = shutil.which("rg")
    if program is None or _OTHER_MEANING.search(pattern):
        return None
    command = [
        program,
        "--no-config",
        "--files-with-matches",
        "--null",
        "--hidden",
        "--crlf",
        "--no-messages",
    ]
    command += ["--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot", "--color=never"]
    command += [f"--glob=!**/{folder}/" for folder in SKIPPED]
    if in_repository(walk.top) is None:
        command.append("--no-require-git")
    if walk.is_ignored:
        command.append("--no-ignore-parent")
    command += ["--ignore-case"] if ignore_case else ["--case-sensitive"]
    command += [f"--regexp={pattern}", "--", "."]
    found = b""
    with _running(command, walk.deadline, cwd=walk.top, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        while piece := process.stdout.read(_FILE_NAMES):
            found += piece
    is_late = process.returncode < 0 and time.monotonic() >= walk.deadline
    # 1 means that nothing matches; 2 that the expression, or a file, is not to its liking.
    if process.returncode not in (0, 1) and not is_late:
        return None
    names = found.split(b"\0")[:-1]
    return [walk.top / os.fsdecode(name.removeprefix(b"./")) for name in names], is_late


def search_lines(
    pattern: str, files: list[Path], *, ignore_case: bool, context: int, limit: int, deadline: float
) -> Matches:
    """Return the lines of files that match, at most `limit`, with `context` lines around each.

    Raises:
        StorageError: the process that searches has failed.
    """
    asked = {"pattern": pattern, "ignore_case": ignore_case, "context": context, "limit": limit}
    sent = json.dumps(asked).encode() + b"\n" + b"".join(os.fsencode(file) + b"\0" for file in files)
    # -I: neither the environment nor the folder of the script changes what Python imports.
    command = [sys.executable, "-I", "-S", line_search.__file__]
    rows: list[tuple[Path, list[Row]]] = []
    end: dict[str, Any] | None = None
    with _running(command, deadline, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        try:
            process.stdin.write(sent)
            process.stdin.close()
        except BrokenPipeError:  # it has ended; what it has said, or not, tells how
            pass
        for line in process.stdout:
            if not line.endswith(b"\n"):  # killed in the midst of it
                break
            answer = json.loads(line)
            if "file" in answer:
                rows.append((files[answer["file"]], [tuple(row) for row in answer["rows"]]))
            else:
                end = answer
    is_late = end is None and time.monotonic() >= deadline
    if end is None and not is_late:
        raise StorageError("the search broke off; search in fewer or smaller files")
    return Matches(rows, is_cut=bool(end and end["cut"]), is_late=is_late)


@contextmanager
def _running(command: list[str], deadline: float, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command that is killed at the deadline, and when the block is left in whatever way."""
    with subprocess.Popen(  # noqa: S603 - no shell; all that is not ours stands behind `=` or `--`
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options
    ) as process:
        timer = threading.Timer(max(deadline - time.monotonic(), 0), process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield process
            process.wait()
        finally:
            timer.cancel()
            process.kill()
