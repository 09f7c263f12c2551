"""`ReadFile`: a text file's lines with their numbers."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import msgspec

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.events import PermissionAsked
from mewcode_magic.files import shown, storage_errors
from mewcode_magic.memory import PLACES
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

    def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolRun:
        """Return the lines asked for, or an error result that says why not."""
        if "\0" in arguments.path:
            return ToolResult("a path cannot hold a NUL character", is_error=True)
        path = context.project / Path(arguments.path).expanduser()
        with storage_errors("read", path):
            real = Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for links in a circle
            if not _is_inside(real, context):
                question = PermissionAsked(self.name, f"Read {real}, outside the project and the memories?")
                yield question
                if question.answer != "yes":
                    return _refused(real, question.answer)
            if not real.exists():
                return ToolResult(f"there is no file {shown(real)}", is_error=True)
            if not real.is_file():
                return ToolResult(f"{shown(real)} is not a file that can be read", is_error=True)
            result = _read(real, arguments.offset, arguments.limit)
        # A memory may have been written by hand; the project's files are the agent's work as they are.
        return replace(result, text=mask_credentials(result.text)) if _is_memory(real, context) else result


def _is_inside(real: Path, context: ToolContext) -> bool:
    return real.is_relative_to(context.project.resolve()) or _is_memory(real, context)


def _is_memory(real: Path, context: ToolContext) -> bool:
    return any(real.is_relative_to(context.memory.folder(place).resolve()) for place in PLACES)


def _refused(real: Path, answer: str | None) -> ToolResult:
    if answer in (None, "no"):
        reason = "the user said no" if answer else "nobody could be asked"
        text = f"not allowed: {real} lies outside the project and the memory folders, and {reason}"
    else:
        text = f"not read; the user says instead: {answer}"
    return ToolResult(text, is_error=True)


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
