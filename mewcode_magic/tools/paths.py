"""Which file a path in a call means, on which side of the border it lies, and what rules say of it."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mewcode_magic.errors import InvalidArgument, SettingError, one_line
from mewcode_magic.files import storage_errors
from mewcode_magic.instructions import is_instruction_file
from mewcode_magic.memory import PLACES
from mewcode_magic.tools.permissions import Action, Kind

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from mewcode_magic.tools.tool import ToolContext

__all__ = ["file_action", "is_denied", "is_inside", "is_memory", "matches", "named", "real_path"]


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


def matches(pattern: str, real: Path, context: ToolContext, *, is_folder: bool = False) -> bool:
    """Whether a pattern as in `.gitignore` names a resolved path.

    It is relative to the project; one that begins with `/` or `~` is absolute.

    Raises:
        SettingError: it is no pattern.
    """
    if pattern.startswith(("/", "~")):
        spec, base = str(Path(pattern).expanduser()), Path(real.anchor)
    else:
        spec, base = pattern, Path(os.path.realpath(context.project))
    if not real.is_relative_to(base):
        return False
    try:
        return _compiled(spec).match_file(real.relative_to(base).as_posix() + "/" * is_folder)
    except ValueError as error:
        raise SettingError(f"a rule holds {pattern!r}, which is no pattern as in .gitignore") from error


@lru_cache(maxsize=256)  # a search asks of each file that it finds
def _compiled(pattern: str) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern])


def named(real: Path, context: ToolContext) -> str:
    """Return a file's path as the agent may give it back: relative to the project where it lies there.

    What could forge another line of a result is replaced.
    """
    project = os.path.realpath(context.project)
    path = real.relative_to(project) if real.is_relative_to(project) else real
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in path.as_posix())


def file_action(
    tool: str,
    kind: Kind,
    real: Path,
    context: ToolContext,
    *,
    question: str,
    detail: str = "",
    denied_as: tuple[str, ...] = (),
) -> Action:
    """Return the action of a tool on a file or a folder, to which rules with patterns apply.

    The agent's own folders of memory may be read like the project. “Always” means all of a file's folder.
    """
    is_folder = real.is_dir()

    def is_meant(pattern: str) -> bool:
        return matches(pattern, real, context, is_folder=is_folder)

    inside = is_inside(real, context) or (kind == "read" and is_memory(real, context))
    if kind == "edit" and _instructs(real, context):
        inside = False  # what stands there is followed in every later session, so the user decides
    return Action(
        tool,
        kind,
        one_line(question),
        detail,
        "diff" if detail else "",
        path=real,
        inside=inside,
        always=f"{tool}({_folder_pattern(real if is_folder else real.parent, context)})",
        covered_by=is_meant,
        touched_by=is_meant,
        denied_as=denied_as,
    )


def _instructs(real: Path, context: ToolContext) -> bool:
    told = context.instructions
    return is_instruction_file(real, context.settings) or (told is not None and told.has_told(real))


def is_denied(real: Path, context: ToolContext, *tools: str) -> bool:
    """Whether a deny rule for one of the tools forbids what a search has found."""
    if not context.settings.deny:
        return False
    action = Action(
        tools[0],
        "read",
        "",
        touched_by=lambda pattern: matches(pattern, real, context),
        denied_as=tools[1:],
    )
    return context.permissions.decide(action)[0] == "no"


def _folder_pattern(folder: Path, context: ToolContext) -> str:
    """Return the pattern for all that lies in a folder."""
    project = Path(os.path.realpath(context.project))
    if folder == project:
        return "*"
    base = folder.relative_to(project) if folder.is_relative_to(project) else folder
    return re.sub(r"[\\\[\]*?!# ]", r"\\\g<0>", base.as_posix()) + "/*"
