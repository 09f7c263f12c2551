"""What a person should look at in the memory folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime

from mewcode_magic.clock import local
from mewcode_magic.errors import StorageError
from mewcode_magic.memory.folder import MemoryFolder, Problem
from mewcode_magic.memory.record import PLACE_OF, Memory, slug_of

__all__ = ["check_folder", "check_memories"]


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
    """Return what is wrong between memories, of both places: expired ones, and those that are there twice."""
    problems = []
    names: dict[str, Memory] = {}
    bodies: dict[str, Memory] = {}
    for memory in memories:
        path = memory.path
        if path is None:
            continue
        if memory.is_expired(now) and memory.expires:
            day = local(memory.expires).date().isoformat()
            text = f"it expired on {day}, so it is not sent any more; delete it, or save it anew"
            problems.append(Problem("expired", path, text))
        if (first := names.setdefault(slug_of(memory.name), memory)) is not memory:
            text = f"{first.place} memory {first.slug}.md has the same name; --type says which one is meant"
            if first.place == memory.place:
                text = f"{first.slug}.md has the same name; delete one of the files"
            problems.append(Problem("same name", path, text))
        if memory.body and (first := bodies.setdefault(memory.body_key, memory)) is not memory:
            problems.append(
                Problem("same body", path, f"the {first.place} memory {first.name!r} says the same")
            )
    return problems


def _index_file(folder: MemoryFolder) -> list[Problem]:
    try:
        _, clean = folder.index_text()
    except StorageError as error:
        return [Problem("unreadable", folder.index_path, str(error))]
    return [] if clean else [Problem("encoding", folder.index_path, "it is not UTF-8")]


def _misplaced(memory: Memory) -> str:
    if memory.found_in == "user":
        return f"a memory of type {memory.type} is used only from a project's folder; move it there"
    return f"a memory of type {memory.type} belongs to the user's folder; saving it moves it there"
