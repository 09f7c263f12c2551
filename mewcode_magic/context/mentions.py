"""What a prompt attaches by `@`: the summary of a variable, or a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mewcode_magic.config import MewCode
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import StorageError
from mewcode_magic.files import shown
from mewcode_magic.kernel.describe import describe
from mewcode_magic.messages import Block, escape_tags
from mewcode_magic.reading import read_file

__all__ = ["mentioned"]

MOST_MENTIONS = 10
"""Mentions of one prompt that are attached."""
FILE_CHARS = 50_000
"""Characters of one file that are attached; the agent reads the rest by itself."""

_MENTION = re.compile(
    r"""
    (?<! [@.`/\\] ) (?<! [^\W\u3040-\u9fff\uac00-\ud7a3] )   # no address; Chinese has no blanks between words
    @ (?: "(?P<quoted> [^"\n]+ )"
      | (?P<word> [\w~./] [^\s,;:!?()\[\]{}<>'"`|*\u3001-\u3011\uff01-\uff0f\uff1a-\uff1f\u201c\u201d]* ) )
    """,
    re.VERBOSE,
)
_ASCII = re.compile(r"[\x21-\x7e]+")


def mentioned(prompt: str, *, shell: Any, project: Path, settings: MewCode) -> list[Block]:
    """Return a block for each variable and file that a prompt names behind `@`, images among them.

    A name of the user's namespace goes before a file. A path is relative to the working directory, else to
    the project. What is neither stays text; what cannot be read says why.
    """
    blocks: list[Block] = []
    seen: set[str] = set()
    for match in _MENTION.finditer(prompt):
        for text in _readings(match):
            if text in seen or len(seen) == MOST_MENTIONS:
                break
            if found := _attached(text, shell, project, settings):
                seen.add(text)
                blocks += found
                break
    return blocks


def _readings(match: re.Match[str]) -> list[str]:
    """Return what a mention may mean, the likeliest first: Chinese text goes on without a blank behind it."""
    if match["quoted"]:
        return [match["quoted"]]
    word = match["word"].rstrip(".")
    start = _ASCII.match(word)
    return [word] if start is None or start[0] == word else [word, start[0].rstrip(".")]


def _attached(text: str, shell: Any, project: Path, settings: MewCode) -> list[Block]:
    namespace = {} if shell is None else shell.user_ns
    if text.isidentifier() and text in namespace and not text.startswith("_"):
        told = describe(namespace[text], name=text, share_values=settings.share_values)
        return [_block(f"The user's variable @{text}:\n{mask_credentials(told)}")]
    path = _path(text, project)
    if path is None:
        return []
    try:
        content = read_file(path, share_values=settings.share_values)
    except StorageError as error:
        return [_block(f"The user's file @{text} could not be attached: {error}")]
    body = content.text
    if len(body) > FILE_CHARS:
        body = f"{body[:FILE_CHARS]}\n(cut here; ReadFile shows the rest)"
    return [_block(f"The user's file {shown(path)}:\n{body}"), *content.images]


def _path(text: str, project: Path) -> Path | None:
    """Return the file that a mention means, or None if there is none."""
    try:
        candidates = [Path(text).expanduser(), project / text]
        return next((path for path in candidates if path.is_file()), None)
    except (OSError, ValueError, RuntimeError):  # no path at all, or no home of that user
        return None


def _block(text: str) -> Block:
    return {"type": "text", "text": f"<system-reminder>\n{escape_tags(text)}\n</system-reminder>"}
