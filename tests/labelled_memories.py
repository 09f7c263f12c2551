"""Memories, questions with the memories that answer them, and how well a ranking finds those.

`memory/labelled.json` holds the memories and two halves of questions. The ranking was tuned on `TUNED` alone;
`HELD_OUT` was written before, and shows what it does on questions that nobody has tuned it on. A question of
which no memory is the answer has an empty list. Misspelt words are meant to be.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from mewcode_magic.memory import Memory

Ranking: TypeAlias = Callable[[str, Sequence[Memory]], list[Memory]]

FIRST = 5
"""Memories that a ranking returns at most."""


@dataclass(frozen=True)
class Question:
    """A prompt, and the names of the memories that it should bring back."""

    question: str
    expected: frozenset[str]


@dataclass(frozen=True)
class Figures:
    """What a ranking found; the first four count questions."""

    answerable: int
    hit_at_1: int
    """The first memory is one of those expected."""
    hit_at_5: int
    """One of the first five is."""
    recalled_in_vain: int
    """No memory is the answer, and there came one nevertheless."""
    unanswerable: int
    mean_reciprocal_rank: float
    """Of the first expected memory, from 0 to 1."""
    precision: float
    """The share of expected ones in all that was found."""


def _read(part: str) -> list[Question]:
    return [Question(q["question"], frozenset(q["expected"])) for q in _LABELLED[part]]


_LABELLED = json.loads((Path(__file__).parent / "memory" / "labelled.json").read_text(encoding="utf-8"))
MEMORIES = [Memory(**memory) for memory in _LABELLED["memories"]]
TUNED, HELD_OUT = _read("tuned"), _read("held_out")


def figures(
    ranking: Ranking, questions: Sequence[Question], memories: Sequence[Memory] = MEMORIES
) -> Figures:
    """Ask `ranking` all of `questions`."""
    ranks: list[int | None] = []
    in_vain = found = right = 0
    for asked in questions:
        names = [memory.name for memory in ranking(asked.question, memories)[:FIRST]]
        found += len(names)
        right += len(asked.expected.intersection(names))
        if asked.expected:
            ranks.append(next((n for n, name in enumerate(names, 1) if name in asked.expected), None))
        else:
            in_vain += bool(names)
    return Figures(
        answerable=len(ranks),
        hit_at_1=ranks.count(1),
        hit_at_5=sum(rank is not None for rank in ranks),
        recalled_in_vain=in_vain,
        unanswerable=len(questions) - len(ranks),
        mean_reciprocal_rank=sum(1 / rank for rank in ranks if rank) / len(ranks),
        precision=right / found if found else 1.0,
    )
