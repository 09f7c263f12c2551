"""Which file a path in a call means, and on which side of the project's border it lies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.files import storage_errors
from mewcode_magic.memory import PLACES

if TYPE_CHECKING:
    from mewcode_magic.tools.tool import ToolContext

__all__ = ["is_inside", "is_memory", "matches", "real_path"]


def real_path(text: str, context: ToolContext) -> Path:
    """Return the file that a path means, relative to the project or absolute, with all links resolved.

    Raises:
        InvalidArgument: it is no path.
        StorageError: it cannot be looked up.
    """
    if "\0" in text:
        raise InvalidArgument("a path cannot hold a NUL character")
    try:
        path = context.project / Path(text).expanduser()
    except RuntimeError as error:
        raise InvalidArgument(f"{text!r} begins with the home of a user that does not exist") from error
    with storage_errors("read", path):
        return Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for links in a circle


def is_inside(real: Path, context: ToolContext) -> bool:
    """Whether a resolved path lies in the project."""
    return real.is_relative_to(os.path.realpath(context.project))


def is_memory(real: Path, context: ToolContext) -> bool:
    """Whether a resolved path lies in a memory folder."""
    folders = (os.path.realpath(context.memory.folder(place)) for place in PLACES)
    return any(real.is_relative_to(folder) for folder in folders)


def matches(pattern: str, real: Path, context: ToolContext) -> bool:
    """Whether a pattern as in `.gitignore` names a resolved path.

    It is relative to the project; one that begins with `/` or `~` is absolute.
    """
    from pathspec import GitIgnoreSpec

    if pattern.startswith(("/", "~")):
        spec, base = str(Path(pattern).expanduser()), Path(real.anchor)
    else:
        spec, base = pattern, Path(os.path.realpath(context.project))
    if not real.is_relative_to(base):
        return False
    return GitIgnoreSpec.from_lines([spec]).match_file(real.relative_to(base).as_posix())
