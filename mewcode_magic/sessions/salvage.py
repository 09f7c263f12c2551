"""Reading what is left of a line that is not sound JSON.

Crashed appends and two writers at once leave runs of NUL, half a record with the next one on the same line,
bytes that are no UTF-8 and halves of surrogate pairs. Whole records among them are still to be had.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

__all__ = ["salvage"]

_START = re.compile(r'\{\s*"(?:role|type)"\s*:')
_GAP = " \t\r\0"

MAX_WORK = 10
"""How often a line may be read over, in search of records, before the search is given up."""


def salvage(line: bytes, is_whole: Callable[[Any], bool]) -> tuple[list[Any], bool]:
    """Return the whole records of a damaged line in their order, and whether a part of it was lost.

    They are sought at both ends of the line, where a torn write leaves them. `is_whole` tells a record from
    an object inside one, which may be all that is left of a record.
    """
    text = line.decode("utf-8", "replace")
    records: list[Any] = []
    start = 0
    while start < len(text) and (read := _parse(text, start)) is not None:
        value, start = read
        records.append(_clean(value))
    if start == len(text):
        return records, False
    return [*records, *_last_records(text, start, is_whole)], True


def _last_records(text: str, start: int, is_whole: Callable[[Any], bool]) -> list[Any]:
    """Return the records that follow one another up to the end of the text, none of them before `start`."""
    records: list[Any] = []
    end = len(text)
    work = MAX_WORK * end
    starts = [match.start() for match in _START.finditer(text, start)]
    for position in reversed(starts):
        read = _parse(text, position)
        if read is not None and read[1] == end and is_whole(read[0]):
            records.append(_clean(read[0]))
            end = position
        # To say where it is that nothing can be parsed, the decoder looks through the text up to there.
        work -= len(text) if read is None else read[1] - position
        if work < 0:
            break
    return records[::-1]


def _parse(text: str, start: int) -> tuple[Any, int] | None:
    """Return the value that begins at `start`, and where the next may begin; None if there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    while end < len(text) and text[end] in _GAP:
        end += 1
    return value, end


def _clean(value: Any) -> Any:
    """Return `value` with whole characters only: surrogate pairs joined, halves of them replaced.

    A number that JSON does not have, or nesting without end, leaves nothing.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return msgspec.json.decode(whole)
    except (ValueError, RecursionError):
        return None


# Control characters inside strings are let pass, and numbers that other writers invent become null.
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
