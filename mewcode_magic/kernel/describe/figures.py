"""Figures and axes of matplotlib: titles, labels and how much is drawn; never the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mewcode_magic.kernel.describe.static import text_of
from mewcode_magic.kernel.describe.words import count, quoted

__all__ = ["axes", "figure"]

MOST_AXES = 12
TITLE_CHARS = 100


def figure(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield size and, for each of its axes, what they hold; without values, no words that the user chose."""
    width, height = (float(side) for side in value.get_size_inches())
    every = list(value.axes)
    yield f"{width:g} x {height:g} inches; axes: {len(every)}"
    for place, one in enumerate(every[:MOST_AXES], start=1):
        yield f"axes {place}:"
        for line in axes(one, share_values=share_values):
            yield f"  {line}"


def axes(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield title, labels and how many lines, bars and collections are drawn."""
    if share_values:
        words = (("title", value.get_title()), ("x", value.get_xlabel()), ("y", value.get_ylabel()))
        for name, words_of in words:
            if text_of(words_of):
                yield f"{name}: {quoted(words_of, TITLE_CHARS)}"
    drawn = [
        count(len(artists), noun)
        for artists, noun in (
            (value.lines, "line"),
            (value.patches, "patch"),
            (value.collections, "collection"),
            (value.images, "image"),
        )
        if len(artists)
    ]
    yield f"drawn: {', '.join(drawn).replace('patchs', 'patches') or 'nothing'}"
