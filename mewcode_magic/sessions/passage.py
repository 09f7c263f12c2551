"""The part of a text that is shown of it, for the words that it holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from typing import TypeAlias

from mewcode_magic.sessions.search_words import TextIndex, Word
from mewcode_magic.words import WORD, cjk_runs, without_cjk

__all__ = ["passages"]

PASSAGE = 160
BEFORE = 24
"""Characters of a passage, and of those before its first hit: tables cut passages at their end."""

MAX_HITS = 1_000
"""Hits of one text among which its passage is sought."""

_Spans: TypeAlias = tuple[tuple[int, int], ...]

_Mark: TypeAlias = tuple[int, int, int]
"""Where a hit begins and ends, and the number of its word."""


def passages(texts: Sequence[str], words: Sequence[Word]) -> list[tuple[str, _Spans]]:
    """Return of each text, which is one line, the passage of 160 characters that holds most of the words.

    With it go the beginning and the end of each hit in it.
    """
    return [_passage(text, marks) for text, marks in zip(texts, _marks(texts, words), strict=True)]


def _marks(texts: Sequence[str], words: Sequence[Word]) -> list[list[_Mark]]:
    """Return the hits in each text, in their order."""
    numbers = _numbers_of(list({word for text in texts for word in WORD.findall(without_cjk(text))}), words)
    characters = {word.text: n for n, word in enumerate(words) if cjk_runs(word.text)}
    # Pairs overlap, so that they are sought without being consumed.
    sought = re.compile(f"(?=({'|'.join(map(re.escape, characters))}))") if characters else None
    found = []
    for text in texts:
        hits = (
            (match.start(), match.end(), numbers[match[0]])
            for match in WORD.finditer(without_cjk(text))
            if match[0] in numbers
        )
        marks = list(islice(hits, MAX_HITS))
        if sought:
            pairs = ((m.start(1), m.end(1), characters[m[1]]) for m in sought.finditer(text))
            marks += islice(pairs, MAX_HITS)
        found.append(sorted(marks))
    return found


def _numbers_of(candidates: list[str], words: Sequence[Word]) -> dict[str, int]:
    """Return those of some words in which one that is sought stands, with its number."""
    with closing(TextIndex(candidates)) as index:
        return {
            candidates[found]: number for number, word in enumerate(words) for found in index.holding(word)
        }


def _passage(text: str, marks: Sequence[_Mark]) -> tuple[str, _Spans]:
    """Return the part of a text that holds most of the words, and its hits, touching ones as one."""
    most, first = 0, 0
    for n, (begin, _, _) in enumerate(marks):
        last = begin + PASSAGE - BEFORE
        # No more hits than characters fit in: a passage of a text full of hits costs no more than that.
        near = {number for _, end, number in marks[n : n + PASSAGE] if end <= last}
        if len(near) > most:
            most, first = len(near), begin
    begin = max(0, first - BEFORE)
    if begin and (space := text.find(" ", begin, first)) >= 0:
        begin = space + 1
    end = begin + PASSAGE
    if end < len(text) and (space := text.rfind(" ", first + 1, end)) > 0:
        end = space
    front, back = "…" if begin else "", "…" if end < len(text) else ""
    shift = len(front) - begin
    spans: list[tuple[int, int]] = []
    for start, stop, _ in marks:
        if begin <= start and stop <= end:
            joined = spans and start + shift <= spans[-1][1]
            spans.append((spans.pop()[0] if joined else start + shift, stop + shift))
    return f"{front}{text[begin:end]}{back}", tuple(spans)
