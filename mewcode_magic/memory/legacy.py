"""The older memory files, one `memories.md` a place, which go into the request for as long as they exist.

`<home>/memories.md` is about the person, `<project>/.mewcode/memories.md` about the project; each holds
`### heading` lines, and `- ` lines below them.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, replace
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import StorageError, one_line
from mewcode_magic.files import read_text
from mewcode_magic.memory.folder import MAX_BYTES
from mewcode_magic.memory.record import TYPES, Place
from mewcode_magic.messages import escape_tags
from mewcode_magic.project import main_checkout

__all__ = ["LegacyItem", "legacy_files", "legacy_items", "legacy_memories"]

FILE_NAME = "memories.md"

_HEADING = re.compile(r"\s*#+\s*(.*)")
_BULLET = re.compile(r"^\s*[-*+]\s+")
_TYPES = {
    "用户偏好": "user",
    "纠正反馈": "feedback",
    "项目知识": "project",
    "参考资料": "reference",
} | {kind: kind for kind in TYPES}
"""What the headings mean; the English ones are the types themselves."""


@dataclass(frozen=True, slots=True)
class LegacyItem:
    """One thing that an older file remembers."""

    text: str
    type: str
    """What its heading says; "" where that is none of the known ones."""
    line: int
    """Counted from 1."""


def legacy_memories(project_dir: Path | str, home: Path | str, *, settings: MewCode | None = None) -> str:
    """Return the text of the older memory files, ready for the request; "" if there are none.

    Each is cut to the limits of a memory index, in whole lines. It is escaped, and its headings are of the
    third level, so that none passes for a section of the request. Credentials are masked. What cannot be
    read, or is larger than a memory may be, is left out.
    """
    settings = settings or MewCode()
    files = legacy_files(project_dir, home).values()
    return "\n\n".join(text for path in files if (text := _text(path, settings)))


def legacy_files(project_dir: Path | str, home: Path | str) -> dict[Place, Path]:
    """Return where the older memory files of both places stand, or would; one file is named once."""
    project = main_checkout(Path(project_dir))
    ours, own = project / ".mewcode" / FILE_NAME, Path(home) / FILE_NAME
    # What a repository brings may not lead out of it; one's own file may be a link to anywhere.
    inside = Path(os.path.realpath(ours)).is_relative_to(os.path.realpath(project))
    if not inside or os.path.realpath(ours) == os.path.realpath(own):
        return {"user": own}
    return {"project": ours, "user": own}


def _text(path: Path, settings: MewCode) -> str:
    """Return what one file says, below a line that names it."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return ""
        lines = _lines(mask_credentials(read_text(path)[0]))
    except (OSError, StorageError):
        return ""
    if not lines:
        return ""
    kept, size = 0, 0
    for line in lines[: settings.index_max_lines]:
        size += len(line.encode()) + 1
        if size > settings.index_max_bytes:
            break
        kept += 1
    shown = [one_line(f"Older memory file: {path}"), *lines[:kept]]
    if kept < len(lines):
        shown.append(f"({len(lines) - kept} more lines of this file are not shown.)")
    return escape_tags("\n".join(shown))


def _lines(text: str) -> list[str]:
    """Return the lines that say something: no blank ones, no heading with nothing below it."""
    lines: list[str] = []
    heading = ""
    for line in text.replace("\0", "").splitlines():
        if match := _HEADING.fullmatch(line):
            heading = f"### {match[1].strip()}"
        elif line.strip():
            lines += [heading, line.rstrip()] if heading else [line.rstrip()]
            heading = ""
    return lines


def legacy_items(text: str) -> list[LegacyItem]:
    """Return what an older memory file says: its `- ` lines with what is indented below them.

    A line that is neither that nor a heading was written by hand, and is an item of its own.
    """
    items: list[LegacyItem] = []
    heading, goes_on = "", False
    for number, line in enumerate(text.splitlines(), 1):
        if match := _HEADING.fullmatch(line):
            heading, goes_on = match[1].strip(" \t#:\uff1a"), False
        elif goes_on and line.strip() and line[0] in " \t":
            items[-1] = replace(items[-1], text=f"{items[-1].text}\n{line.strip()}")
        else:
            said = _BULLET.sub("", line, count=1).strip()
            goes_on = bool(said.strip("-*+_="))  # else it is blank, or a rule
            if goes_on:
                items.append(LegacyItem(said, _TYPES.get(heading.casefold(), ""), number))
    return items
