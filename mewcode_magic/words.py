"""How texts are cut into words to be found again: English by SQLite's FTS5, Chinese, Japanese, Korean here.

FTS5 reduces English words to their stems. Identifiers are cut into their parts, and languages that are
written without spaces, or with endings, into pairs of characters.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache

__all__ = [
    "STOP_WORDS",
    "TOKENIZER",
    "WORD",
    "camel_parts",
    "cjk_runs",
    "pairs",
    "rarity",
    "without_cjk",
    "words_of",
]

# Porter twice: once gives "deployment" the stem "deploy", and "deploy" itself "deploi".
TOKENIZER = "porter porter unicode61 remove_diacritics 2"
"""What an FTS5 table is made with."""

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

_CJK = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\U00020000-\U0003ffff]+"
)
WORD = re.compile(r"[^\W_]+")
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


def words_of(text: str) -> set[str]:
    """Return the words that FTS5 needs to find a text: each once, with its parts."""
    words: set[str] = set()
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        for run in cjk_runs(text):
            words.update(run)
            words.update(pairs(run))
        text = without_cjk(text)
    plain = set(WORD.findall(text))
    words |= plain
    for word in plain:
        if not word[1:].islower():  # nearly all are
            words.update(camel_parts(word))
    return words


def cjk_runs(text: str) -> list[str]:
    """Return the runs of Chinese, Japanese and Korean characters between function words, katakana apart."""
    parts = (part for block in _CJK.findall(text) for part in _BREAK.split(block))
    return [run for part in parts for run in _KATAKANA.split(part) if run]


def without_cjk(text: str) -> str:
    """Return a text with blanks in their place, so many that all else stays where it was."""
    return _CJK.sub(lambda match: " " * len(match[0]), text)


def pairs(run: str) -> list[str]:
    """Return the pairs of neighbours in a run of characters; none of a single one."""
    return [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=16_384)  # names and numbers come again and again
def camel_parts(word: str) -> tuple[str, ...]:
    """Return the parts of a name in camel case, or nothing for any other word."""
    parts = _CAMEL_PART.findall(word) if word.isascii() else ()
    return tuple(parts) if len(parts) > 1 else ()


def rarity(holding: int, size: int) -> float:
    """Return 1 for a word that none of `size` texts holds, and less the more do (BM25's measure, scaled)."""
    return math.log1p((size - holding + 0.5) / (holding + 0.5)) / math.log1p((size + 0.5) / 0.5)
