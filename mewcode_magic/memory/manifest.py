"""Memories as a model is told of them: one line each, without the bodies."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from html import escape

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.memory.record import Memory

__all__ = ["age_in_words", "manifest"]

DESCRIPTION_CHARS = 300
"""Characters of a description that are sent: it should be one sentence, but may be anything."""

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)


def manifest(memories: Iterable[Memory], now: datetime) -> str:
    """Return one line a memory: name, type, age, and when it is of use.

    No `<` is left in it, and credentials are masked.
    """
    return "\n".join(_line(memory, now) for memory in memories)


def age_in_words(age: timedelta) -> str:
    """Return an age as people say it, in whole days or hours."""
    if age < _HOUR:
        return "less than an hour"
    number, unit = (age // _DAY, "day") if age >= _DAY else (age // _HOUR, "hour")
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _line(memory: Memory, now: datetime) -> str:
    name, description = (
        mask_credentials(" ".join(text.split())) for text in (memory.name, memory.description)
    )
    told = f"- {name} ({memory.type}, {age_in_words(memory.age(now))} old): {description[:DESCRIPTION_CHARS]}"
    return escape(told, quote=False)
