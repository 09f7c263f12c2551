"""`Bash`: a command for the shell, run in the project's folder."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any

import msgspec

from mewcode_magic.errors import InvalidArgument, StorageError
from mewcode_magic.files import reason, shown
from mewcode_magic.tools.masking import KEYS, masked
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.process import Ended, run_command
from mewcode_magic.tools.shell_plain import plain_commands
from mewcode_magic.tools.shell_reader import Unreadable
from mewcode_magic.tools.shell_rules import covers, meets, offered_rule
from mewcode_magic.tools.shell_search import Start, possible_commands
from mewcode_magic.tools.tool import CallStopped, ToolContext, ToolResult, ToolRun, described

__all__ = ["Bash", "meeting"]

COMMAND_CHARS = 20_000
"""Characters of a command: what a question shows whole."""

_WITHHELD = (*KEYS, "CLICOLOR_FORCE", "FORCE_COLOR", "MPLBACKEND")
"""Not passed on: the keys, and what is meant for a notebook's own output."""
_ENVIRONMENT = {
    "CLICOLOR": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
}
"""Nobody is there to turn pages, type or see colours."""


class BashArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `Bash`."""

    command: Annotated[str, msgspec.Meta(description="The command, as typed at a prompt of bash.")]
    timeout: Annotated[
        Annotated[float, msgspec.Meta(gt=0, le=3_600)] | None,
        msgspec.Meta(description="Seconds after which it is stopped; only for what takes minutes."),
    ] = None


class Bash:
    """Runs a command without a terminal, and returns what it printed and how it ended."""

    name = "Bash"
    description = (
        "Run a shell command in the project's folder: git, tests, package managers, programs. Each call is a "
        "new shell, so neither a changed folder nor variables last. There is no terminal and no input. Put "
        "`&` behind what should go on running. To read, search or edit files use the tools for that, and "
        "RunPython for the notebook's variables."
    )
    Arguments = BashArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, BashArguments)

    def action(self, arguments: BashArguments, context: ToolContext) -> Action:  # noqa: ARG002
        """Return the command; rules may cover each plain command of it, or meet any that it may run.

        Raises:
            InvalidArgument: it is no command.
        """
        command = _checked(arguments.command)
        rule = offered_rule(command)
        return Action(
            self.name,
            "run",
            "Run this command?",
            command,
            "bash",
            always=f"{self.name}({rule})" if rule else "",
            parts=tuple(
                Action(self.name, "run", "", covered_by=partial(covers, words=words))
                for words in plain_commands(command) or ()
            ),
            touched_by=meeting(command),
        )

    def run(self, arguments: BashArguments, context: ToolContext) -> ToolRun:
        """Run the command; it is an error result unless its status is 0.

        Raises:
            CallStopped: the user stopped it; the result holds what it had printed.
            InvalidArgument: there is no shell, or none can be started.
            StorageError: the project's folder is gone.
        """
        yield from ()  # nothing but the result is to be seen
        settings = context.settings
        seconds = arguments.timeout or settings.bash_timeout_seconds
        if not context.project.is_dir():
            raise StorageError(f"the project's folder {shown(context.project)} is not there any more")
        try:
            ended = run_command(
                [_shell(), "-c", arguments.command],
                folder=context.project,
                environment=_environment(),
                seconds=seconds,
                limit=settings.bash_output_chars,
            )
        except OSError as error:
            raise InvalidArgument(f"the command cannot be run: {reason(error)}") from error
        result = _result(ended, seconds, share_values=settings.share_values)
        if ended.stopped == "user":
            raise CallStopped(result)
        return result


def _checked(command: str) -> str:
    if not command.strip():
        raise InvalidArgument("the command is empty")
    try:
        command.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument("the command holds half of a character; write it anew") from error
    if "\0" in command:
        raise InvalidArgument("a command cannot hold a NUL character")
    if len(command) > COMMAND_CHARS:
        raise InvalidArgument(f"the command is longer than {COMMAND_CHARS:,} characters; put it into a file")
    return command


def meeting(command: str) -> Callable[[str], bool]:
    """Return what tells whether a deny rule's pattern meets any command that a text for the shell may run."""

    @cache
    def starts() -> list[Start] | None:
        try:
            return possible_commands(command)
        except Unreadable:
            return None

    def met(pattern: str) -> bool:
        found = starts()
        return meets(pattern, found or []) or found is None

    return met


def _shell() -> str:
    if sys.platform == "win32":
        raise InvalidArgument("there is no bash on Windows; start Jupyter inside WSL to use Bash")
    shell = shutil.which("bash") or shutil.which("sh") or shutil.which("sh", path=os.defpath)
    if shell is None:
        raise InvalidArgument("neither bash nor sh is on the PATH; add their folder to it")
    return shell


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _WITHHELD} | _ENVIRONMENT


def _result(ended: Ended, seconds: float, *, share_values: bool) -> ToolResult:
    state = _state(ended, seconds)
    output = "(MewCode.share_values is off: what it printed is not shown)"
    if share_values:
        output = masked(ended.output) or "(no output)"
    if not state:
        return ToolResult(output if share_values else f"exit status 0 {output}")
    return ToolResult(f"{state}\n{output}", is_error=True)


def _state(ended: Ended, seconds: float) -> str:
    """Return how the command ended; "" if it did well."""
    if ended.stopped == "user":
        return "stopped by the user; this is what it had printed:"
    if ended.stopped == "time":
        return f"stopped after {seconds:g} seconds (give a longer timeout, or put & behind it)"
    if ended.status < 0:
        return f"ended by signal {-ended.status} ({signal.strsignal(-ended.status) or 'unknown'})"
    return f"exit status {ended.status}" if ended.status else ""
