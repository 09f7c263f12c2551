"""Words of a description: text without control characters, and numbers with their units."""

from __future__ import annotations

from typing import Any

__all__ = ["bytes_text", "count", "cut", "escape", "number", "quoted"]

_KILO = 1000


def escape(text: str) -> str:
    r"""Return `text` with controls, line ends and halves of surrogate pairs as escapes such as `\n`."""
    text = str.__str__(text)  # a subclass may have methods of its own
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def cut(text: str, chars: int) -> str:
    """Return `text`, or its beginning and `…`, in at most `chars` characters."""
    return text if len(text) <= chars else text[: chars - 1] + "…"


def quoted(text: str, chars: int) -> str:
    """Return the beginning of `text`, at most `chars` characters of it, in quotes and escaped."""
    start = str.__getitem__(text, slice(chars))
    return repr(start) + ("…" if str.__len__(text) > chars else "")


def number(value: Any) -> str:
    """Return a count with its thousands set apart.

    Raises:
        TypeError: it is no integer, so that what a foreign object gives for a size is never shown.
    """
    return int.__format__(value, ",")


def count(value: Any, noun: str) -> str:
    """Return how many there are of what: `1 row`, `2,000 rows`.

    Raises:
        TypeError: `value` is no integer.
    """
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def bytes_text(value: Any) -> str:
    """Return a size in bytes in the largest decimal unit that fits: `8 bytes`, `1.2 GB`.

    Raises:
        TypeError: `value` is no integer.
    """
    if value < _KILO:
        return count(value, "byte")
    size = float(value)
    for unit in ("kB", "MB", "GB"):
        size /= _KILO
        if size < _KILO:
            return f"{size:.1f} {unit}"
    return f"{size / _KILO:,.1f} TB"
