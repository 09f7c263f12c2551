"""What a memory must not be: an instruction said again, or a body that lost most of its text."""

from __future__ import annotations

import re

from mewcode_magic.credentials import mask_credentials

__all__ = ["loses_text", "restates"]

SHRINK_CHARS = 200
SHRINK_RATIO = 0.5
"""A body of more than SHRINK_CHARS characters may not be replaced by less than this share of it."""
SAME_SHARE = 0.8
"""A statement says the same as a line that it holds, or is held by, if it is at least this share of it."""

_PARAGRAPH = re.compile(r"\n\s*(?:\n|(?=\*\*))")
_ITEM = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+#>]|\d{1,3}[.)])\s)")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|avoid|stop|cannot)\b|n['\N{RIGHT SINGLE QUOTATION MARK}]t\b"
    r"|不|别|勿|没|无|非|禁|避免",
    re.IGNORECASE,
)

_OPEN, _CLOSE = r"[\[(<\uff08\u3010]", r"[\])>\uff09\u3011]"
_INSIDE = r"[^\])>\uff09\u3011\n]"
_MARKS = r"[^\w\n]{0,9}"
_PLACEHOLDER = re.compile(
    # In brackets or comment marks, anywhere.
    rf"{_OPEN}{_MARKS}(?:{_INSIDE}{{0,40}}\b)?(?:unchanged|(?:same )?as before){_MARKS}{_CLOSE}"
    rf"|{_OPEN}{_INSIDE}{{0,20}}(?:不变|同上){_MARKS}{_CLOSE}"
    rf"|{_OPEN}\s?(?:\.{{3}}|\N{{HORIZONTAL ELLIPSIS}}){{1,2}}\s?{_CLOSE}"
    # Alone on its line.
    rf"|^{_MARKS}(?:\.{{3}}|\N{{HORIZONTAL ELLIPSIS}}){_MARKS}$"
    # A line or sentence of its own.
    rf"|(?:^|[.!?;:,]\s|[\u3002\uff01\uff0c\uff1b\uff1a]){_MARKS}"
    r"(?:(?:(?:and )?(?:the )?(?:rest|remainder)|(?:everything|all) else)\b[^.\n]{0,40}"
    r"\b(?:unchanged|as before|the same)|unchanged|same as before|as before"
    r"|(?:其余|其他|其它|剩下|原有|原文|原来|正文)[^\n\u3002\uff0c]{0,10}(?:不变|同上|一样)|保持不变|内容不变|同上)"
    rf"{_MARKS}(?:$|[.\u3002])",
    re.IGNORECASE | re.MULTILINE,
)
"""Words that stand for text left out, as models write them."""


def restates(body: str, instructions: str) -> bool:
    """Return whether the first paragraph of a body says no more than an instruction does.

    That is a line, list item, paragraph or sentence with the same letters, or all but a few; with another
    number of negations it says something else.
    """
    statement = _PARAGRAPH.split(body.strip())[0]
    key, negations = _key(statement), _negations(statement)
    if not key:
        return False
    for item in _ITEM.split(instructions):
        for text in (item, *item.split("\n"), *_SENTENCE.split(item)):
            line = _key(text)
            shorter, longer = sorted((key, line), key=len)
            alike = shorter in longer and len(shorter) >= SAME_SHARE * len(longer)
            if alike and negations == _negations(text):
                return True
    return False


def loses_text(body: str, standing: str) -> str:
    """Return why `body` must not replace `standing`, or ""."""
    placeholder = _PLACEHOLDER.search(body)
    if placeholder and placeholder[0] not in standing:
        words = mask_credentials(placeholder[0].strip())
        return f"its body holds {words!r}, which would replace what it stands for"
    if len(standing) > SHRINK_CHARS and len(body) < SHRINK_RATIO * len(standing):
        return (
            f"its body would shrink from {len(standing):,} to {len(body):,} characters; what is to go is "
            "removed by hand"
        )
    return ""


def _key(text: str) -> str:
    """Return the letters and digits alone: marks, spacing and case say nothing."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _negations(text: str) -> int:
    return len(_NEGATION.findall(text))
