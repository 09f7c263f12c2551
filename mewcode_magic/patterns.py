"""What patterns for files may hold beyond those of `.gitignore`: braces for alternatives."""

from __future__ import annotations

import re

from mewcode_magic.errors import InvalidArgument

__all__ = ["alternatives"]

MOST_ALTERNATIVES = 100
"""Patterns that the braces of one may stand for."""

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def alternatives(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for.

    Raises:
        InvalidArgument: it stands for too many.
    """
    pending, patterns = [pattern], []
    while pending:
        one = pending.pop()
        braces = _BRACES.search(one)
        if braces is None:
            patterns.append(one)
        else:
            pending += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
        if len(pending) + len(patterns) > MOST_ALTERNATIVES:
            raise InvalidArgument(f"{pattern[:100]!r} stands for more than {MOST_ALTERNATIVES} patterns")
    return patterns
