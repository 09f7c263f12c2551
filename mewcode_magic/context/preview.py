"""What is sent in place of a result that is too long or too old, and reading off it what was left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from mewcode_magic.errors import StorageError
from mewcode_magic.instructions import split_joined
from mewcode_magic.reading import LINE_CHARS

__all__ = ["IMAGE_LEFT_OUT", "aged", "moved_to_file", "squeezed", "why_trimmed", "without_head"]

HEAD_CHARS, TAIL_CHARS = 1_000, 500
"""Characters of both ends of a result that moved to a file; with the line in front less than 2,048."""
JOINED_CHARS = 20_000
"""Characters of instructions in front of a result that stay whole; more may be what a command printed."""
MARK_CHARS = 120
"""Characters that the line about what was left out has at most."""

IMAGE_LEFT_OUT = "(An image stood here; it is no longer sent.)"
OLD_IMAGES = "old images"
"""Why an image is left out."""

_MOVED = re.compile(r"\(Moved to a file, for its (?P<count>[\d,]+) characters: (?P<path>[^\n]+?)\. ReadFile")
_AGED = re.compile(r"\((?P<count>[\d,]+) more characters were left out as old\.\)")
_SQUEEZED = re.compile(r"^\((?P<count>[\d,]+) characters were left out here for room\.\)$", re.MULTILINE)


def moved_to_file(text: str, store: Callable[[str], Path], *, project: Path) -> str:
    """Have `store` keep a result, and return the preview that names its file, relative to the project.

    Lines that `ReadFile` would cut are broken in the file. If it cannot be written, the preview says why.
    Instructions that joined with the result stay in front, whole.
    """
    joined, text = _without_joined(text)
    ends = f"{text[:HEAD_CHARS]}\n(…)\n{text[-TAIL_CHARS:]}"
    pieces = [_broken(line) for line in text.split("\n")]
    is_broken = any(len(line) > LINE_CHARS for line in text.split("\n"))
    try:
        path = store("\n".join(pieces))
    except StorageError as error:
        return f"{joined}(Cut from {len(text):,} characters, which could not be kept: {error})\n{ends}"
    name = path.relative_to(project).as_posix() if path.is_relative_to(project) else str(path)
    broken = f" Lines are broken after {LINE_CHARS:,} characters." if is_broken else ""
    return (
        f"{joined}(Moved to a file, for its {len(text):,} characters: {name}. ReadFile shows it, with offset "
        f"and limit.{broken} Its two ends:)\n{ends}"
    )


def aged(text: str, limit: int) -> str:
    """Return the first `limit` characters of a result that has more, and how many more there were.

    What stays in front of it is not counted, here and in `squeezed`.
    """
    head, text = without_head(text)
    return f"{head}{text[:limit]}\n({len(text) - limit:,} more characters were left out as old.)"


def squeezed(text: str, limit: int) -> str:
    """Return about `limit` characters of both ends of a result, and how many stood between."""
    head, text = without_head(text)
    before, after = limit - limit // 4, limit // 4
    left_out = len(text) - before - after
    end = text[len(text) - after :]
    return f"{head}{text[:before]}\n({left_out:,} characters were left out here for room.)\n{end}"


def why_trimmed(content: object) -> list[tuple[str, str]]:
    """Return what was left out of a result as it is sent: why, and how much or to where."""
    if isinstance(content, list):  # with images that are still sent
        content = next((part.get("text") for part in content if isinstance(part, dict)), None)
    text = _without_joined(content)[1] if isinstance(content, str) else ""
    reasons = []
    if found := _MOVED.match(text):
        reasons.append(("moved to a file", f"{found['count']} characters to {found['path']}"))
    if found := _AGED.search(text):
        reasons.append(("shortened as old", f"{found['count']} characters"))
    if found := _SQUEEZED.search(text):
        reasons.append(("shortened for room", f"{found['count']} characters"))
    if count := text.count(IMAGE_LEFT_OUT):
        reasons.append((OLD_IMAGES, f"images: {count:,}"))
    return reasons


def without_head(text: str) -> tuple[str, str]:
    """Return what stays in front of a result, joined instructions and its file's line, and the rest."""
    joined, text = _without_joined(text)
    if not _MOVED.match(text):
        return joined, text
    head, newline, rest = text.partition("\n")
    return joined + head + newline, rest


def _without_joined(text: str) -> tuple[str, str]:
    """Return the instructions that joined with a result, and the rest."""
    rest = split_joined(text)[2]
    joined = text[: len(text) - len(rest)]
    return (joined, rest) if len(joined) <= JOINED_CHARS else ("", text)


def _broken(line: str) -> str:
    return "\n".join(line[i : i + LINE_CHARS] for i in range(0, len(line), LINE_CHARS))
