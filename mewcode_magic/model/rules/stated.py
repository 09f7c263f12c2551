"""What a user states as lasting, by the words alone, in English and Chinese: rules that would rather miss.

A sentence counts if it says by itself that it holds from now on: “always”, “from now on”, “I prefer”,
“remember that”, and the like. A bare correction, “don't use …”, may be for the present task only: it counts
if it says “ever”, if the whole text is nothing else, or if the user said so before. Nothing counts that is a
question, a supposition, a report of what others say, code, or tied to the moment: “here”, “this plot”.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mewcode_magic.model.rules.asked import fact_to_keep
from mewcode_magic.model.rules.own_words import Sentence, own_words
from mewcode_magic.model.rules.wording import (
    ANYWHERE,
    BEHAVIOUR,
    CLAUSE,
    CORRECTION,
    COURTESY,
    EVER,
    EXCLUDED,
    FORECAST,
    LASTING,
    LEAD,
    OPENER,
    POLITE,
    RULE,
    SINGLE,
    TO_DO,
)

__all__ = ["lasting_statements"]

MAX_CHARS = 300
"""A longer sentence is no rule or preference."""
MIN_LETTERS = 3
"""Nor is one of fewer letters and digits."""
SAME_SHARE = 0.5
"""Two corrections are the same if they share this much of their words."""


def lasting_statements(text: str, earlier: Iterable[str] = ()) -> list[str]:
    """Return what the user says in `text` that holds beyond the present task, without the words that open it.

    `earlier` is what the user said before: a correction made there too is lasting.
    """
    own = own_words(text)
    found = [(sentence, _lasting(sentence), _correction(sentence)) for sentence in own.sentences]
    alone = own.are_all and all(
        lasting or correction or COURTESY.fullmatch(sentence.plain) for sentence, lasting, correction in found
    )
    before = [words for other in earlier for s in own_words(other).sentences if (words := _correction(s))]
    statements = []
    for sentence, lasting, correction in found:
        again = any(_alike(correction, words) for words in before)
        general = alone and not SINGLE.search(sentence.plain)
        if lasting and (alone or not BEHAVIOUR.search(sentence.plain)):
            statements.append(lasting)
        elif correction and (again or general or EVER.search(sentence.plain)):
            statements.append(LEAD.sub("", sentence.text, count=1))
    return [statement for statement in statements if len(re.findall(r"[^\W_]", statement)) >= MIN_LETTERS]


def _lasting(sentence: Sentence) -> str:
    """Return what a sentence states, if it says by itself that it lasts, else ""."""
    plain = sentence.plain
    if _excluded(plain):
        return ""
    lead = LEAD.match(plain)
    start = lead.end() if lead else 0
    polite = POLITE.match(plain, start)
    if plain.rstrip().endswith(("?", "\uff1f")) and not polite:
        return ""
    fact = fact_to_keep(sentence.text)
    if fact and not TO_DO.match(plain, start):
        return fact
    if polite and RULE.match(plain, polite.end()):
        return sentence.text[polite.end() :].rstrip("?\uff1f ")
    opener = OPENER.match(plain, start)
    if opener and not FORECAST.search(plain):
        return sentence.text[opener.end() :]
    clause = CLAUSE.match(plain, start)
    places = {start, clause.end() if clause else start}
    if any(pattern.match(plain, place) for pattern in LASTING for place in places) or ANYWHERE.search(plain):
        return sentence.text[start:]
    return ""


def _correction(sentence: Sentence) -> frozenset[str]:
    """Return the words of a correction that does not say how long it holds; none if it is none."""
    plain = sentence.plain
    lead = LEAD.match(plain)
    if _excluded(plain) or plain.rstrip().endswith(("?", "\uff1f")):
        return frozenset()
    if not (match := CORRECTION.match(plain, lead.end() if lead else 0)):
        return frozenset()
    rest = sentence.text[match.end() :].lower()
    return frozenset([*re.findall(r"[a-z0-9_]{3,}", rest), *re.findall(r"[\u4e00-\u9fff]", rest)])


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= SAME_SHARE * len(one | other)


def _excluded(plain: str) -> bool:
    return len(plain) > MAX_CHARS or any(test.search(plain) for test in EXCLUDED)
