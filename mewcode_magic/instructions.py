"""The instruction files: which there are, their order, and what `@include` lines bring in.

Highest first: `<project>/MEWCODE.md`, `<project>/.mewcode/MEWCODE.md`, `<home>/MEWCODE.md`, joined by a line
`---`. A line `@include PATH` is replaced by that file, whose own lines are followed in turn. PATH is relative
to the folder of the including file, may hold spaces, stand in quotes, or begin with `~`. Code fences and HTML
comments are left alone. Nothing outside the project (for the home's file: outside home) is read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.errors import StorageError, one_line
from mewcode_magic.files import read_text, shown

__all__ = ["FILE_NAME", "Instructions", "load_instructions"]

FILE_NAME = "MEWCODE.md"
SEPARATOR = "\n---\n"

_INCLUDE = re.compile(r"@include[ \t]+(\S.*)")
# A block may stand in a list item, so any indentation and any list markers may come before its fence.
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*")


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the instruction files say.

    `text` is as written, to be escaped by whoever wraps it. `files` are those that stand in it, the included
    ones too, in the order of their first line. `notices` say in one line each what was left out, and why.
    """

    text: str
    files: list[Path]
    notices: list[str]


def load_instructions(
    project_dir: Path | str, home: Path | str, *, settings: MewCode | None = None
) -> Instructions:
    """Read the instruction files of a project and of `home`, the user's MewCode folder.

    Whatever cannot be read is left out with a notice; it never raises.
    """
    project, home = Path(project_dir), Path(home)
    reader = _Reader(settings or MewCode())
    texts = [
        reader.read_place(project / FILE_NAME, project),
        reader.read_place(project / ".mewcode" / FILE_NAME, project),
        # One's own file may be a link into a folder of dotfiles; what a repository brings may not lead out.
        reader.read_place(home / FILE_NAME, home, may_lead_out=True),
    ]
    return Instructions(SEPARATOR.join(t for t in texts if t), reader.files, reader.notices)


class _LeftOut(Exception):
    """A file that is not taken: why, in a few words for the agent, and what the user can do about it."""

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.notice = f"was left out: {reason}" + (f"; {advice}" if advice else "")


class _Reader:
    """One reading of all the places: what has been read so far, and what has to be said about it."""

    def __init__(self, settings: MewCode) -> None:
        self.files: list[Path] = []
        self.notices: list[str] = []
        self._max_depth = settings.include_depth
        self._max_bytes = settings.include_max_bytes
        self._seen: set[tuple[int, int]] = set()

    def read_place(self, path: Path, bound: Path, *, may_lead_out: bool = False) -> str:
        """Return the text of one of the three files with its includes, or "" where there is none."""
        if not _stands(path):
            return ""
        try:
            if not may_lead_out:
                _check_inside(path, bound)
            text = self._read(path)
        except _LeftOut as reason:
            self._notice(f"{shown(path)} {reason.notice}")
            return ""
        if text is None or not text.strip():
            return ""
        self.files.append(path)
        return self._expand(text, path, bound, depth=0).strip("\n")

    def _expand(self, text: str, path: Path, bound: Path, *, depth: int) -> str:
        """Return `text`, the content of `path`, with its `@include` lines replaced."""
        lines = text.split("\n")
        expanded = []
        for number, (line, literal) in enumerate(zip(lines, _literal(lines), strict=True), start=1):
            include = None if literal else _INCLUDE.fullmatch(line)
            if include is None:
                expanded.append(line)
                continue
            name = _unquoted(include[1].rstrip())
            where = f"{shown(path)}, line {number}: @include {name}"
            if depth >= self._max_depth:
                self._notice(f"{where} was not followed: nested deeper than {self._max_depth} files")
                expanded.append(line)
                continue
            try:
                included = self._include(path.parent / os.path.expanduser(name), bound, depth=depth + 1)  # noqa: PTH111
            except _LeftOut as reason:
                self._notice(f"{where} {reason.notice}")
                included = f"<!-- @include blocked: {reason} -->"
            if included is not None:
                expanded.append(included)
        return "\n".join(expanded)

    def _include(self, path: Path, bound: Path, *, depth: int) -> str | None:
        """Return an included file's text with its own includes, or None if it stands already."""
        target = _check_inside(path, bound)
        text = self._read(path)
        if text is None:
            return None
        self.files.append(target)
        return self._expand(text, path, bound, depth=depth).removesuffix("\n")

    def _read(self, path: Path) -> str | None:
        r"""Return a file's text with line ends as `\n`, or None if it was read before under any name."""
        try:
            status = path.stat()
        except FileNotFoundError as error:
            raise _LeftOut("broken link" if path.is_symlink() else "file not found") from error
        except NotADirectoryError as error:
            raise _LeftOut("file not found", "a file stands where its folder should be") from error
        except OSError as error:
            raise _LeftOut("file cannot be read", error.strerror or "") from error
        # The inode is the same through links, and through other spellings where the case does not count.
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise _LeftOut("a folder, not a file" if stat.S_ISDIR(status.st_mode) else "not a regular file")
        if status.st_size > self._max_bytes:
            raise _LeftOut(
                f"larger than {self._max_bytes:,} bytes", "MewCode.include_max_bytes sets the limit"
            )
        try:
            text, is_utf8 = read_text(path)
        except StorageError as error:
            raise _LeftOut("file cannot be read", "check its permissions") from error
        if "\0" in text:
            raise _LeftOut("binary file", "only UTF-8 text is read")
        if not is_utf8:
            self._notice(f"{shown(path)} is not UTF-8 throughout: parts are unreadable; save it as UTF-8")
        self._seen.add(identity)
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _notice(self, text: str) -> None:
        self.notices.append(one_line(text))


def _stands(path: Path) -> bool:
    """Whether something is there, if only a broken link or something that may not be looked at."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _check_inside(path: Path, bound: Path) -> Path:
    """Return `path` with links resolved; raise _LeftOut if it lies outside `bound`."""
    # os.path.realpath, unlike Path.resolve, takes links that lead in a circle.
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(bound)):
        raise _LeftOut("path outside project", f"only files inside {shown(bound)} are read")
    return target


def _unquoted(name: str) -> str:
    """Return a path without the pair of quotes that it may stand in."""
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'`":
        return name[1:-1]
    return name


def _literal(lines: list[str]) -> Iterator[bool]:
    """Yield for each line of a Markdown text whether it belongs to a fenced code block or an HTML comment.

    As in CommonMark: a fence is closed by one of its own kind, at least as long, with nothing after it.
    """
    fence = ""
    in_comment = False
    for line in lines:
        if in_comment:
            in_comment = "-->" not in line
            yield True
        elif fence:
            closing = _CLOSING.fullmatch(line)
            if closing and closing[1].startswith(fence):
                fence = ""
            yield True
        elif opening := _OPENING.match(line):
            fence = opening[1]
            yield True
        else:
            in_comment = line.lstrip().startswith("<!--") and "-->" not in line
            yield in_comment
