"""What a person should look at in the memory folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from mewcode_magic.clock import local
from mewcode_magic.errors import StorageError
from mewcode_magic.memory.folder import MemoryFolder, Problem
from mewcode_magic.memory.record import BODY_CHARS, PLACE_OF, Memory, slug_of
from mewcode_magic.memory.similar import duplicates, similar_pairs

__all__ = ["check_folder", "check_memories"]

STALE_DAYS = 180
"""Days without a change after which a person should look whether a memory still holds: half a year."""


def check_folder(folder: MemoryFolder, *, shared: bool) -> list[Problem]:
    """Return what is wrong with a folder's files and where its index differs from them.

    `shared`: the one folder serves both places, so that every type belongs there.
    """
    contents = folder.contents()
    problems = [*contents.problems, *_index_file(folder)]
    lines = {line.slug: line for line in folder.index_lines() if line.slug is not None}
    for slug, line in lines.items():
        if not os.path.lexists(folder.path / f"{slug}.md"):
            text = f"its line for {line.title!r} points to {slug}.md, which is gone; the next save removes it"
            problems.append(Problem("dangling", folder.index_path, text))
    for memory in contents.memories:
        path = memory.path or folder.path
        if memory.slug not in lines:
            problems.append(
                Problem("not indexed", path, "MEMORY.md has no line for it; the next save adds one")
            )
        elif lines[memory.slug].description != memory.description:
            text = "MEMORY.md describes it otherwise; the next save writes its own description there"
            problems.append(Problem("stale index", path, text))
        if not shared and PLACE_OF[memory.type] != folder.place:
            problems.append(Problem("misplaced", path, _misplaced(memory)))
    return problems


def check_memories(memories: Iterable[Memory], now: datetime) -> list[Problem]:
    """Return what is wrong with memories of both places, and between them.

    Those that expired, are too long or long unchanged, and those that are there twice or nearly so.
    """
    problems = []
    live = []
    for memory in memories:
        if memory.path is None:
            continue
        if memory.is_expired(now) and memory.expires:
            day = local(memory.expires).date().isoformat()
            text = f"it expired on {day}, so it is not sent any more; delete it, or save it anew"
            problems.append(Problem("expired", memory.path, text))
            continue
        live.append(memory)
        if (length := len(memory.body)) > BODY_CHARS:
            text = f"it has {length:,} characters, of which {BODY_CHARS:,} are sent; shorten it, or split it"
            problems.append(Problem("too long", memory.path, text))
        if not memory.expires and memory.when and (days := memory.age(now).days) >= STALE_DAYS:
            day = local(memory.when).date().isoformat()
            text = f"unchanged since {day}, {days:,} days ago; renew its text, or %forget {memory.slug}"
            problems.append(Problem("stale", memory.path, text))
    return [*problems, *_same_names(live), *_same_bodies(live)]


def _same_names(memories: Sequence[Memory]) -> Iterator[Problem]:
    names: dict[str, Memory] = {}
    for memory in memories:
        first = names.setdefault(slug_of(memory.name), memory)
        if first is memory or memory.path is None:
            continue
        text = f"{first.place} memory {first.slug}.md has the same name; --type says which one is meant"
        if first.place == memory.place:
            text = f"{first.slug}.md has the same name; delete one of the files"
        yield Problem("same name", memory.path, text)


def _same_bodies(memories: Sequence[Memory]) -> Iterator[Problem]:
    for kept, memory in duplicates(memories):
        if memory.path:
            yield Problem("same body", memory.path, f"the {kept.place} memory {kept.name!r} says the same")
    told = set()
    for pair in sorted(similar_pairs(memories), key=lambda pair: (not pair.included, -pair.share)):
        first, second = pair.first, pair.second
        if second.path in told and not pair.included:
            first, second = second, first
        if second.path is None or second.path in told:  # its closest one is enough
            continue
        told.add(second.path)
        other = f"the {first.place} memory {first.name!r}"
        text = (
            f"{pair.share:.0%} of its words and those of {other} are the same; %memory condense merges them"
        )
        if pair.included:
            text = f"{other} says all of it, and more; %memory condense merges them"
        yield Problem("alike", second.path, text)


def _index_file(folder: MemoryFolder) -> list[Problem]:
    try:
        _, clean = folder.index_text()
    except StorageError as error:
        return [Problem("unreadable", folder.index_path, str(error))]
    return [] if clean else [Problem("encoding", folder.index_path, "it is not UTF-8")]


def _misplaced(memory: Memory) -> str:
    if memory.found_in == "user":
        where = "is used only from a project's folder; %memory import FILE brings it into this one"
        return f"a memory of type {memory.type} {where}"
    where = "belongs to the user's folder; saving it moves it there, and --fix does unless git tracks it"
    return f"a memory of type {memory.type} {where}"
