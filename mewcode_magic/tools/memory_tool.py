"""`memory`: the API's own tool, memory_20250818, over the same folders as `Remember`.

The model knows the tool by its type: six commands on files below `/memories`; all but `view` write.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun

__all__ = ["MemoryTool"]

TYPE = "memory_20250818"


class ViewCommand(msgspec.Struct, frozen=True, tag_field="command", tag="view"):
    """Show a file with line numbers, or what is in a directory."""

    path: str
    view_range: Annotated[list[int], msgspec.Meta(min_length=2, max_length=2)] | None = None
    """The first and the last line to show, counted from 1; -1 is the file's last."""


class CreateCommand(msgspec.Struct, frozen=True, tag_field="command", tag="create"):
    """Write a new file."""

    path: str
    file_text: str


class StrReplaceCommand(msgspec.Struct, frozen=True, tag_field="command", tag="str_replace"):
    """Replace a text that a file holds once."""

    path: str
    old_str: str
    new_str: str


class InsertCommand(msgspec.Struct, frozen=True, tag_field="command", tag="insert"):
    """Put text behind a line; 0 is in front of the first."""

    path: str
    insert_line: int
    insert_text: str


class DeleteCommand(msgspec.Struct, frozen=True, tag_field="command", tag="delete"):
    """Delete a file, or a directory with all that is in it."""

    path: str


class RenameCommand(msgspec.Struct, frozen=True, tag_field="command", tag="rename"):
    """Give a file or a directory another path."""

    old_path: str
    new_path: str


MemoryArguments: TypeAlias = (
    ViewCommand | CreateCommand | StrReplaceCommand | InsertCommand | DeleteCommand | RenameCommand
)


class MemoryTool:
    """Hands the model's commands to the files; the SDK, which reads them, is imported by the first."""

    name = "memory"
    Arguments = MemoryArguments
    writes_memory = True

    @property
    def definition(self) -> dict[str, Any]:
        """The tool by its type; the API knows what it is and takes."""
        return {"type": TYPE, "name": self.name}

    def action(self, arguments: MemoryArguments, context: ToolContext) -> Action | None:  # noqa: ARG002
        """Return that it writes a memory, which needs a question in no mode."""
        if isinstance(arguments, ViewCommand):
            return None
        return Action(self.name, "memory", "Write a memory?")

    def run(self, arguments: MemoryArguments, context: ToolContext) -> ToolRun:
        """Carry out one command."""
        yield from ()  # it never asks
        from anthropic.lib.tools import ToolError

        from mewcode_magic.tools.memory_commands import MemoryCommands

        commands = MemoryCommands(context.memory, context.session_id)
        try:
            return ToolResult(str(commands.call(msgspec.to_builtins(arguments))))
        except ToolError as error:
            return ToolResult(str(error), is_error=True)
