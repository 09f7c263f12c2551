"""`EditFile`: replaces a text that a file holds exactly once, or each time that it holds it."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Annotated, Any

import msgspec

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.tools.change import (
    Change,
    change_of,
    changeable_path,
    current_text,
    encodable,
    newline_of,
    writing_action,
)
from mewcode_magic.tools.paths import named
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["EditFile"]

MOST_FOUND = 1_000
"""Occurrences that are counted of a text that should occur once."""
MOST_PLACES = 20
"""Line numbers that are named."""
COMPARED_LINES = 2_000
"""Lines among which one that is nearly the same is looked for."""
QUOTED_CHARS = 160
"""Characters that are quoted of a line."""

_NUMBERED = re.compile(r"\s*\d+\t")


class EditFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `EditFile`."""

    path: Annotated[
        str, msgspec.Meta(description="The file, relative to the project or absolute.", min_length=1)
    ]
    old: Annotated[
        str,
        msgspec.Meta(
            description="The text to replace, exactly as in the file with all white space, without the line "
            "numbers that ReadFile shows; with enough around it to occur only once."
        ),
    ]
    new: Annotated[str, msgspec.Meta(description="The text to put in its place.")]
    replace_all: Annotated[
        bool, msgspec.Meta(description="Replace every occurrence rather than the only one.")
    ] = False


@dataclass(frozen=True, slots=True)
class _Edit:
    change: Change
    lines: list[int]
    """The lines, as they were, in which something is replaced."""


class EditFile:
    """Changes parts of files; the user is asked with the diff before the eyes."""

    name = "EditFile"
    description = (
        "Change a text file by replacing an exact text, which must occur once unless replace_all is set. "
        "The file must have been read with ReadFile in this session and be unchanged since. Memories are "
        "changed with Remember, never as files."
    )
    Arguments = EditFileArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, EditFileArguments)

    def action(self, arguments: EditFileArguments, context: ToolContext) -> Action:
        """Return what would change, as a diff."""
        return writing_action(self.name, _planned(arguments, context).change, context)

    def run(self, arguments: EditFileArguments, context: ToolContext) -> ToolRun:
        """Make the change, unless the file has changed while the user was asked."""
        yield from ()  # nothing but the result is to be seen
        edit = _planned(arguments, context)
        edit.change.write(context)
        name = named(edit.change.real, context)
        return ToolResult(
            f"Edited {name}: {_times(len(edit.lines))} replaced, at {_places(edit.lines)}.",
            detail=edit.change.diff(name),
            language="diff",
        )


def _planned(arguments: EditFileArguments, context: ToolContext) -> _Edit:
    """Return the edit that a call asks for.

    Raises:
        InvalidArgument: the text is not in the file, or not once, or nothing would change.
        StorageError: the file cannot be read, or not be kept as it is.
    """
    real = changeable_path(arguments.path, context)
    name = named(real, context)
    before = current_text(real, context)
    if before is None:
        raise InvalidArgument(f"there is no file {name}; WriteFile creates one")
    # ReadFile shows no carriage returns, so that texts are compared without them.
    text = before.replace("\r\n", "\n")
    old = encodable(arguments.old, "old").replace("\r\n", "\n")
    new = encodable(arguments.new, "new").replace("\r\n", "\n")
    if not old:
        raise InvalidArgument("old is empty; give the text that is to be replaced")
    if old == new:
        raise InvalidArgument("old and new are the same; nothing would change")
    found = _occurrences(text, old, overlapping=not arguments.replace_all)
    if not found and real.suffix.lower() == ".ipynb":
        raise InvalidArgument(
            f"{name} does not hold this text: a notebook is JSON, unlike what ReadFile shows"
        )
    if not found:
        raise InvalidArgument(f"{name} does not hold this text{_hint(text, old)}")
    lines = _line_numbers(text, found)
    if len(found) > 1 and not arguments.replace_all:
        count = _times(len(found)) + (" or more" if len(found) == MOST_FOUND else "")
        raise InvalidArgument(
            f"{name} holds this text {count}, at {_places(lines)}; give more of the text around the right "
            "one, or set replace_all"
        )
    return _Edit(change_of(real, before, _replaced(before, found, old, new)), lines)


def _replaced(before: str, found: list[int], old: str, new: str) -> str:
    """Return a file's text with each occurrence replaced; `found` counts its line ends as one character.

    What is not replaced keeps its line ends, also where a file mixes them.
    """
    new = new.replace("\n", newline_of(before))
    returns = [match.start() - n for n, match in enumerate(re.finditer("\r\n", before))]

    def place(index: int) -> int:
        return index + bisect_left(returns, index)

    parts = []
    end = 0
    for start in found:
        parts += [before[end : place(start)], new]
        end = place(start + len(old))
    return "".join([*parts, before[end:]])


def _occurrences(text: str, old: str, *, overlapping: bool) -> list[int]:
    found: list[int] = []
    start = text.find(old)
    while start >= 0 and not (overlapping and len(found) == MOST_FOUND):
        found.append(start)
        start = text.find(old, start + (1 if overlapping else len(old)))
    return found


def _line_numbers(text: str, found: list[int]) -> list[int]:
    numbers = []
    number, position = 1, 0
    for start in found:
        number += text.count("\n", position, start)
        position = start
        numbers.append(number)
    return numbers


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _places(lines: list[int]) -> str:
    numbers = sorted(set(lines))
    more = f" and {len(numbers) - MOST_PLACES:,} more" if len(numbers) > MOST_PLACES else ""
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:MOST_PLACES]))}{more}"


def _hint(text: str, old: str) -> str:
    """Return what may be wrong with a text that a file does not hold, and where the nearest one is."""
    if all(_NUMBERED.match(line) for line in old.splitlines() if line.strip()):
        return "; leave out the line numbers"
    lines = text.split("\n")
    wanted = [" ".join(line.split()) for line in old.strip().split("\n")]
    plain = [" ".join(line.split()) for line in lines]
    for index, line in enumerate(plain):
        if line == wanted[0] and plain[index : index + len(wanted)] == wanted:
            return f", but at line {index + 1} one with other white space: {_quoted(lines[index])}"
    key = max(wanted, key=len)[:QUOTED_CHARS]
    candidates = {line[:QUOTED_CHARS]: n for n, line in islice(enumerate(plain, start=1), COMPARED_LINES)}
    near = sorted(candidates[line] for line in get_close_matches(key, candidates, n=3))
    if not near:
        return "; read it again"
    return "; the nearest lines are " + ", ".join(f"{n}: {_quoted(lines[n - 1])}" for n in near)


def _quoted(line: str) -> str:
    return repr(line if len(line) <= QUOTED_CHARS else line[:QUOTED_CHARS] + "…")
