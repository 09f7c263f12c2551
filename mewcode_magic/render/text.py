"""Text from models, files and memories as characters that can be shown: no controls, one line, cells wide."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["all_seen", "clean", "cut", "fit", "line", "width"]

_CONTROLS = {
    code: chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"  # noqa: PLR2004
    for code in (*range(0x20), *range(0x80, 0xA0), *range(0xD800, 0xE000))
    if chr(code) not in "\t\n"
} | {0x7F: "\N{SYMBOL FOR DELETE}", 0x2028: "\n", 0x2029: "\n"}
"""Escape sequences become visible; halves of surrogate pairs could not even be sent to the front end."""

_REORDERING = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}")
"""Characters that show the rest of a line in another order than it has; a name must not be able to."""

_BLANK_LETTERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""What is printable and shows nothing: fillers, and selectors of variants, which can carry a text."""

_LINE_ENDS = re.compile(r"\r\n?")


def clean(text: str) -> str:
    """Return `text` with Unix line ends and without control characters, which a terminal would obey."""
    return _LINE_ENDS.sub("\n", text).translate(_CONTROLS)


def all_seen(text: str) -> str:
    r"""Return `text` with an escape, such as `\u202e`, for what shows nothing or reorders other characters.

    For what the user is asked to allow. Line ends, tabs and blanks stay; those that only look like a blank do
    not.
    """
    text = _LINE_ENDS.sub("\n", text)
    return "".join(
        c if c in "\n\t" or (c.isprintable() and c not in _BLANK_LETTERS) else ascii(c)[1:-1] for c in text
    )


def line(text: str, limit: int = 0) -> str:
    """Return `text` as one line of at most `limit` characters (0: of any length)."""
    text = " ".join(clean(text).translate(_REORDERING).split())
    return f"{text[: limit - 1].rstrip()}…" if 0 < limit < len(text) else text


def width(text: str) -> int:
    """Return how many cells of a terminal `text` takes: East Asian characters take two, marks none."""
    if text.isascii():  # of printable text only, so there is nothing that takes no cell
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or unicodedata.category(c) in ("Cf", "Mn", "Me")
        else 2 if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )  # fmt: skip


def cut(text: str, cells: int) -> str:
    """Return `text`, or its beginning and `…`, in at most `cells` cells of a terminal."""
    if width(text) <= cells:
        return text
    kept, used = [], 1
    for character in text:
        used += width(character)
        if used > cells:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def fit(text: str, cells: int, *, right: bool = False) -> str:
    """Return `text` cut or padded to exactly `cells` cells of a terminal."""
    text = cut(text, cells)
    padding = " " * (cells - width(text))
    return padding + text if right else text + padding
