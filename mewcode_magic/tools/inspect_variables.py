"""`Inspect`: what variables the user has, and what is in some of them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import one_line
from mewcode_magic.kernel.describe import describe
from mewcode_magic.kernel.variables import list_variables
from mewcode_magic.messages import escape_tags
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["Inspect"]

MOST_LISTED = 200
"""Variables of a list."""


class InspectArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `Inspect`."""

    names: Annotated[
        list[str],
        msgspec.Meta(max_length=20, description="Variables to describe. Empty: all are listed, with sizes."),
    ] = []


class Inspect:
    """Looks at the user's namespace without running anything in it."""

    name = "Inspect"
    description = (
        "Look at the user's variables. Without names it lists them with type and size; with names it "
        "describes each: shape, dtypes, nulls and first rows of a table, shape and range of an array, "
        "signature of a function. It runs nothing, so it is safe and quick; use it before you write code "
        "about a variable."
    )
    Arguments = InspectArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, InspectArguments)

    def action(self, arguments: InspectArguments, context: ToolContext) -> Action:  # noqa: ARG002
        """Return that it reads, inside."""
        return Action(self.name, "read", "Look at variables?")

    def run(self, arguments: InspectArguments, context: ToolContext) -> ToolRun:
        """Return the list, or the descriptions; a name that is no variable is told, not fatal."""
        yield from ()  # nothing but the result is to be seen
        shell = context.shell
        if shell is None:
            return ToolResult("there is no IPython shell here, so there are no variables", is_error=True)
        if not arguments.names:
            return ToolResult(_listed(shell))
        described_ones, missing = [], []
        for name in dict.fromkeys(arguments.names):
            if name not in shell.user_ns:
                missing.append(name)
                continue
            shown = describe(shell.user_ns[name], name=name, share_values=context.settings.share_values)
            described_ones.append(escape_tags(mask_credentials(shown)))
        if missing:
            described_ones.append(escape_tags(one_line(f"There is no variable {', '.join(missing)}.")))
        return ToolResult("\n\n".join(described_ones), is_error=len(missing) == len(described_ones) == 1)


def _listed(shell: Any) -> str:
    variables = list_variables(shell.user_ns, hidden=set(getattr(shell, "user_ns_hidden", ())))
    if not variables:
        return "The user has no variables yet."
    lines = [f"{v.name}: {v.type}{f', {v.size}' if v.size else ''}" for v in variables[:MOST_LISTED]]
    if more := len(variables) - len(lines):
        lines.append(f"({more} more; name those that you look for)")
    return "\n".join(lines)
