"""Changing one text file of the project: what may be changed, how it is kept, and what the user is shown.

A file that stands must have been read in this session and be as it was then. Its line ends, its BOM, its
permissions and the lines that are not touched stay as they are.
"""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from mewcode_magic.errors import InvalidArgument, StorageError
from mewcode_magic.files import shown, state_of, storage_errors, write_atomic
from mewcode_magic.reading import opened
from mewcode_magic.tools.diff import unified_diff
from mewcode_magic.tools.paths import file_action, is_inside, is_memory, named, real_path
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext

__all__ = [
    "Change",
    "change_of",
    "changeable_path",
    "current_text",
    "encodable",
    "in_the_form_of",
    "newline_of",
    "writing_action",
]

MOST_BYTES = 20_000_000
"""Bytes of a file that is changed; it is held in memory several times."""
WRITERS = ("WriteFile", "EditFile")
"""What a rule denies to one of them, the other may not do either."""

Newline = Literal["\n", "\r\n"]


@dataclass(frozen=True, slots=True)
class Change:
    """A file's text before and after, as it stands in the file; `before` is None if there is no file."""

    real: Path
    before: str | None
    after: str

    def diff(self, name: str) -> str:
        """Return the change as a unified diff."""
        return unified_diff(self.before, self.after, name)

    def write(self, context: ToolContext) -> None:
        """Write the file, and note its new state as known to the agent.

        Raises:
            StorageError: it cannot be written, or its path leads elsewhere by now; what stood there stands.
        """
        if os.path.realpath(self.real) != str(self.real):
            raise StorageError(f"a link has taken the place of {shown(self.real)}; read it again")
        with storage_errors("write", self.real):
            self.real.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self.real, self.after, mode=0o666 & ~_umask())
        with storage_errors("read", self.real):
            context.read[self.real] = state_of(self.real.stat())


def changeable_path(text: str, context: ToolContext) -> Path:
    """Return the file that a path in a call means, if files there may be written by hand.

    Raises:
        InvalidArgument: it is no path, or its place is written in another way only.
        StorageError: it cannot be looked up.
    """
    real = real_path(text, context)
    name = named(real, context)
    own = Path(os.path.realpath(context.project)) / ".mewcode"
    if is_memory(real, context) or real == own / "memories.md":
        raise InvalidArgument(f"{name} belongs to the memories, which only Remember changes")
    if any(real.is_relative_to(own / folder) for folder in ("sessions", "session")):
        raise InvalidArgument(f"{name} belongs to the recorded sessions, which are not changed")
    if any(part.casefold() == ".git" for part in real.parts):
        raise InvalidArgument(f"{name} belongs to git itself; change it by a git command")
    return real


def current_text(real: Path, context: ToolContext) -> str | None:
    """Return the text of a file that stands, with its BOM and line ends, or None if there is none.

    Raises:
        InvalidArgument: the agent has not read it, or not as it is now.
        StorageError: it is no regular file, not UTF-8, write-protected, too large, or cannot be read.
    """
    name = named(real, context)
    try:
        with storage_errors("read", real):
            status = real.stat()
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    with opened(real) as file:
        if real not in context.read:
            raise InvalidArgument(f"{name} stands already and was not read in this session; read it first")
        if context.read[real] != state_of(os.fstat(file.fileno())):
            raise InvalidArgument(f"{name} has changed since it was read; read it again")
        data = file.read(MOST_BYTES + 1)
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise StorageError(f"cannot write {name}: it is write-protected; change its permissions")
    if len(data) > MOST_BYTES:
        raise StorageError(f"{name} is larger than {MOST_BYTES:,} bytes; change it in code")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise StorageError(
            f"{name} is not UTF-8, and would be damaged by a change; convert it first"
        ) from error


def change_of(real: Path, before: str | None, after: str) -> Change:
    """Return a change that may be made.

    Raises:
        InvalidArgument: a notebook would be none any more.
    """
    if real.suffix.lower() == ".ipynb" and after.strip():
        try:
            orjson.loads(after)
        except orjson.JSONDecodeError as error:
            raise InvalidArgument(
                f"{real.name} would be no notebook any more, for it must be JSON"
            ) from error
    return Change(real, before, after)


def writing_action(tool: str, change: Change, context: ToolContext) -> Action:
    """Return the action that writes a change; the user is shown the diff."""
    name = named(change.real, context)
    elsewhere = "" if is_inside(change.real, context) else ", outside the project"
    question = f"{'Create' if change.before is None else 'Change'} {name}{elsewhere}?"
    return file_action(
        tool, "edit", change.real, context, question=question, detail=change.diff(name), denied_as=WRITERS
    )


def encodable(text: str, argument: str) -> str:
    """Return a text that a file can hold.

    Raises:
        InvalidArgument: it holds half a character.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"{argument} holds half of a surrogate pair, which no file in UTF-8 can hold"
        ) from error
    return text


def newline_of(text: str) -> Newline:
    """Return the line end that most lines of a text have."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"


def in_the_form_of(before: str, text: str) -> str:
    """Return a text with the BOM and the line ends of the file that it replaces."""
    bom = codecs.BOM_UTF8.decode()
    if before.startswith(bom) and not text.startswith(bom):
        text = bom + text
    if newline_of(before) == "\r\n" and "\r\n" not in text:
        text = text.replace("\n", "\r\n")
    return text


def _umask() -> int:
    """Return which permissions new files are not given."""
    mask = os.umask(0o077)  # it can only be read by setting it; another thread's file is private at most
    os.umask(mask)
    return mask
