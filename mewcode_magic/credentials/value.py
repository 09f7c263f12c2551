"""One value in a text, and what only stands in the place of one."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Value", "is_placeholder"]


@dataclass(frozen=True, slots=True)
class Value:
    """Where the value of a credential stands in a text, and of which kind it is."""

    start: int
    end: int
    kind: str


_PLACEHOLDER = re.compile(
    r"\$\{?[A-Za-z_]\w*\}?|%[A-Za-z_]\w*%|\{.*\}|<.*>|\[.*\]|\(.*\)"  # a variable, or something in brackets
    r"|.*(?:\.\.\.|\N{HORIZONTAL ELLIPSIS}|\*\*\*|x{4}|(.)\1{7}).*"  # something left out
    r"|.*example(?:key)?"
    r"|(?:.*[-_. ])?(?:your|placeholder|redacted|dummy|fake|changeme|todo)(?:[-_. ].*)?",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = frozenset(
    """
    password passwd pass pwd passphrase secret token key apikey api_key api-key str string text bytes int bool
    none null nil true false undefined empty required optional hidden masked encrypted hashed unknown missing
    wrong invalid prompt input user username admin_password my_password default env
    """.split()  # noqa: SIM905 - as a list, thirty lines
)


def is_placeholder(value: str) -> bool:
    """Return whether `value` only says that a credential belongs here: `<your-key>`, `sk-...`, `$API_KEY`."""
    return value.lower() in _WORDS or _PLACEHOLDER.fullmatch(value) is not None
