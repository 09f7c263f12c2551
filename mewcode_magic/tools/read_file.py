"""`ReadFile`: a text file's lines with their numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import msgspec

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.files import shown, storage_errors
from mewcode_magic.tools.paths import is_inside, is_memory, matches, real_path
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["ReadFile"]

LINE_CHARS = 2_000
"""Characters shown of one line."""
RESULT_CHARS = 50_000
"""Characters of one result; the rest is read with `offset`."""


class ReadFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `ReadFile`."""

    path: Annotated[str, msgspec.Meta(description="The file, relative to the project or absolute.")]
    offset: Annotated[int, msgspec.Meta(ge=1, description="The first line to read; lines count from 1.")] = 1
    limit: Annotated[int, msgspec.Meta(ge=1, description="Most lines to read.")] = 2_000


class ReadFile:
    """Reads text files inside the project and the memory folders; elsewhere it asks first."""

    name = "ReadFile"
    description = (
        "Read a text file of the project, or a memory's body, by path. Lines come with their numbers. "
        "Use offset and limit for long files."
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
        return Action(
            self.name,
            "read",
            f"Read {real}, outside the project and the memories?",
            inside=is_inside(real, context) or is_memory(real, context),
            always=f"{self.name}({real.parent}/*)",
            covered_by=lambda pattern: matches(pattern, real, context),
            touched_by=lambda pattern: matches(pattern, real, context),
        )

    def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolRun:
        """Return the lines asked for, or an error result that says why not."""
        yield from ()  # nothing but the result is to be seen
        real = real_path(arguments.path, context)
        if not real.exists():
            return ToolResult(f"there is no file {shown(real)}", is_error=True)
        if not real.is_file():
            return ToolResult(f"{shown(real)} is not a file that can be read", is_error=True)
        with storage_errors("read", real):
            result = _read(real, arguments.offset, arguments.limit)
        # A memory may have been written by hand; the project's files are the agent's work as they are.
        return replace(result, text=mask_credentials(result.text)) if is_memory(real, context) else result


def _read(path: Path, offset: int, limit: int) -> ToolResult:
    lines: list[str] = []
    size = 0
    more = False
    with path.open("rb") as file:
        if b"\0" in file.read(8_192):
            return ToolResult(f"{shown(path)} is a binary file", is_error=True)
        file.seek(0)
        for number, raw in enumerate(islice(file, offset - 1, None), start=offset):
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace").rstrip("\r\n")
            if len(line) > LINE_CHARS:
                line = f"{line[:LINE_CHARS]}… ({len(line):,} characters)"
            size += len(line) + 8
            if len(lines) == limit or size > RESULT_CHARS:
                more = True
                break
            lines.append(f"{number:>6}\t{line}")
    if not lines:
        return ToolResult(f"{shown(path)} has no line {offset}" if offset > 1 else f"{shown(path)} is empty")
    if more:
        lines.append(f"(more lines follow; read on with offset={offset + len(lines)})")
    return ToolResult("\n".join(lines))
