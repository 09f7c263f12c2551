"""`ProposeCell`: code goes into a new cell below, for the user to run."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.events import TextDelta
from mewcode_magic.kernel.proposing import can_insert, code_of, insert_below, waiting
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["ProposeCell"]


class ProposeCellArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `ProposeCell`."""

    code: Annotated[str, msgspec.Meta(description="The cell's code, without Markdown fences.")]
    title: Annotated[
        str,
        msgspec.Meta(description="A few words on what it does; they become a comment above the code."),
    ] = ""


class ProposeCell:
    """Proposes code; the user looks at it, changes it, and runs it or not."""

    name = "ProposeCell"
    description = (
        "Put code into a new cell below the user's, for them to look at and run. It is not run now, so you "
        "see no result. All that is proposed in one turn becomes one cell, in order. Use it for code that "
        "the user asked for or should keep in the notebook."
    )
    Arguments = ProposeCellArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, ProposeCellArguments)

    def action(self, arguments: ProposeCellArguments, context: ToolContext) -> None:  # noqa: ARG002
        """Ask for no leave: it only proposes.

        Raises:
            InvalidArgument: there is no code.
        """
        if not code_of(arguments.code).strip():
            raise InvalidArgument("there is no code in the proposal")

    def run(self, arguments: ProposeCellArguments, context: ToolContext) -> ToolRun:
        """Give the code to the front end; where none can take it, show it as a part of the answer.

        Raises:
            InvalidArgument: a magic for a whole cell would stand in one with other code.
        """
        shell, code = context.shell, code_of(arguments.code)
        if title := " ".join(arguments.title.split()):
            code = code if code.startswith("%%") else f"# {title}\n{code}"
        if not can_insert(shell):
            fence = "`" * max(3, 1 + _longest_run(code))
            yield TextDelta(f"{fence}python\n{code}\n{fence}\n")
            told = "No cell can be inserted here; the user is shown the code as a part of your answer."
            return ToolResult(told, detail=code, language="python")
        before = waiting(shell)
        if before and (code.startswith("%%") or before.startswith("%%")):
            raise InvalidArgument(
                "a %% magic takes a whole cell, and one turn can propose only one; propose the other in the "
                "next turn, or write the magic as get_ipython().run_cell_magic(…)"
            )
        insert_below(shell, code)
        told = "Joined to the cell proposed before." if before else "Proposed as a new cell below."
        return ToolResult(f"{told} The user decides whether to run it.", detail=code, language="python")


def _longest_run(code: str) -> int:
    """Return the length of the longest run of backticks."""
    longest = run = 0
    for character in code:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
