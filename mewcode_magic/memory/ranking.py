"""Which memories fit a question, by the words that they share: no model, no network.

SQLite's FTS5 holds the memories' words in memory, reduces English ones to their stems and finds them again.
A memory's score is the share of the question that it covers: each word counts by how rare it is among the
memories, and by the best field that holds it. One threshold on that share keeps unrelated memories out of a
store of three as of one of thousands, which BM25, an order without a zero, cannot do.

Words are cut here: identifiers into their parts, Chinese, Japanese and Korean, which are written without
spaces or with endings, into pairs of characters. Words that carry no subject do not count, and those that
half of all prompts about data and programs hold (file, plot, 数据) prove little.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from mewcode_magic.errors import MemoryStoreError
from mewcode_magic.memory.record import Memory

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

STOP_WORDS = frozenset(
    """
    a able about above actually after again against ago all almost already also although always am among
    an and another any anybody anyone anything are aren around as ask asked at away b back basically be
    because been before being below best better between bit both but by came can cannot come could couldn
    currently d did didn directly do does doesn doing don done down during e each either else ever every
    everything exactly example examples explain explained explains f few find fine for from further g
    gave get gets getting give given go goes going gone good got great h had hadn has hasn have haven
    having he hello help her here hers herself hey hi him himself his how however i if in instead into is
    isn it its itself j just k keep kept kind kindly kinds know l let lets like likely ll look looks lot
    lots m made make makes making many may maybe me mean means might mine more most much must my myself n
    need needs never new next nice no nobody none nor not nothing now o of off often ok okay on once one
    only onto or other others our ours ourselves out over own p part perhaps please put q quickly quite
    rather re really recommend s said same saw say says see seem seen shall she should shouldn show
    simply since so some somebody someone something soon sorry still such sure t take taken takes taking
    tell than thank thanks that the their theirs them themselves then there these they thing things think
    this those though three through times to today together tomorrow tonight too took toward tried try
    trying two u under until up upon us use used uses using v ve very w want wants was wasn way we well
    went were weren what whatever when where whether which while who whom whose why will with within
    without won wonder wondering would wouldn write writes writing written wrote x y yes yesterday yet
    you your yours yourself z
    """.split()  # noqa: SIM905 - as a list, four hundred lines
)
"""English words without a subject, and single letters but C and R, which are languages."""

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

_CJK = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"[^\W_]+")
_KATAKANA = re.compile("([\u30a1-\u30fa\u30fc-\u30ff]+)")
# Where a run is broken. Hiragana write particles and endings; kanji and katakana write the words.
_BREAK = re.compile(
    "[\u3041-\u309f]+"
    "|为什么|什么|怎么办|怎么|怎样|如何|为何|可以|能否|能不能|是否|是不是|有没有|有哪些|没有|不要|应该|需要"
    "|知道|告诉|请问|帮忙|谢谢|你好|好的|继续|时候|一下|一些|太多|多少|这样|那样|如果|因为|所以|但是|然后|还是|以及"
    "|[一二三两几多][个张条份次种段件句部位座]"
    "|^用(?![户途法量例])|下次|上次|这次|每次|现在|今天|今日|明天|明日"
    "|[的了吗呢吧啊呀嘛么是在我你您他她它们和与或就都也很还这那哪些个谁请把被让给之其及帮再]"
    "|언제|어디|무엇|어떻게|하나요|있나요|인가요|해줘|해주세요|합니다|입니다"
)
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


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
        weight = words[word].share * _rarity(len(places), len(memories))
        total += weight
        for number, worth in places.items():
            scores[number] += weight * worth * words[word].proof
    to_cover = min(total, LONG_QUESTION + FURTHER_WORD * (total - LONG_QUESTION))
    floor = max(FLOOR * to_cover, CLOSE * max(scores.values(), default=0.0))
    chosen = [number for number, score in scores.items() if score >= floor]
    chosen.sort(key=lambda n: (-round(scores[n], 9), -_written(memories[n]), memories[n].name))
    return [memories[number] for number in chosen[:limit]]


def _rarity(holding: int, size: int) -> float:
    """Return 1 for a word that no memory holds, and less the more do (BM25's measure, scaled)."""
    size += BACKGROUND
    return math.log1p((size - holding + 0.5) / (holding + 0.5)) / math.log1p((size + 0.5) / 0.5)


def _written(memory: Memory) -> float:
    return memory.when.timestamp() if memory.when else 0.0


def _look_up(words: Iterable[str], memories: Sequence[Memory]) -> dict[str, dict[int, float]]:
    """Return for each word the numbers of the memories that hold it, and what their best field is worth."""
    import sqlite3
    from contextlib import closing

    found: dict[str, dict[int, float]] = {word: {} for word in words}
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            # Porter twice: once gives "deployment" the stem "deploy", and "deploy" itself "deploi".
            database.execute(
                "CREATE VIRTUAL TABLE memories USING fts5(name, description, body, "
                "tokenize = 'porter porter unicode61 remove_diacritics 2')"
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
    for run in _cjk_runs(text):
        # Words have two characters on average; a run counts as so many, however many pairs it has.
        pairs = _pairs(run) or [run]
        for pair in pairs:
            common = run in COMMON_WORDS or pair in COMMON_WORDS
            words.setdefault(f'"{pair}"', _Word(len(run) / 2 / len(pairs), COMMON if common else 1.0))
    for word in _WORD.findall(_CJK.sub(" ", text)):
        lower = word.lower()
        if lower not in STOP_WORDS:
            parts = _camel_parts(word)
            expression = f'"{word}" OR "{" ".join(parts)}"' if parts else f'"{word}"'
            share = NUMBER if word.isdecimal() else 1.0
            words.setdefault(expression, _Word(share, COMMON if lower in COMMON_WORDS else 1.0))
    return dict(islice(words.items(), MAX_WORDS))


@lru_cache(maxsize=1024)  # most of the time goes here, and the same memories are ranked turn after turn
def _indexed(text: str) -> str:
    """Return a text for FTS5 to cut into words, with those that it would not find by itself."""
    parts: list[str] = []
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        for run in _cjk_runs(text):
            parts += [*run, *_pairs(run)]
        text = _CJK.sub(" ", text)
    for word in _WORD.findall(text):
        if not word[1:].islower():  # nearly all are, and this loop is most of the work
            parts += _camel_parts(word)
    return f"{text} {' '.join(parts)}"


def _cjk_runs(text: str) -> list[str]:
    """Return the runs of Chinese, Japanese and Korean characters between function words, katakana apart."""
    parts = (part for block in _CJK.findall(text) for part in _BREAK.split(block))
    return [run for part in parts for run in _KATAKANA.split(part) if run]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _camel_parts(word: str) -> list[str]:
    """Return the parts of a name in camel case, or nothing for any other word."""
    parts = _CAMEL_PART.findall(word) if word.isascii() else []
    return parts if len(parts) > 1 else []
