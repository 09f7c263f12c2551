"""The words of a search, and which of a few texts hold them."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from mewcode_magic.words import (
    STOP_WORDS,
    TOKENIZER,
    WORD,
    camel_parts,
    cjk_runs,
    pairs,
    without_cjk,
    words_of,
)

__all__ = ["TextIndex", "Word", "beginning_of", "words_sought"]

MAX_CHARACTERS = 10_000
MAX_WORDS = 30
"""What of a search is looked up: characters, then distinct words."""

LEAST_BEGINNING = 3
"""Characters of a word that may be the beginning of others."""


class Word(NamedTuple):
    """A word to look for, as an FTS5 expression; `share`: how many words of the search it stands for."""

    text: str
    expression: str
    share: float


def words_sought(text: str) -> list[Word]:
    """Return what is to be looked for; words that carry no subject only if there are no others."""
    text = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])
    words: dict[str, Word] = {}
    for run in cjk_runs(text):
        parts = pairs(run) or [run]
        for part in parts:  # words have two characters on average
            words.setdefault(part, Word(part, f'"{part}"', len(run) / 2 / len(parts)))
    plain = WORD.findall(without_cjk(text))
    telling = [word for word in plain if word.lower() not in STOP_WORDS]
    for word in telling if telling or words else plain:
        named = " AND ".join(f'"{part}"' for part in camel_parts(word))
        expression = f'"{word}" OR ({named})' if named else f'"{word}"'
        words.setdefault(word.lower(), Word(word, expression, 1.0))
    return list(words.values())[:MAX_WORDS]


def beginning_of(word: Word) -> Word | None:
    """Return all words that begin like this one as a word; None for one too short, or not English."""
    is_long = len(word.text) >= LEAST_BEGINNING and word.text.isascii()
    return word._replace(expression=f'"{word.text}"*') if is_long else None


class TextIndex:
    """A few texts in memory, by their number. Each method raises `sqlite3.Error` without FTS5."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(words, content = '', detail = none, columnsize = 0, "
            f"tokenize = '{TOKENIZER}')"
        )
        self._database.executemany(
            "INSERT INTO texts(rowid, words) VALUES (?, ?)",
            ((number, " ".join(words_of(text))) for number, text in enumerate(texts)),
        )

    def close(self) -> None:
        """Forget the texts."""
        self._database.close()

    def understands(self, word: Word) -> bool:
        """Tell whether FTS5 takes a word for one: letters that are newer than its tables are none to it."""
        try:
            self.holding(word)
        except sqlite3.OperationalError:
            return False
        return True

    def holding(self, word: Word) -> list[int]:
        """Return the numbers of the texts in which a word stands."""
        rows = self._database.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (word.expression,))
        return [number for (number,) in rows]
