"""A memory from what a user wrote after `%remember`: its type, description, name and end, by rules alone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from mewcode_magic.errors import InvalidMemory
from mewcode_magic.memory.document import first_sentence
from mewcode_magic.memory.record import Memory, moment
from mewcode_magic.memory.validity import place_of

__all__ = ["expiry", "memory_from_text"]

NAME_WORDS = 6
NAME_LENGTH = 48
"""Characters of a name made from a sentence."""

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+", re.IGNORECASE)
_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_CORRECTION = re.compile(
    rf"(?:please[\s,]+)?(?:don[{_APOSTROPHES}]?t|do not|stop|never)\b"
    r"|请?(?:不要|别(?![人的处名]))",  # the latter also begins words, such as the one for other people
    re.IGNORECASE,
)
_IN_PLACE_OF = re.compile(r"\binstead of\b|而不是", re.IGNORECASE)
_PERSON = re.compile(r"\bI\b(?!/)|(?i:^i\b|\bmy\b|\bprefers?\b)|我|喜欢")
_SPAN = re.compile(r"(\d+)\s*([hdw])", re.IGNORECASE)
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_LEADING = re.compile(r"(?i:an|please|that|the)")
"""Words that no name begins with."""
_TRAILING = re.compile(
    r"(?i:a|all|an|and|any|are|as|at|be|by|for|from|in|is|it|my|no|not|of|on|or|our|that|the|their|to|was|were"
    r"|with|your)"
)
"""Words that no name ends with."""
_CLAUSE_END = re.compile(r"[:;,](?=\s)|[\uff1a\uff1b\uff0c]|\s[(\u2013\u2014-]")
"""What a sentence goes on after, and a name does not."""


def memory_from_text(
    text: str,
    *,
    type: str | None = None,
    name: str | None = None,
    description: str | None = None,
    expires: str | None = None,
    now: datetime,
) -> Memory:
    """Return the memory that a user's text describes; what is not given follows from the text.

    The text is the body, its first sentence the description, the sentence's first words the name. A URL makes
    it a reference; a correction, feedback; words about the person, user; all else is about the project.

    Raises:
        InvalidMemory: there is no text, or the type or the time is none that is known.
    """
    if not text.strip():
        raise InvalidMemory("there is nothing to remember; write it behind the command")
    if type is not None:
        place_of(type)
    sentence = first_sentence(text) or text.strip()
    return Memory(
        name or _name(sentence),
        description or sentence,
        type or _type(text.strip()),
        text,
        expires=None if expires is None else expiry(expires, now=now),
    )


def expiry(text: str, *, now: datetime) -> datetime:
    """Return the moment that `30d`, `2w`, `12h`, or an ISO 8601 date or time means; a date lasts to its end.

    Raises:
        InvalidMemory: it is none of these, or lies in the past.
    """
    try:
        if span := _SPAN.fullmatch(text.strip()):
            end = moment(now + int(span[1]) * _UNITS[span[2].lower()])
        else:
            end = moment(text, end_of_day=True)
    except (ValueError, OverflowError) as error:
        raise InvalidMemory(
            f"{text!r} is no time to expire; give a span (12h, 30d, 2w) or a date (2027-01-31)"
        ) from error
    if end <= now:
        raise InvalidMemory(f"{text!r} is not in the future; give a span (12h, 30d, 2w) or a later date")
    return end


def _type(text: str) -> str:
    if _URL.search(text):
        return "reference"
    if _CORRECTION.match(text) or _IN_PLACE_OF.search(text):
        return "feedback"
    return "user" if _PERSON.search(text) else "project"


def _name(sentence: str) -> str:
    """Return the first words of the sentence's first clause, joined by hyphens."""
    plain = re.sub(rf"(?<=\w)[{_APOSTROPHES}](?=\w)", "", sentence)
    clause = re.findall(r"\w+", _CLAUSE_END.split(_URL.sub(" ", plain))[0])
    words = (
        clause if len(clause) > 1 else re.findall(r"\w+", _URL.sub(" ", plain)) or re.findall(r"\w+", plain)
    )
    while len(words) > 1 and _LEADING.fullmatch(words[0]):
        words = words[1:]
    kept = words[:NAME_WORDS]
    while len(kept) > 1 and _TRAILING.fullmatch(kept[-1]):
        kept.pop()
    while len(kept) > 1 and len("-".join(kept)) > NAME_LENGTH:
        kept.pop()
    # A text without a single letter, such as an emoji, is its own name.
    return "-".join(kept).lower()[:NAME_LENGTH].strip("-_") or sentence[:NAME_LENGTH]
