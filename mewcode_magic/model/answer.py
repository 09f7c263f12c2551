"""A query's answer read from what a model said: JSON, with or without fences and words around it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from mewcode_magic.errors import AnswerUnusable

__all__ = ["read_answer"]

STARTS = 50
"""Most places in a text where an object or a list might begin that are looked at."""


def read_answer(text: str, schema: Any) -> Any:
    """Return the value of `schema` in a text; the text itself where the schema is None.

    Of several, it is the first that fits. What a schema does not name is left out.

    Raises:
        AnswerUnusable: there is no JSON in it, or none that fits.
    """
    if schema is None:
        return text.strip()
    fault = "it holds no JSON"
    for value in _values(text):
        try:
            return msgspec.convert(value, schema)
        except msgspec.ValidationError as error:
            fault = str(error)
    raise AnswerUnusable(f"the model's answer to a question of the program cannot be used: {fault}")


def _values(text: str) -> Iterator[Any]:
    """Yield what stands in a text as JSON, each object and list that is not inside another."""
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(STARTS):
        starts = [at for at in (text.find("{", place), text.find("[", place)) if at >= 0]
        if not starts:
            return
        place = min(starts)
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
        else:
            yield value
