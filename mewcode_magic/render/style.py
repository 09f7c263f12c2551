"""The stylesheet of outputs, `style.css`, rule by rule."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

__all__ = ["rules_for"]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"[^{}]+\{[^{}]*\}")
_CLASS = re.compile(r"\.(mew-[a-z]+)")
_BLANKS = re.compile(r"\s*([{};,])\s*|\s+")


def rules_for(html: str) -> list[str]:
    """Return the rules that `html` needs: those whose first class stands in it, in the order of the file."""
    return [rule for name, rule in _rules() if name in html]


@cache
def _rules() -> list[tuple[str, str]]:
    sheet = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    rules = _RULE.findall(_BLANKS.sub(lambda blank: blank[1] or " ", _COMMENT.sub("", sheet)))
    return [(_CLASS.findall(rule)[0], rule.strip().replace(";}", "}").replace(": ", ":")) for rule in rules]
