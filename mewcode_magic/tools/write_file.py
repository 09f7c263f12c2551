"""`WriteFile`: creates a text file, or replaces one that the agent has read."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from mewcode_magic.tools.change import (
    Change,
    change_of,
    changeable_path,
    current_text,
    encodable,
    in_the_form_of,
    writing_action,
)
from mewcode_magic.tools.paths import named
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["WriteFile"]


class WriteFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `WriteFile`."""

    path: Annotated[
        str,
        msgspec.Meta(
            description="The file, relative to the project or absolute. Missing folders are made.",
            min_length=1,
        ),
    ]
    content: Annotated[str, msgspec.Meta(description="The whole of the file's text.")]


class WriteFile:
    """Writes whole files; the user is asked with the diff before the eyes."""

    name = "WriteFile"
    description = (
        "Create a text file, or replace one; one that stands must have been read with ReadFile in this "
        "session and be unchanged since. Prefer EditFile for changes to a part. Memories are written with "
        "Remember, never as files."
    )
    Arguments = WriteFileArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, WriteFileArguments)

    def action(self, arguments: WriteFileArguments, context: ToolContext) -> Action | None:
        """Return what would be written where, as a diff; None if nothing would change."""
        change = _planned(arguments, context)
        return None if change.before == change.after else writing_action(self.name, change, context)

    def run(self, arguments: WriteFileArguments, context: ToolContext) -> ToolRun:
        """Write the file, unless it has changed while the user was asked."""
        yield from ()  # nothing but the result is to be seen
        change = _planned(arguments, context)
        name = named(change.real, context)
        if change.before == change.after:
            return ToolResult(f"{name} holds this text already; nothing was written")
        change.write(context)
        count = len(change.after.splitlines())
        done = "Created" if change.before is None else "Replaced"
        return ToolResult(
            f"{done} {name}: {count:,} {'line' if count == 1 else 'lines'}.",
            detail=change.diff(name),
            language="diff",
        )


def _planned(arguments: WriteFileArguments, context: ToolContext) -> Change:
    real = changeable_path(arguments.path, context)
    content = encodable(arguments.content, "content")
    before = current_text(real, context)
    return change_of(real, before, content if before is None else in_the_form_of(before, content))
