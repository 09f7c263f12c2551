"""The older memory files, one `memories.md` a place, which go into the request for as long as they exist.

`<home>/memories.md` is about the person, `<project>/.mewcode/memories.md` about the project; each holds
`### heading` lines, and `- ` lines below them.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.errors import StorageError, one_line
from mewcode_magic.files import read_text
from mewcode_magic.memory.folder import MAX_BYTES
from mewcode_magic.messages import escape_tags
from mewcode_magic.project import main_checkout

__all__ = ["legacy_memories"]

FILE_NAME = "memories.md"

_HEADING = re.compile(r"\s*#+\s*(.*)")


def legacy_memories(project_dir: Path | str, home: Path | str, *, settings: MewCode | None = None) -> str:
    """Return the text of the older memory files, ready for the request; "" if there are none.

    Each is cut to the limits of a memory index, in whole lines. It is escaped, and its headings are of the
    third level, so that none passes for a section of the request. What cannot be read, or is larger than a
    memory may be, is left out.
    """
    settings = settings or MewCode()
    home, project = Path(home), main_checkout(Path(project_dir))
    ours, own = project / ".mewcode" / FILE_NAME, home / FILE_NAME
    # What a repository brings may not lead out of it; one's own file may be a link to anywhere.
    inside = Path(os.path.realpath(ours)).is_relative_to(os.path.realpath(project))
    files = {os.path.realpath(path): path for path in ([ours, own] if inside else [own])}
    return "\n\n".join(text for path in files.values() if (text := _text(path, settings)))


def _text(path: Path, settings: MewCode) -> str:
    """Return what one file says, below a line that names it."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return ""
        lines = _lines(read_text(path)[0])
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
