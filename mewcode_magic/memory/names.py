"""Which memory a name means, and which names are free."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

from mewcode_magic.memory.record import Memory, slug_of

__all__ = ["free_name", "has_name", "matching", "similar_names"]


def has_name(memory: Memory, name: str) -> bool:
    """Return whether `name` is the memory's; spellings with the same slug are the same name."""
    return memory.name == name or slug_of(memory.name) == slug_of(name)


def matching(memories: Iterable[Memory], name: str) -> list[Memory]:
    """Return the memories that `name` means: by exact name, else by slug, else by another spelling of it."""
    memories = list(memories)
    wanted = name.strip().removesuffix(".md")
    tests: tuple[Callable[[Memory], bool], ...] = (
        lambda memory: memory.name == name,
        lambda memory: memory.slug == wanted,
        lambda memory: slug_of(memory.name) == slug_of(name),
    )
    return next((found for test in tests if (found := [m for m in memories if test(m)])), [])


def similar_names(memories: Iterable[Memory], name: str) -> str:
    """Return "; did you mean …?" for a name that no memory has, or where all of them are listed."""
    known = {word: memory.name for memory in memories for word in (memory.slug, memory.name.lower())}
    close = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    names = list(dict.fromkeys(repr(known[word]) for word in close))
    return f"; did you mean {' or '.join(names)}?" if names else "; %memory lists what there is"


def free_name(memories: Iterable[Memory], name: str) -> str:
    """Return `name`, with the first number behind it that makes it no memory's name yet."""
    taken = {slug_of(memory.name) for memory in memories}
    number, free = 1, name
    while slug_of(free) in taken:
        number += 1
        free = f"{name}-{number}"
    return free
