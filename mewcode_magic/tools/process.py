"""Running a command: its output as it comes, an end by time or by the user, and nothing left behind then.

The command gets a session of its own, and its output is one pipe. Whoever else holds that pipe when the
command has ended (a server that it left in the background) keeps nobody waiting: what it prints later is
read and thrown away. When a command is stopped, its process group is ended; on Linux those too that left
the group, which are known by a variable in their environment. Elsewhere these go on, as does on any system
what runs as another user or with an environment of its own.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from mewcode_magic.background import in_background
from mewcode_magic.kernel.terminal_text import TerminalText

__all__ = ["Ended", "run_command"]

MARK = "MEWCODE_CALL"
"""The variable by which the processes of a command are known."""
TICK = 0.05
"""Seconds after which it is looked whether a command whose pipe is still held has ended."""
TERM_SECONDS = 2.0
"""Seconds between asking processes to end and ending them."""
LATE_BYTES = 1_048_576
"""Read at most of a pipe that others hold, once the command has ended."""
CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it had printed by then."""

    status: int
    """Its exit status; negative: the signal that ended it."""
    output: str
    stopped: Literal["", "time", "user"]
    """Whether it was stopped because its time was over, or by a KeyboardInterrupt."""


def run_command(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str], seconds: float, limit: int
) -> Ended:
    """Run a command in `folder` for at most `seconds`; keep at most about `limit` characters of its output.

    Raises:
        OSError: it cannot be started.
    """
    mark = uuid.uuid4().hex
    output = TerminalText(limit)
    process = subprocess.Popen(  # noqa: S603 - what is run was allowed
        command,
        cwd=folder,
        env={**environment, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    )
    stopped: Literal["", "time", "user"] = ""
    pipe = _Pipe(process, output)
    try:
        try:
            if not pipe.follow(seconds):
                stopped = "time"
        except KeyboardInterrupt:
            stopped = "user"
        if stopped:
            with contextlib.suppress(KeyboardInterrupt):  # a second one: wait no longer
                _signal(process, mark, signal.SIGTERM)
                pipe.follow(TERM_SECONDS)
            _signal(process, mark, signal.SIGKILL)
            pipe.follow(TERM_SECONDS)
    finally:
        if process.poll() is None:
            _signal(process, mark, signal.SIGKILL)
        pipe.leave()
    return Ended(process.poll() or 0, output.text(), stopped)


class _Pipe:
    """The pipe that a command and what it starts print into."""

    def __init__(self, process: subprocess.Popen[bytes], output: TerminalText) -> None:
        if process.stdout is None:
            raise ValueError("the process has no pipe")
        self._process = process
        self._output = output
        self._file: IO[bytes] = process.stdout
        self._is_open = True

    def follow(self, seconds: float) -> bool:
        """Read until the command has ended; return whether it has within `seconds`."""
        until = time.monotonic() + seconds
        late = 0
        with selectors.DefaultSelector() as selector:
            selector.register(self._file, selectors.EVENT_READ)
            while self._is_open:
                ended = self._process.poll() is not None
                left = until - time.monotonic()
                if left <= 0 or late > LATE_BYTES:
                    return ended
                if selector.select(min(left, TICK)):
                    read = self._read()
                    late += read if ended else 0
                elif ended:
                    return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(until - time.monotonic(), 0))
        return self._process.poll() is not None

    def _read(self) -> int:
        data = os.read(self._file.fileno(), CHUNK)
        self._output.add(data)
        self._is_open = bool(data)
        return len(data)

    def leave(self) -> None:
        """Close the pipe; if others hold it, once they have let go of it, for writing must not end them."""
        if not self._is_open:
            self._file.close()
            return
        in_background(self._discard, name="output")

    def _discard(self) -> None:
        with self._file as file:
            while os.read(file.fileno(), CHUNK):
                pass


def _signal(process: subprocess.Popen[bytes], mark: str, number: signal.Signals) -> None:
    """Send a signal to a command's process group, and to what it started elsewhere."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
    for pid in _marked(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes whose environment has the mark, as far as the system tells (Linux)."""
    line = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is not ours
            if line in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
