"""`ReadFile`: a text with the numbers of its lines, an image, or a notebook's cells."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.reading import LINES, read_file
from mewcode_magic.tools.paths import file_action, is_memory, real_path
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["ReadFile"]


class ReadFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `ReadFile`."""

    path: Annotated[str, msgspec.Meta(description="The file, relative to the project or absolute.")]
    offset: Annotated[
        int,
        msgspec.Meta(
            ge=1, description="The first line to read; lines count from 1. Of a notebook, the first cell."
        ),
    ] = 1
    limit: Annotated[
        int, msgspec.Meta(ge=1, description="Most lines to read. Of a notebook, most cells.")
    ] = LINES


class ReadFile:
    """Reads files inside the project and the memory folders; elsewhere it asks first."""

    name = "ReadFile"
    description = (
        "Read a file of the project, or a memory's body, by path. Lines of text come with their numbers, "
        "which are no part of the text; PNG, JPEG, GIF and WebP as images; a notebook as its cells and "
        "outputs. Use offset and limit for long files."
    )
    Arguments = ReadFileArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, ReadFileArguments)

    def action(self, arguments: ReadFileArguments, context: ToolContext) -> Action:
        """Return which file would be read; what a link leads to is what counts."""
        real = real_path(arguments.path, context)
        question = f"Read {real}, outside the project and the memories?"
        return file_action(self.name, "read", real, context, question=question)

    def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolRun:
        """Return what the file holds, and note its state for later edits."""
        yield from ()  # nothing but the result is to be seen
        real = real_path(arguments.path, context)
        content = read_file(
            real,
            offset=arguments.offset,
            limit=arguments.limit,
            share_values=context.settings.share_values or is_memory(real, context),
        )
        if content.state is not None:
            context.read[real] = content.state
        # A memory may have been written by hand; the project's files are the agent's work as they are.
        text = mask_credentials(content.text) if is_memory(real, context) else content.text
        return ToolResult(text, images=content.images, in_file=True)
