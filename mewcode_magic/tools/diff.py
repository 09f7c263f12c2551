"""A change as a unified diff, at a bounded cost."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

__all__ = ["unified_diff"]

DIFF_LINES = 2_000
"""Lines of a diff that are shown."""
ALIKE_LINES = 4_000_000
"""Pairs of lines that are compared to find the smallest diff; beyond, all between two ends is one change."""


def unified_diff(before: str | None, after: str, name: str) -> str:
    """Return what changes in a file of that name; `before` is None if there was no file."""
    heads = ["--- /dev/null" if before is None else f"--- {name}", f"+++ {name}"]
    lines = [*heads, *_hunks(_lines(before or ""), _lines(after))]
    if len(lines) > DIFF_LINES:
        lines[DIFF_LINES:] = [f"… {len(lines) - DIFF_LINES:,} more lines"]
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Return lines as a diff compares them; a missing newline at the end is a part of the last one."""
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines


def _hunks(old: list[str], new: list[str], around: int = 3) -> Iterator[str]:
    """Yield the lines of a unified diff behind its head.

    What both ends have in common is set aside first, so that one change in a long file costs little.
    """
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(middle_old) * len(middle_new) > ALIKE_LINES:
        changes = [(head, len(old) - tail, head, len(new) - tail)]
    else:
        codes = SequenceMatcher(None, middle_old, middle_new).get_opcodes()
        changes = [(a + head, b + head, c + head, d + head) for tag, a, b, c, d in codes if tag != "equal"]
    groups: list[list[tuple[int, int, int, int]]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * around:
            groups[-1].append(change)
        else:
            groups.append([change])
    for group in groups:
        start, end = max(group[0][0] - around, 0), min(group[-1][1] + around, len(old))
        shift = group[0][2] - group[0][0]
        new_end = end + group[-1][3] - group[-1][1]
        yield f"@@ -{_range(start, end)} +{_range(start + shift, new_end)} @@"
        for a, b, c, d in group:
            yield from (f" {line}" for line in old[start:a])
            yield from (f"-{line}" for line in old[a:b])
            yield from (f"+{line}" for line in new[c:d])
            start = b
        yield from (f" {line}" for line in old[start:end])


def _range(start: int, end: int) -> str:
    """Return lines as a hunk's head counts them."""
    length = end - start
    return f"{start + 1 if length else start},{length}" if length != 1 else f"{start + 1}"


def _common(one: list[str], other: list[str]) -> int:
    """Return how many lines two lists begin with in common."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))
