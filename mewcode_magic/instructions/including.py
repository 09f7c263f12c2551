"""Reading the files that instruct, each once, with what their `@include` lines bring in.

A line `@include PATH` is replaced by that file, whose own lines are followed in turn. PATH is relative to the
folder of the including file, may hold spaces, stand in quotes, or begin with `~`. Code fences and HTML
comments are left alone. Nothing outside the bound of a place is read: for a file of the project that is the
project, for any other its own folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from mewcode_magic.config import MewCode
from mewcode_magic.errors import StorageError, one_line
from mewcode_magic.files import is_foreign, is_planted, read_text, shown

__all__ = ["LeftOut", "Place", "Raw", "Reader", "check_inside", "stands"]

MOST_NOTICES = 50
"""Notices of one reading that are told one by one."""

MANAGED_BYTES = 100_000
"""Bytes of one file that is managed."""
MANAGED_DEPTH = 5
"""Deepest nesting of `@include` in one that is managed."""

_Identity: TypeAlias = tuple[int, int]
"""Device and inode: the same through links, and through other spellings where the case does not count."""

_INCLUDE = re.compile(r"@include[ \t]+(\S.*)")
# A block may stand in a list item, so any indentation and any list markers may come before its fence.
_OPENING = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*")


@dataclass(frozen=True, slots=True)
class Place:
    """A file that instructs because of where it lies."""

    path: Path
    bound: Path
    """The folder out of which it may bring in nothing."""
    may_lead_out: bool = False
    """Whether it may itself be a link out of there, as one's own may lead into a folder of dotfiles."""
    own_only: bool = False
    """Whether files that another user may have written are left out."""
    is_managed: bool = False
    """Whether it is the machine's, which no setting can push aside."""


@dataclass(frozen=True, slots=True)
class Raw:
    r"""A file's text as it stands, with line ends as `\n`."""

    text: str
    identity: _Identity


class LeftOut(Exception):
    """A file that is not taken: why, in a few words for the agent, and what the user can do about it."""

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.notice = f"was left out: {reason}" + (f"; {advice}" if advice else "")


class Reader:
    """One reading of several places: what has been taken so far, and what has to be said about it.

    `told`: files that the agent has been told already; they are not taken once more. `files` are those that
    were taken, in the order of their first line.
    """

    def __init__(self, settings: MewCode, *, told: Iterable[Path] = ()) -> None:
        self.files: list[Path] = []
        self._settings = settings
        self._notices: list[str] = []
        self._taken_bytes = 0
        self._seen = {identity for path in told if (identity := _identity(path)) is not None}

    @property
    def notices(self) -> list[str]:
        """What was left out or needs a look, one line each; of very many the first."""
        more = len(self._notices) - MOST_NOTICES
        told = self._notices[:MOST_NOTICES]
        return [*told, f"{more:,} more instruction files were left out or need a look"] if more > 0 else told

    def note(self, path: Path, said: str | LeftOut) -> None:
        """Keep a notice on a file."""
        self._note(f"{shown(path)} {said.notice if isinstance(said, LeftOut) else said}")

    def read(self, place: Place) -> str:
        """Return the text of a place with its includes, or "" where nothing is taken."""
        raw = self.look(place)
        return "" if raw is None else self.take(raw, place)

    def look(self, place: Place) -> Raw | None:
        """Return the file of a place as it stands; it is not taken yet.

        None if there is none, or it was taken before, or cannot be, which is noted.
        """
        if not stands(place.path):
            return None
        try:
            if not place.may_lead_out:
                check_inside(place.path, place.bound)
            return self._read(place.path, place)
        except LeftOut as reason:
            self.note(place.path, reason)
            return None

    def take(self, raw: Raw, place: Place, *, skip_lines: int = 0) -> str:
        """Return a file's text with its includes, without its first `skip_lines` lines."""
        text = "\n".join(raw.text.split("\n")[skip_lines:])
        if not text.strip():
            return ""
        try:
            self._count(raw, place)
        except LeftOut as reason:
            self.note(place.path, reason)
            return ""
        self.files.append(place.path)
        return self._expand(text, place.path, place, depth=0, skipped=skip_lines).strip("\n")

    def _expand(self, text: str, path: Path, place: Place, *, depth: int, skipped: int = 0) -> str:
        """Return `text`, the content of `path`, with its `@include` lines replaced."""
        lines = text.split("\n")
        expanded = []
        deepest = MANAGED_DEPTH if place.is_managed else self._settings.include_depth
        for number, (line, literal) in enumerate(zip(lines, _literal(lines), strict=True), start=1 + skipped):
            include = None if literal else _INCLUDE.fullmatch(line)
            if include is None:
                expanded.append(line)
                continue
            name = _unquoted(include[1].rstrip())
            where = f"{shown(path)}, line {number}: @include {name}"
            if depth >= deepest:
                self._note(f"{where} was not followed: nested deeper than {deepest} files")
                expanded.append(line)
                continue
            try:
                included = self._include(path.parent / os.path.expanduser(name), place, depth=depth + 1)  # noqa: PTH111
            except LeftOut as reason:
                self._note(f"{where} {reason.notice}")
                included = f"<!-- @include blocked: {reason} -->"
            if included is not None:
                expanded.append(included)
        return "\n".join(expanded)

    def _include(self, path: Path, place: Place, *, depth: int) -> str | None:
        """Return an included file's text with its own includes, or None if it stands already."""
        target = check_inside(path, place.bound)
        raw = self._read(path, place)
        if raw is None:
            return None
        self._count(raw, place)
        self.files.append(target)
        return self._expand(raw.text, path, place, depth=depth).removesuffix("\n")

    def _read(self, path: Path, place: Place) -> Raw | None:
        """Return a file as it stands, or None if it was taken before under any name."""
        status = _status(path)
        identity = status.st_dev, status.st_ino
        if identity in self._seen:
            return None
        if is_foreign(path) if place.own_only else is_planted(path):
            raise LeftOut(
                "another user may have written it",
                "outside your home folder, only what you or root alone can write is taken from there",
            )
        if not stat.S_ISREG(status.st_mode):
            raise LeftOut("a folder, not a file" if stat.S_ISDIR(status.st_mode) else "not a regular file")
        limit = MANAGED_BYTES if place.is_managed else self._settings.include_max_bytes
        if status.st_size > limit:
            advice = "" if place.is_managed else "MewCode.include_max_bytes sets the limit"
            raise LeftOut(f"larger than {limit:,} bytes", advice)
        try:
            text, is_utf8 = read_text(path)
        except StorageError as error:
            raise LeftOut("file cannot be read", "check its permissions") from error
        if "\0" in text:
            raise LeftOut("binary file", "only UTF-8 text is read")
        if not is_utf8:
            self.note(path, "is not UTF-8 throughout: parts are unreadable; save it as UTF-8")
        return Raw(text.replace("\r\n", "\n").replace("\r", "\n"), identity)

    def _note(self, text: str) -> None:
        self._notices.append(one_line(text))

    def _count(self, raw: Raw, place: Place) -> None:
        """Count a file as taken, if all of them together do not become too much."""
        limit = self._settings.instructions_max_bytes
        size = len(raw.text.encode("utf-8", errors="replace"))
        if self._taken_bytes + size > limit and not place.is_managed:
            raise LeftOut(
                f"instructions are larger than {limit:,} bytes together",
                "MewCode.instructions_max_bytes sets the limit",
            )
        self._taken_bytes += size
        self._seen.add(raw.identity)


def stands(path: Path) -> bool:
    """Whether something is there, if only a broken link or something that may not be looked at."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def check_inside(path: Path, bound: Path) -> Path:
    """Return `path` with links resolved; raise LeftOut if it lies outside `bound`."""
    # os.path.realpath, unlike Path.resolve, takes links that lead in a circle.
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(bound)):
        raise LeftOut("path outside project", f"only files inside {shown(bound)} are read")
    return target


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except FileNotFoundError as error:
        raise LeftOut("broken link" if path.is_symlink() else "file not found") from error
    except NotADirectoryError as error:
        raise LeftOut("file not found", "a file stands where its folder should be") from error
    except OSError as error:
        raise LeftOut("file cannot be read", error.strerror or "") from error


def _identity(path: Path) -> _Identity | None:
    try:
        status = path.stat()
    except OSError:  # it is gone
        return None
    return status.st_dev, status.st_ino


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
