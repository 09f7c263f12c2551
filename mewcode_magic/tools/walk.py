"""The files below a folder, as `.gitignore` files and what is nobody's business leave them.

Links are named but not followed. `.git`, the recorded sessions and the copies that Jupyter makes are left out
wherever they lie. A folder that cannot be read is passed over.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.patterns import alternatives

__all__ = ["SKIPPED", "FilePattern", "Walk", "in_repository"]

SKIPPED = (".git", ".ipynb_checkpoints", ".mewcode/session", ".mewcode/sessions")
"""Folders that are left out, by their name or by their last two names."""
IGNORE_BYTES = 1_000_000
"""Bytes of a `.gitignore` file that are read."""

_Pattern: TypeAlias = tuple[bool, re.Pattern[str]]
"""Whether what it matches is left out, or kept after all; the last that matches decides."""
_Rules: TypeAlias = tuple[int, list[_Pattern]]
"""Where paths in the folder of a `.gitignore` begin, and its patterns."""
_BELOW = "ps_d"
"""The group that, in an expression of pathspec, ends a folder's name where the rest lies below it."""


@dataclass(slots=True)
class Walk:
    """One pass over the files below `top`; files that `.gitignore` names are left out.

    Rules of the folders above hold too: up to the repository's root, or, where there is none, up to `border`.
    They do not where they leave out `top` itself, which is then meant to be looked into all the same.
    """

    top: Path
    border: Path
    deadline: float
    """The `time.monotonic` at which it ends early."""
    is_cut: bool = field(default=False, init=False)
    """Whether it has ended early."""
    is_ignored: bool = field(init=False)
    """Whether rules of the folders above leave out `top` itself."""
    _above: list[_Rules] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._above = self._rules_above()
        self.is_ignored = _is_left_out(self.top, self._above)
        if self.is_ignored:
            self._above = []

    def files(self) -> Iterator[os.DirEntry[str]]:
        """Yield what is no folder, in no order."""
        pending = [(str(self.top), self._above)]
        while pending:
            if time.monotonic() > self.deadline:
                self.is_cut = True
                return
            folder, above = pending.pop()
            try:
                with os.scandir(folder) as found:
                    entries = list(found)
            except OSError:
                continue
            own = _patterns(folder) if any(entry.name == ".gitignore" for entry in entries) else []
            rules = [*above, (len(folder.rstrip("/")) + 1, own)] if own else above
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if (is_folder and _is_skipped(entry.path)) or _is_ignored(entry.path, rules, is_folder):
                    continue
                if is_folder:
                    pending.append((entry.path, rules))
                else:
                    yield entry

    def _rules_above(self) -> list[_Rules]:
        """Return the rules of the folders above, outermost first, each with where a path in it begins."""
        last = in_repository(self.top)
        if last is None and self.top.is_relative_to(self.border):
            last = self.border
        if last is None:
            return []
        folders = [str(folder) for folder in reversed(self.top.parents) if folder.is_relative_to(last)]
        return [
            (len(folder.rstrip("/")) + 1, patterns) for folder in folders if (patterns := _patterns(folder))
        ]


def in_repository(folder: Path) -> Path | None:
    """Return the root of the git repository in which a folder lies."""
    return next((parent for parent in (folder, *folder.parents) if os.path.lexists(parent / ".git")), None)


class FilePattern:
    """A pattern as in `.gitignore` that files are chosen by, with braces for alternatives.

    Raises:
        InvalidArgument: it is no pattern.
    """

    def __init__(self, pattern: str, top: Path) -> None:
        from pathspec import GitIgnoreSpec

        # A path that was written out in full means the same as one from the folder on.
        inner = pattern.removeprefix(f"{top}/") if pattern.startswith(f"{top}/") else pattern
        anchor = "/" if inner is not pattern or inner.startswith("./") else ""
        inner = inner.removeprefix("./").strip()
        self._negative = inner.startswith("!")
        inner = anchor + inner.removeprefix("!")
        if not inner.strip("/"):
            raise InvalidArgument(f"{pattern!r} names no files; give a pattern such as *.py or src/**/*.csv")
        if inner.startswith("#"):  # a comment there
            inner = "\\" + inner
        try:
            self._spec = GitIgnoreSpec.from_lines(alternatives(inner))
        except ValueError as error:
            raise InvalidArgument(f"{pattern!r} is no pattern as in .gitignore") from error

    def matches(self, path: str) -> bool:
        """Whether it chooses a file, given its path from the folder on."""
        return self._spec.match_file(path) != self._negative


def _is_skipped(folder: str) -> bool:
    return folder.endswith(tuple(f"/{name}" for name in SKIPPED))


def _is_ignored(path: str, rules: list[_Rules], is_folder: bool) -> bool:  # noqa: FBT001
    """Whether the innermost rule that names a file or folder says that it is left out."""
    for start, patterns in reversed(rules):
        inner = path[start:] + "/" * is_folder
        for leaves_out, regex in patterns:
            match = regex.match(inner)
            if match and _is_own(match):
                return leaves_out
    return False


def _is_own(match: re.Match[str]) -> bool:
    """Whether a match is of a path itself: pathspec's expressions match all that lies below a folder too.

    git asks about each folder on the way, so that a rule for one says nothing of the paths in it.
    """
    length = len(match.string)
    if _BELOW in match.re.groupindex:
        return match.end(_BELOW) in (-1, length)
    # `folder/**` is what lies in the folder, not the folder.
    return not (match.re.pattern.endswith("/") and match.end() == length)


def _is_left_out(folder: Path, rules: list[_Rules]) -> bool:
    """Whether rules leave out a folder, or one in which it lies."""
    return any(
        _is_ignored(str(one), [rule for rule in rules if rule[0] <= len(str(one))], is_folder=True)
        for one in (folder, *folder.parents)
    )


def _patterns(folder: str) -> list[_Pattern]:
    """Return the rules of a folder's `.gitignore`, the last first, without lines that are none."""
    path = Path(folder) / ".gitignore"
    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            lines = file.read(IGNORE_BYTES).decode("utf-8-sig", errors="replace").splitlines()
    except OSError:
        return []
    return [pattern for line in reversed(lines) for pattern in _compiled(line)]


def _compiled(line: str) -> list[_Pattern]:
    """Return what a line of a `.gitignore` says: one pattern, or none."""
    from pathspec import GitIgnoreSpec

    try:
        patterns = GitIgnoreSpec.from_lines([line]).patterns
    except ValueError:  # git passes over what is no pattern as well
        return []
    return [(one.include, _whole(one.regex)) for one in patterns if one.include is not None and one.regex]


def _whole(regex: re.Pattern[str]) -> re.Pattern[str]:
    """Return an expression that is matched from a path's beginning and takes the last of its folders."""
    return regex if regex.pattern.startswith("^") else re.compile(f"^.*{regex.pattern}", re.DOTALL)
