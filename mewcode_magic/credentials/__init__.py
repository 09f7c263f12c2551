"""Credentials in a text: keys and tokens, private keys, and passwords in addresses, settings and sentences.

They are found and masked; a value is never part of what is returned otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mewcode_magic.credentials.tokens import find_private_keys, find_tokens
from mewcode_magic.credentials.value import Value
from mewcode_magic.credentials.words import find_in_addresses, find_in_words

__all__ = ["Credential", "find_credentials", "first_mask", "mask_credentials"]

_MASK = re.compile(r"\[credential: [A-Za-z ]{3,60}\]")


@dataclass(frozen=True, slots=True)
class Credential:
    """One place in a text that looks like a credential."""

    kind: str
    line: int
    """Counted from 1."""


def find_credentials(text: str, *, known: str = "") -> list[Credential]:
    """Return what in `text` looks like a credential, in its order.

    Args:
        text: anything; nothing that it says switches the search off.
        known: a text whose credentials are not told again where they stand in `text` too.
    """
    return [
        Credential(value.kind, text.count("\n", 0, value.start) + 1)
        for value in _values(text)
        if text[value.start : value.end] not in known
    ]


def mask_credentials(text: str) -> str:
    """Return `text` with `[credential: kind]` in place of each value."""
    parts, end = [], 0
    for value in _values(text):
        parts += [text[end : value.start], f"[credential: {value.kind}]"]
        end = value.end
    return "".join([*parts, text[end:]])


def first_mask(text: str) -> str:
    """Return the first `[credential: kind]` that stands in `text` for a value, or ""."""
    found = _MASK.search(text)
    return found[0] if found else ""


def _values(text: str) -> list[Value]:
    """Return where values stand, in order and apart from one another."""
    text = _MASK.sub(lambda mask: "*" * len(mask[0]), text)
    # The sort is stable: of several kinds that begin at one place, the most exact is the first.
    found = [*find_private_keys(text), *find_tokens(text), *find_in_addresses(text), *find_in_words(text)]
    values: list[Value] = []
    for value in sorted(found, key=lambda value: value.start):
        if values and value.start < values[-1].end:
            values[-1] = Value(values[-1].start, max(values[-1].end, value.end), values[-1].kind)
        else:
            values.append(value)
    return values
