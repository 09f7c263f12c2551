"""`RunPython`: code runs in the user's kernel, as a cell would."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import Annotated, Any

import msgspec

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.kernel.failure import traceback_text
from mewcode_magic.kernel.running import Ran, run_code
from mewcode_magic.messages import Block, escape_tags
from mewcode_magic.tools.bash import Bash, meeting
from mewcode_magic.tools.masking import masked
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import CallStopped, ToolContext, ToolResult, ToolRun, described

__all__ = ["RunPython"]

CODE_CHARS = 20_000
"""Characters of code: what a question shows whole."""
MOST_NAMED = 50
"""Names that are told as bound or deleted."""
MOST_RECORDED = 500
"""Bound names that are recorded, for a kernel in which the session is resumed."""
NAME_CHARS = 80
"""Characters of a name."""
_SHELL_LINE = re.compile(
    r"^[ \t]*+(?:[^\n=!%]++=[ \t]*)?(?:!!?|%(?:sx|system)[ \t])(?P<command>(?:[^\n\\]|\\(?:.|\n))+)",
    re.MULTILINE,
)
_SHELL_CELL = re.compile(r"\A\s*+%%(?:!|(?:bash|script|sh|sx|system)\b)[^\n]*\n(?P<command>.+)", re.DOTALL)
_WITHHELD = "MewCode.share_values is off: the user sees what the code puts out, and you do not."


class RunPythonArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `RunPython`."""

    code: Annotated[str, msgspec.Meta(description="The code, as it would stand in a cell.")]
    timeout: Annotated[
        Annotated[float, msgspec.Meta(gt=0, le=86_400)] | None,
        msgspec.Meta(description="Seconds after which it is stopped. Without: the user can stop it."),
    ] = None


class RunPython:
    """Runs code in the user's namespace, and returns what it put out."""

    name = "RunPython"
    description = (
        "Run code in the user's kernel, with their variables, as a cell would run: magics, `!commands`, "
        "`await`, and the value of the last expression work. The user sees output and plots as they come. "
        "You get what was printed, the last value, the traceback, plots as images, and the names that "
        "were bound. What you bind stays in the user's namespace: choose new names, or delete them again. "
        "For code that the user should have in the notebook use ProposeCell."
    )
    Arguments = RunPythonArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, RunPythonArguments)

    def action(self, arguments: RunPythonArguments, context: ToolContext) -> Action:
        """Return the code; a deny rule's pattern, in which `*` stands for anything, is one of all of it.

        Deny rules for `Bash` meet the commands that stand in it behind `!` or in a cell for the shell.

        Raises:
            InvalidArgument: there is no shell, or nothing that can be run.
        """
        code = arguments.code
        if context.shell is None:
            raise InvalidArgument("there is no IPython shell here, so no code can be run in one")
        if not code.strip():
            raise InvalidArgument("the code is empty")
        if "\0" in code:
            raise InvalidArgument("code cannot hold a NUL character")
        if len(code) > CODE_CHARS:
            raise InvalidArgument(f"the code is longer than {CODE_CHARS:,} characters; run it in parts")
        return Action(
            self.name,
            "run",
            "Run this code in your kernel?",
            code,
            "python",
            always=self.name,
            touched_by=partial(fnmatchcase, code),
            contains=tuple(
                Action(Bash.name, "run", "", touched_by=meeting(found["command"]))
                for pattern in (_SHELL_LINE, _SHELL_CELL)
                for found in pattern.finditer(code)
            ),
        )

    def run(self, arguments: RunPythonArguments, context: ToolContext) -> ToolRun:
        """Run the code; an exception, or an end by time, is an error result.

        Raises:
            CallStopped: the user stopped it; the result holds what it had come to.
        """
        yield from ()  # the kernel shows the output itself
        shell = context.shell
        ran = run_code(shell, arguments.code, seconds=arguments.timeout)
        shared = context.settings.share_values
        # Without values not even the message of an exception is told, for it may hold some.
        parts = [_state(ran, arguments.timeout), *(_output(ran) if shared else [_WITHHELD])]
        images: list[Block] = []
        if shared:
            images = _images(ran)
            left_out = ran.figures_left_out + len(ran.figures) - len(images)
            parts.append(f"({left_out} more figures are not attached)" if left_out else "")
        parts += [_named("Bound", ran.bound, shell.user_ns), _named("Deleted", ran.deleted, {}), *ran.notes]
        text = "\n".join(part for part in parts if part)
        result = ToolResult(
            text or ("The figures are attached." if images else "Done; it put out nothing."),
            is_error=ran.error is not None or bool(ran.stopped),
            images=tuple(images),
            variables=tuple(name for name in ran.bound if len(name) <= NAME_CHARS)[:MOST_RECORDED],
            detail=arguments.code,
            language="python",
        )
        if ran.stopped == "user":
            raise CallStopped(result)
        return result


def _state(ran: Ran, timeout: float | None) -> str:
    match ran.stopped:
        case "user":
            return "Stopped by the user. Up to then:"
        case "time":
            return f"Stopped after {timeout:g} seconds. Up to then:"
    if isinstance(ran.error, SystemExit):
        return "The code ended itself; the kernel goes on."
    return "" if ran.error is None else f"{type(ran.error).__name__} was raised{_where(ran.error)}."


def _output(ran: Ran) -> list[str]:
    """Return what was put out, each kind under its name; printed text alone needs none."""
    ended = ran.error is None or ran.stopped or isinstance(ran.error, SystemExit)
    trace = "" if ended or ran.error is None else traceback_text(ran.error)
    kinds = {"stderr": ran.stderr, "displayed": ran.displayed, "result": ran.result, "traceback": trace}
    parts = [ran.stdout, *(f"{kind}:\n{text}" for kind, text in kinds.items() if text)]
    return [escape_tags(masked(part)) for part in parts]


def _where(error: BaseException) -> str:
    """Return the line of the code in which an exception came up."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_name != "<module>":
        frame = frame.tb_next
    line = error.lineno if isinstance(error, SyntaxError) else frame and frame.tb_lineno
    return f" in line {line}" if line else ""


def _images(ran: Ran) -> list[Block]:
    if not ran.figures:
        return []
    from mewcode_magic.kernel.figures import image_block

    return [block for figure in ran.figures if (block := image_block(figure)) is not None]


def _named(what: str, names: list[str], namespace: Mapping[str, Any]) -> str:
    """Return names in one line, with type and size where they stand for something."""
    if not names:
        return ""
    from mewcode_magic.kernel.describe.sizes import kind
    from mewcode_magic.kernel.describe.words import cut

    told = [
        f"{cut(name, NAME_CHARS)} ({kind(namespace[name])})" if name in namespace else cut(name, NAME_CHARS)
        for name in names[:MOST_NAMED]
    ]
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{what}: {', '.join(told)}{more}"
