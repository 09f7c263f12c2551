"""Which memories say nearly the same, by their words alone.

Two bodies are alike by the share of words that they have in common, of all words that either has; a
character of Chinese, Japanese or Korean counts as a word. One body includes another if it holds each of its
lines, whatever their case, spacing, bullet and full stop: then keeping the longer one loses nothing.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mewcode_magic.memory.record import Memory

__all__ = ["ALIKE", "Pair", "duplicates", "includes", "likeness", "similar_pairs", "words_of"]

ALIKE = 0.8
"""Share of common words from which two bodies are nearly the same: 4 of 5, or one word changed in ten."""

_NEVER = datetime.max.replace(tzinfo=UTC)

_WORD = re.compile(
    "[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]|[^\\W_\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]+"
)

_BULLET = re.compile(r"^\s*(?:(?:[-*+>]|#{1,6})\s+)*")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories that say nearly the same, or of which `first` says all that `second` does."""

    first: Memory
    second: Memory
    share: float
    """The share of words that both have, of those that either has."""
    included: bool
    """Whether `first` holds each line of `second`."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


def likeness(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of words that both have, of those that either has; 0 where neither has any."""
    return len(first & second) / len(first | second) if first or second else 0.0


def includes(longer: str, shorter: str) -> bool:
    """Return whether a text holds each line of another as a line of its own."""
    lines = _lines(shorter)
    return bool(lines) and lines <= _lines(longer)


def duplicates(memories: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Return each memory whose body another one has too, with that one in front: the one that lasts longest.

    Of those that last equally long it is the first.
    """
    same: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.body:
            same[memory.body_key].append(memory)
    pairs = []
    for found in same.values():
        kept = max(found, key=lambda memory: memory.expires or _NEVER)
        pairs += [(kept, memory) for memory in found if memory is not kept]
    return pairs


def similar_pairs(memories: Sequence[Memory]) -> list[Pair]:
    """Return the pairs of memories that say nearly the same, in the order of the memories.

    Where one includes the other, that one is `first`; else it is the earlier of the two. Bodies that are the
    same are no pair: they are duplicates.
    """
    words = [words_of(memory.body) for memory in memories]
    pairs = []
    for one, other in sorted(_candidates(words)):
        if len(words[one]) < len(words[other]):
            shorter, longer = one, other
        else:
            shorter, longer = other, one
        share = likeness(words[one], words[other])
        within = words[shorter] <= words[longer]
        if not within and share < ALIKE:
            continue
        first, second = memories[one], memories[other]
        if first.body_key == second.body_key:
            continue
        if within and includes(memories[longer].body, memories[shorter].body):
            pairs.append(Pair(memories[longer], memories[shorter], share, included=True))
        elif share >= ALIKE:
            pairs.append(Pair(first, second, share, included=False))
    return pairs


def _candidates(words: Sequence[frozenset[str]]) -> set[tuple[int, int]]:
    """Return the numbers of the pairs that can be alike, without comparing each with each.

    A text of n words has to share at least ALIKE * n of them with a longer one, so that any
    n - ALIKE * n + 1 of them hold a common one; the rarest have the fewest other holders. A text that is
    much longer can only include it, and then has the rarest of all.
    """
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(words):
        for word in found:
            holders[word].append(number)
    candidates = set()
    for number, found in enumerate(words):
        rarest = sorted(found, key=lambda word: (len(holders[word]), word))
        common = math.ceil(round(len(found) * ALIKE, 6))
        for rank, word in enumerate(rarest[: len(found) - common + 1]):
            most = len(found) / ALIKE + 1 if rank else math.inf
            for other in holders[word]:
                if other != number and len(found) <= len(words[other]) <= most:
                    candidates.add((min(number, other), max(number, other)))
    return candidates


def _lines(text: str) -> set[str]:
    lines = (" ".join(_BULLET.sub("", line).split()).casefold() for line in text.split("\n"))
    return {kept for line in lines if (kept := line.rstrip(" .;,!\u3002\uff1b\uff0c\uff01"))}
