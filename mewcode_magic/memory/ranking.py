"""Which memories fit a question, by the words that they share: no model, no network.

SQLite's FTS5 holds the memories' words in memory, reduces English ones to their stems and finds them again.
A memory's score is the share of the question that it covers: each word counts by how rare it is among the
memories, and by the best field that holds it. One threshold on that share keeps unrelated memories out of a
store of three as of one of thousands, which BM25, an order without a zero, cannot do.

Words are cut as `words` does it. Those that carry no subject do not count, and those that half of all prompts
about data and programs hold (file, plot, 数据) prove little.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from mewcode_magic.errors import MemoryStoreError
from mewcode_magic.memory.record import Memory
from mewcode_magic.words import STOP_WORDS, TOKENIZER, WORD, camel_parts, cjk_runs, pairs, rarity, without_cjk

__all__ = ["rank_by_keywords"]

# The numbers below were chosen on the tuned half of the labelled questions in the tests; their neighbours do
# about as well.

FIELDS = {"name": 1.0, "description": 0.9, "body": 0.5}
"""What a word is worth in each field; its best field counts."""

FLOOR = 0.34
"""Least share of a question that a memory has to cover."""

CLOSE = 0.5
"""Least share of the best memory's score: what is far behind it came along by a side word."""

COMMON = 0.5
"""What a common word proves, while it counts in full among what there is to cover."""

NUMBER = 0.25
"""How many words a number counts for: a log is full of them."""

LONG_QUESTION = 2.0
FURTHER_WORD = 0.15
"""A longer prompt has several subjects, of which a memory covers one: beyond LONG_QUESTION words each further
one adds only so much to what there is to cover. It does add, or pasted code would match by chance."""

BACKGROUND = 50
"""Memories added in thought, so that a word's rarity means something in a store of three too."""

MAX_WORDS = 300
"""Distinct words of a question that are looked up."""

COMMON_WORDS = frozenset(
    """
    array arrays bool call class code column columns data dataset def default dict dictionary else error
    errors except false file files float folder folders function functions id import index int integer
    key keys length line lines list lists loop module name names none null number numbers object objects
    open package path paths plot plots print program python read recent result results return row rows
    run running runs script scripts self set sort str string strings table tables text traceback true
    type types value values variable variables work working works
    数据 文件 代码 函数 变量 列表 表格 字段 程序 处理 方法 问题 结果
    データ ファイル コード プログラム 関数 変数 方法 結果
    """.split()  # noqa: SIM905
)
"""Words that most prompts about data and programs hold, whatever they are about."""


class _Word(NamedTuple):
    """How many words of a question this one stands for, and how much of them it proves where it is found."""

    share: float
    proof: float


def rank_by_keywords(query: str, memories: Sequence[Memory], limit: int = 5) -> list[Memory]:
    """Return at most `limit` memories that cover enough of `query`, the best first.

    There may be none: an unrelated question gets an empty list. Equals are ordered newest first, then by
    name. The query is data; nothing in it is an operator. Its first 300 distinct words count.

    Raises:
        MemoryStoreError: this Python's SQLite was built without FTS5.
    """
    words = _question(query)
    if not words or not memories or limit < 1:
        return []
    total = 0.0
    scores: defaultdict[int, float] = defaultdict(float)
    for word, places in _look_up(words, memories).items():
        weight = words[word].share * rarity(len(places), len(memories) + BACKGROUND)
        total += weight
        for number, worth in places.items():
            scores[number] += weight * worth * words[word].proof
    to_cover = min(total, LONG_QUESTION + FURTHER_WORD * (total - LONG_QUESTION))
    floor = max(FLOOR * to_cover, CLOSE * max(scores.values(), default=0.0))
    chosen = [number for number, score in scores.items() if score >= floor]
    chosen.sort(key=lambda n: (-round(scores[n], 9), -_written(memories[n]), memories[n].name))
    return [memories[number] for number in chosen[:limit]]


def _written(memory: Memory) -> float:
    return memory.when.timestamp() if memory.when else 0.0


def _look_up(words: Iterable[str], memories: Sequence[Memory]) -> dict[str, dict[int, float]]:
    """Return for each word the numbers of the memories that hold it, and what their best field is worth."""
    import sqlite3
    from contextlib import closing

    found: dict[str, dict[int, float]] = {word: {} for word in words}
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(
                f"CREATE VIRTUAL TABLE memories USING fts5(name, description, body, tokenize = '{TOKENIZER}')"
            )
        except sqlite3.OperationalError as error:
            raise MemoryStoreError(
                f"cannot search the memories: {error}; use a Python whose SQLite has FTS5, "
                "or do without by %config MewCode.recall = False"
            ) from error
        database.executemany(
            "INSERT INTO memories(rowid, name, description, body) VALUES (?, ?, ?, ?)",
            ((n, *map(_indexed, (m.name, m.description, m.body))) for n, m in enumerate(memories)),
        )
        for word, places in found.items():
            for field, worth in sorted(FIELDS.items(), key=lambda item: item[1]):
                expression = f"{{{field}}} : ({word})"
                rows = database.execute("SELECT rowid FROM memories WHERE memories MATCH ?", (expression,))
                places.update((number, worth) for (number,) in rows)
    return found


def _question(text: str) -> dict[str, _Word]:
    """Return the words that a question is about, as FTS5 expressions."""
    text = unicodedata.normalize("NFKC", text)
    words: dict[str, _Word] = {}
    for run in cjk_runs(text):
        # Words have two characters on average; a run counts as so many, however many pairs it has.
        parts = pairs(run) or [run]
        for pair in parts:
            common = run in COMMON_WORDS or pair in COMMON_WORDS
            words.setdefault(f'"{pair}"', _Word(len(run) / 2 / len(parts), COMMON if common else 1.0))
    for word in WORD.findall(without_cjk(text)):
        lower = word.lower()
        if lower not in STOP_WORDS:
            named = camel_parts(word)
            expression = f'"{word}" OR "{" ".join(named)}"' if named else f'"{word}"'
            share = NUMBER if word.isdecimal() else 1.0
            words.setdefault(expression, _Word(share, COMMON if lower in COMMON_WORDS else 1.0))
    return dict(islice(words.items(), MAX_WORDS))


@lru_cache(maxsize=1024)  # most of the time goes here, and the same memories are ranked turn after turn
def _indexed(text: str) -> str:
    """Return a text for FTS5 to cut into words, with those that it would not find by itself."""
    parts: list[str] = []
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        for run in cjk_runs(text):
            parts += [*run, *pairs(run)]
        text = without_cjk(text)
    for word in WORD.findall(text):
        if not word[1:].islower():  # nearly all are, and this loop is most of the work
            parts += camel_parts(word)
    return f"{text} {' '.join(parts)}"
