"""The lines of `MEMORY.md`: read, brought up to date with a folder's memories, and capped for a request.

One line a memory, `- [title](file.md) - description`; also `—` and other bullets are read. All other lines
were written by people and stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, unquote

from mewcode_magic.memory.record import Memory

__all__ = ["IndexLine", "capped", "merged", "parsed", "size"]

_ENTRY = re.compile(
    r"\s*[-*+]\s+\[(?P<title>(?:\\.|[^\\\]]|\](?!\())*)\]\((?P<link>[^()\s]+\.md)\)(?:\s*[-–—:]+(?=\s|$))?(?P<rest>.*)"  # noqa: RUF001
)
_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class IndexLine:
    """One line: `slug` is the file that it points to, or None where people wrote something else."""

    text: str
    slug: str | None = None
    title: str = ""
    description: str = ""
    memory: Memory | None = None


def parsed(text: str) -> list[IndexLine]:
    """Return the lines of an index file, none for an empty one."""
    text = text.removeprefix("\N{BYTE ORDER MARK}").replace("\0", "\N{REPLACEMENT CHARACTER}")
    lines = text.replace("\r\n", "\n").rstrip().split("\n")
    return [_parsed_line(line) for line in lines] if lines != [""] else []


def merged(
    lines: Iterable[IndexLine], memories: Iterable[Memory], *, unread: Iterable[str] = ()
) -> list[IndexLine]:
    """Return the lines for what a folder holds now.

    Lines keep their place and title and get the file's description; lines of files that are gone, and second
    lines of one file, go; what has no line yet follows at the end, the oldest first. `unread`: the slugs of
    files that are there though they cannot be read; their lines stay as they are.
    """
    waiting = {memory.slug: memory for memory in memories}
    kept = set(unread) - waiting.keys()
    result = []
    for line in lines:
        if line.slug is None:
            result.append(line)
        elif memory := waiting.pop(line.slug, None):
            result.append(_line(memory, line))
        elif line.slug in kept:
            kept.remove(line.slug)
            result.append(line)
    if waiting and result and result[-1].slug is None and result[-1].text:
        result.append(IndexLine(""))  # else Markdown takes the new line for part of the paragraph
    newest_last = sorted(waiting.values(), key=lambda memory: (memory.when or _BEGINNING, memory.slug))
    return result + [_line(memory) for memory in newest_last]


def capped(lines: list[IndexLine], *, max_lines: int, max_bytes: int) -> str:
    """Return the lines as one text within both limits, or "" if they hold nothing but headings.

    Where they do not fit, the newest memories are kept, then what people wrote, whole lines in their order,
    and a last line says how many are not shown; it counts towards the limits.
    """
    if all(line.slug is None and (not line.text.strip() or line.text.startswith("#")) for line in lines):
        return ""
    count, total = size(lines)
    if count <= max_lines and total <= max_bytes:
        return "\n".join(line.text for line in lines)
    count, total = 1, len(_not_shown(len(lines), len(lines)).encode())
    kept: set[int] = set()
    for number in _by_worth(lines):
        length = _bytes(lines[number])
        if length > max_bytes:
            continue  # it never fits; the others should not suffer for it
        count, total = count + 1, total + length
        if count > max_lines or total > max_bytes:
            break
        kept.add(number)
    left = [line for number, line in enumerate(lines) if number not in kept and line.text.strip()]
    memories = sum(line.memory is not None for line in left)
    shown = [line.text for number, line in enumerate(lines) if number in kept]
    return "\n".join([*shown, _not_shown(memories, len(left) - memories)] if left else shown)


def size(lines: Iterable[IndexLine]) -> tuple[int, int]:
    """Return how many lines and bytes the lines are."""
    lengths = [_bytes(line) for line in lines]
    return len(lengths), sum(lengths)


def _bytes(line: IndexLine) -> int:
    return len(line.text.encode("utf-8", errors="replace")) + 1


def _by_worth(lines: list[IndexLine]) -> list[int]:
    entries = [(line.memory.when or _BEGINNING, n) for n, line in enumerate(lines) if line.memory]
    return [n for _, n in sorted(entries, reverse=True)] + [n for n, x in enumerate(lines) if not x.memory]


def _not_shown(memories: int, others: int) -> str:
    parts = [f"{memories} older {'memory' if memories == 1 else 'memories'}"] if memories else []
    parts += [f"{others} other {'line' if others == 1 else 'lines'}"] if others else []
    verb = "is" if memories + others == 1 else "are"
    return f"({' and '.join(parts)} {verb} not shown; the files are in this folder)"


def _line(memory: Memory, standing: IndexLine | None = None) -> IndexLine:
    title = standing.title if standing else memory.name
    if standing and standing.description == memory.description:
        text = standing.text  # with the dash that it has
    else:
        # Between brackets and parentheses only what cannot end them.
        label = re.sub(r"([\\\[\]])", r"\\\1", title)
        link = re.sub(r"[\s()<>%:\x00-\x1f\ud800-\udfff]", _percent, memory.slug)
        text = f"- [{label}]({link}.md)" + (f" - {memory.description}" if memory.description else "")
    return IndexLine(text, memory.slug, title, memory.description, memory)


def _percent(match: re.Match[str]) -> str:
    return quote(match[0], safe="", errors="surrogateescape")


def _parsed_line(text: str) -> IndexLine:
    match = _ENTRY.fullmatch(text)
    link = unquote(match["link"], errors="surrogateescape").removeprefix("./") if match else ""
    elsewhere = link.startswith("/") or ".." in link.split("/")
    if not match or elsewhere or ":" in match["link"]:
        return IndexLine(text)
    title = re.sub(r"\\([\\\[\]])", r"\1", match["title"])
    return IndexLine(text, link.removesuffix(".md"), title, match["rest"].strip())
