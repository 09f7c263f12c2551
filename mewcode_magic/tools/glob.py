"""`Glob`: the files whose paths a pattern names, the newest first."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.tools.paths import file_action, is_denied, named, real_path
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described
from mewcode_magic.tools.walk import FilePattern, Walk

__all__ = ["Glob"]

SECONDS = 20.0
"""After which looking for files ends, with what was found by then."""
RESULT_CHARS = 48_000
"""Characters of one result."""


class GlobArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `Glob`."""

    pattern: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            description="A pattern as in .gitignore: *.py in all folders, /*.py in path itself only, "
            "src/**/test_*.py below src, *.{csv,parquet} for either, !*.md for all others.",
        ),
    ]
    path: Annotated[
        str, msgspec.Meta(description="The folder to look in, relative to the project or absolute.")
    ] = "."
    limit: Annotated[int, msgspec.Meta(ge=1, le=2_000, description="Most files to list.")] = 200


class Glob:
    """Lists files inside the project and the memory folders; elsewhere it asks first."""

    name = "Glob"
    description = (
        "Find files by a pattern for their path, the newest first. Files that .gitignore leaves out are not "
        "listed."
    )
    Arguments = GlobArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, GlobArguments)

    def action(self, arguments: GlobArguments, context: ToolContext) -> Action:
        """Return which folder would be looked through."""
        real = real_path(arguments.path, context)
        question = f"List files in {real}, outside the project and the memories?"
        return file_action(self.name, "read", real, context, question=question)

    def run(self, arguments: GlobArguments, context: ToolContext) -> ToolRun:
        """Return the files' paths, one a line."""
        yield from ()  # nothing but the result is to be seen
        top = real_path(arguments.path, context)
        if not top.is_dir():
            missing = "is not a folder" if os.path.lexists(top) else "is not there"
            raise InvalidArgument(f"{named(top, context)} {missing}; give a folder to look in")
        pattern = FilePattern(arguments.pattern, top)
        walk = Walk(top, Path(os.path.realpath(context.project)), time.monotonic() + SECONDS)
        start = len(str(top).rstrip("/")) + 1
        found = [(_changed(e), e.path) for e in walk.files() if pattern.matches(e.path[start:])]
        found.sort(key=lambda one: (-one[0], one[1]))
        return ToolResult(_listed([Path(path) for _, path in found], arguments.limit, context, walk))


def _changed(entry: os.DirEntry[str]) -> int:
    """Return when a file was changed, in ns; a link itself, not what it leads to."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:  # deleted since
        return 0


def _listed(found: list[Path], limit: int, context: ToolContext, walk: Walk) -> str:
    lines: list[str] = []
    size = denied = 0
    for path in found:
        if is_denied(path, context, Glob.name):
            denied += 1
            continue
        line = named(path, context)
        size += len(line) + 1
        if len(lines) == limit or size > RESULT_CHARS:
            lines.append(
                f"(the newest {len(lines):,} of {len(found):,} files; narrow the pattern for others)"
            )
            break
        lines.append(line)
    if not lines:
        lines.append("no files match")
    if denied:
        lines.append(f"({denied:,} left out: rules of MewCode.deny forbid them)")
    if walk.is_cut:
        lines.append(f"(stopped after {SECONDS:g} s; there may be more: choose a folder further down)")
    return "\n".join(lines)
