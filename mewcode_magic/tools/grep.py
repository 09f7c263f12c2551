"""`Grep`: the lines of files that match a regular expression."""

from __future__ import annotations

import os
import re
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import msgspec

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import InvalidArgument
from mewcode_magic.files import read_text
from mewcode_magic.reading import may_hold_data
from mewcode_magic.tools.paths import file_action, is_denied, is_memory, named, real_path
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.searching import Matches, Row, candidates, search_lines
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described
from mewcode_magic.tools.walk import FilePattern, Walk

__all__ = ["Grep"]

SECONDS = 20.0
"""After which a search ends, with what was found by then."""
FINDING_SECONDS = 15.0
"""After which no more files are looked for."""
RESULT_CHARS = 48_000
"""Characters of one result."""
READERS = ("ReadFile",)
"""What a rule keeps from it is kept from a search too."""


class GrepArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `Grep`."""

    pattern: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=10_000,
            description="A regular expression as of Python's re, searched in each line on its own.",
        ),
    ]
    path: Annotated[
        str, msgspec.Meta(description="The folder or file to search, relative to the project or absolute.")
    ] = "."
    glob: Annotated[
        str | None,
        msgspec.Meta(
            description="Search only files of this pattern, as in Glob: *.py, src/**/*.{r,R}, !*.md"
        ),
    ] = None
    ignore_case: Annotated[bool, msgspec.Meta(description="Take capital and small letters as equal.")] = False
    context: Annotated[
        int, msgspec.Meta(ge=0, le=50, description="Lines to show before and after each match.")
    ] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000, description="Most matching lines to show.")] = 100


class Grep:
    """Searches files inside the project and the memory folders; elsewhere it asks first."""

    name = "Grep"
    description = (
        "Search the text of files for a regular expression. Matching lines come as path:number:text, lines "
        "around them as path-number-text. Files that .gitignore leaves out are not searched, nor binary ones."
    )
    Arguments = GrepArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, GrepArguments)

    def action(self, arguments: GrepArguments, context: ToolContext) -> Action:
        """Return which folder or file would be searched."""
        real = real_path(arguments.path, context)
        question = f"Search {real}, outside the project and the memories?"
        return file_action(self.name, "read", real, context, question=question, denied_as=READERS)

    def run(self, arguments: GrepArguments, context: ToolContext) -> ToolRun:
        """Return the matching lines."""
        yield from ()  # nothing but the result is to be seen
        top = real_path(arguments.path, context)
        if not os.path.lexists(top):
            raise InvalidArgument(f"{named(top, context)} is not there; give a folder or a file to search")
        _check(arguments.pattern)
        started = time.monotonic()
        files, is_cut = _files(arguments, top, context, started + FINDING_SECONDS)
        allowed = [file for file in files if not is_denied(file, context, self.name, *READERS)]
        shown = [file for file in allowed if _may_be_shown(file, context)]
        matches = search_lines(
            arguments.pattern,
            shown,
            ignore_case=arguments.ignore_case,
            context=arguments.context,
            limit=arguments.limit,
            deadline=started + SECONDS,
        )
        notes = []
        if len(allowed) < len(files):
            notes.append("files that rules of MewCode.deny forbid were left out")
        if len(shown) < len(allowed):
            notes.append("files that may hold data were left out: MewCode.share_values is off")
        if matches.is_late or is_cut:
            notes.append(f"stopped after {SECONDS:g} s: search in fewer files, or simplify the expression")
        return ToolResult(_told(matches, notes, context, apart=arguments.context > 0))


def _check(pattern: str) -> None:
    """Refuse an expression that is none.

    Raises:
        InvalidArgument: it cannot be compiled.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a later Python may read differently
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidArgument(f"{pattern!r} is no regular expression: {error}") from error


def _files(
    arguments: GrepArguments, top: Path, context: ToolContext, deadline: float
) -> tuple[list[Path], bool]:
    """Return the files to search, by path, and whether time did not suffice to find them all."""
    if not top.is_dir():
        return [top], False
    wanted = FilePattern(arguments.glob, top) if arguments.glob else None
    walk = Walk(top, Path(os.path.realpath(context.project)), deadline)
    ripgrep = candidates(arguments.pattern, walk, ignore_case=arguments.ignore_case)
    if ripgrep is not None:
        found, is_cut = ripgrep
    else:
        found = [Path(entry.path) for entry in walk.files() if entry.is_file(follow_symlinks=False)]
        is_cut = walk.is_cut
    start = len(str(top).rstrip("/")) + 1
    return sorted(file for file in found if wanted is None or wanted.matches(str(file)[start:])), is_cut


def _may_be_shown(file: Path, context: ToolContext) -> bool:
    return context.settings.share_values or not may_hold_data(file) or is_memory(file, context)


def _told(matches: Matches, notes: list[str], context: ToolContext, *, apart: bool) -> str:
    """Return the lines of a result; `apart` puts a mark between those that do not follow one another."""
    lines: list[str] = []
    size = 0
    is_cut = matches.is_cut
    for file, found in matches.rows:
        name = named(file, context)
        rows = _masked(file, found) if is_memory(file, context) else found
        previous = 0
        for number, is_match, text in rows:
            if apart and lines and (previous == 0 or number != previous + 1):
                lines.append("--")
            mark = ":" if is_match else "-"
            line = f"{name}{mark}{number}{mark}{text}".replace("\0", "\N{REPLACEMENT CHARACTER}")
            size += len(line) + 4
            if size > RESULT_CHARS:
                is_cut = True
                break
            lines.append(line)
            previous = number
        if size > RESULT_CHARS:
            break
    if not lines:
        lines.append("no line matches")
    if is_cut:
        notes.insert(0, "more lines match; narrow the search to see them")
    return "\n".join([*lines, *(f"({note})" for note in notes)])


def _masked(file: Path, rows: list[Row]) -> list[Row]:
    """Return the lines of a memory as they read when its credentials are masked."""
    lines = mask_credentials(read_text(file)[0]).split("\n")
    return [(n, is_match, lines[n - 1] if n <= len(lines) else "") for n, is_match, _ in rows]
