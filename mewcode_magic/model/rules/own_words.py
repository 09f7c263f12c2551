"""The sentences of a text that its author says in person: not code, not quotes, not what was pasted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mewcode_magic.memory.transcript import CUT

__all__ = ["OwnWords", "Sentence", "own_words"]

PROSE_CHARS = 1_200
"""A text with more prose than this holds something pasted: of it only the first paragraph counts."""
OPENING_CHARS = 400
"""And only if it is no longer than this."""
WRAPPED_CHARS = 50
"""A line of at least this length that ends without a full stop goes on in the next."""

_FENCE = re.compile(r"\s*(?:[-*+]\s+)?(`{3,}|~{3,})")
_QUOTED_LINE = re.compile(r"\s*(?:>|\||\$ |In \[|Out\[|#)|\t| {4}")
"""Quotes, tables, shells, headings and comments, code by indentation."""
_MARKUP = re.compile(r"\s*<[/!a-zA-Z]")
_END_OF_OWN = re.compile(
    r"\s*(?:[-=*_~]{3,}.*|Traceback \(most recent call last\).*|\[?(?:pasted|clipboard)\b.*|8<.*)",
    re.IGNORECASE,
)
"""A rule, or another sign that what follows is from elsewhere."""
_INTRODUCES = re.compile(
    r"\b(?:page|site|web ?page|docs?|documentation|read ?me|article|post|blog|e-?mail|message|mail|letter"
    r"|file|text|quote|excerpt|snippet|code|output|log|error|warning|traceback|guide(?:line)?s?|policy|spec|manual"
    r"|paper|book|ticket|issue|comment|chat|transcript|prompt|notes?|minutes|paste[ds]?|following|below"
    r"|here (?:is|are)(?! (?:my|our))|here's|says?|said|reads?|writes?|wrote|states?|from)\b"
    r"|网页|网站|页面|文档|文章|邮件|帖子|日志|报错|错误|输出|内容|原文|代码|手册|说明|消息|文件"
    r"|如下|以下|下面|粘贴|说|写",
    re.IGNORECASE,
)
"""In a line that ends with a colon: what follows is from elsewhere."""
_LIST_MARK = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)\u3001])\s+")
_SENTENCE_END = re.compile(
    r"(?<=[\u3002\uff01\uff1f\uff1b])|(?<=[!?;])\s+|(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<=\.)\s+",
    re.IGNORECASE,
)
_QUOTE = re.compile(
    r"`[^`]*`|\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u2018[^\u2019]*\u2019|\u300c[^\u300d]*\u300d"
    r"|\u300e[^\u300f]*\u300f|\u300a[^\u300b]*\u300b|(?<!\w)'[^']*'(?!\w)"
)
_HIDDEN = "\N{WHITE SQUARE}"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands, and as rules read it: quotes and inline code hidden, apostrophes straight."""

    text: str
    plain: str


@dataclass(frozen=True, slots=True)
class OwnWords:
    """The sentences, and whether there is nothing beside them in the text."""

    sentences: list[Sentence]
    are_all: bool


def own_words(text: str) -> OwnWords:
    """Return what the author of a text says in person, sentence by sentence.

    After a line that introduces something from elsewhere, as a page, a file or an error, nothing is.
    """
    paragraphs, complete = _paragraphs(text)
    if sum(len(line) for lines in paragraphs for line in lines) > PROSE_CHARS:
        complete = False
        opening = paragraphs[0]
        paragraphs = [opening] if sum(map(len, opening)) <= OPENING_CHARS else []
    units = [unit for lines in paragraphs for unit in _joined(lines)]
    sentences = [part.strip(" *_") for unit in units for part in _SENTENCE_END.split(unit)]
    return OwnWords([Sentence(s, _plain(s)) for s in sentences if s], complete)


def _paragraphs(text: str) -> tuple[list[list[str]], bool]:
    """Return the lines of prose by paragraph, and whether nothing was left out."""
    paragraphs: list[list[str]] = [[]]
    complete = True
    fence, in_markup = "", False
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        if not line.strip():
            in_markup = False
            paragraphs.append([])
            continue
        introduces = line.rstrip().endswith((":", "\uff1a")) and _INTRODUCES.search(line)
        if line == CUT or introduces or _END_OF_OWN.fullmatch(line):
            complete = False
            break
        fence = mark[1] if mark else ""
        in_markup = in_markup or bool(_MARKUP.match(line))
        if fence or in_markup or _QUOTED_LINE.match(line):
            complete = False
        else:
            paragraphs[-1].append(line)
    return [lines for lines in paragraphs if lines] or [[]], complete


def _joined(lines: list[str]) -> list[str]:
    """Return the lines of a paragraph, those that only were too long for one joined again."""
    units: list[str] = []
    before = ""
    for line in lines:
        goes_on = len(before) >= WRAPPED_CHARS and before[-1:] not in ".!?;:" and line[:1].islower()
        if units and goes_on:
            units[-1] = f"{units[-1]} {line.strip()}"
        else:
            units.append(_LIST_MARK.sub("", line, count=1).strip())
        before = line.rstrip()
    return units


def _plain(sentence: str) -> str:
    hidden = _QUOTE.sub(lambda quote: _HIDDEN * len(quote[0]), sentence)
    return hidden.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
