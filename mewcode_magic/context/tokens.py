"""How many tokens a text or a request may have, before the API says so."""

from __future__ import annotations

import re
from typing import Any

import orjson

__all__ = ["estimate_tokens", "estimate_tokens_of"]

CHARS_PER_TOKEN = 3.6
"""English prose, code and JSON lie between 3 and 4.5 characters a token."""
TOKENS_PER_WIDE_CHAR = 1.1
"""A Chinese, Japanese or Korean character is about one token."""
IMAGE_TOKENS = 1_600
"""An image of the largest size that is sent (1568 px) costs about this."""

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` has."""
    wide = len(_WIDE.findall(text))
    return round(wide * TOKENS_PER_WIDE_CHAR + (len(text) - wide) / CHARS_PER_TOKEN + 0.49)


def estimate_tokens_of(value: Any) -> int:
    """Return about how many tokens a part of a request has: blocks, messages, tools."""
    if isinstance(value, str):
        return estimate_tokens(value)
    if isinstance(value, dict) and value.get("type") == "image":
        return IMAGE_TOKENS
    if isinstance(value, dict) and value.get("type") == "text":
        return estimate_tokens(str(value.get("text", "")))
    if isinstance(value, dict) and isinstance(value.get("content"), str | list):
        return 4 + estimate_tokens_of(value["content"])
    if isinstance(value, list):
        return sum(map(estimate_tokens_of, value))
    return estimate_tokens(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=str).decode())
