"""Text, numbers, containers, files, iterators, and any other object: what it stores, its repr if safe."""

from __future__ import annotations

import re
import sys
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

from mewcode_magic.kernel.describe.code import class_doc
from mewcode_magic.kernel.describe.short import dataclass_fields, entries_of, field_names, short
from mewcode_magic.kernel.describe.sizes import SIZED, kind
from mewcode_magic.kernel.describe.static import (
    ancestors,
    attempt,
    class_attributes,
    is_a,
    is_just,
    package_of,
    stored,
    text_of,
    type_name,
)
from mewcode_magic.kernel.describe.words import cut, escape, number, quoted

__all__ = ["any_object", "container", "file", "iterator", "scalar", "text"]

TEXT_CHARS = 1_000
ENTRIES = 10
"""Entries shown of a container."""
TYPED = 1_000
"""Entries of a container whose types are counted."""
ATTRIBUTES = 20
MOST_TYPES = 5
LINE_CHARS = 160
REPR_CHARS = 500

SMALL = 200
"""Objects that something may hold altogether so that its own repr is called."""
SMALL_TEXT = 10_000

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")

_HOLDS_MORE = {
    f"__{name}__" for name in ("iter", "len", "getitem", "next", "aiter", "await", "getattr", "getattribute")
}
"""Methods of containers, queries, and proxies, whose reprs may load or show any amount."""


def text(value: str, *, share_values: bool) -> Iterator[str]:
    """Yield the beginning of a string."""
    if share_values:
        length = str.__len__(value)
        if length > TEXT_CHARS:
            yield f"the first {number(TEXT_CHARS)} characters:"
        yield quoted(value, TEXT_CHARS)


def scalar(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield a value that is one line."""
    if share_values:
        yield f"value: {short(value, share_values=True, chars=REPR_CHARS)}"


def container(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield the types of the entries of a builtin container and, with values, the first ones.

    Of a named tuple, each field.
    """
    names = field_names(value)
    if names:
        pairs = zip(names, tuple.__iter__(value), strict=False)
        yield from _attributes(list(pairs), share_values=share_values)
        return
    length = next(cls for cls in SIZED if is_a(value, cls)).__len__(value)
    if not length:
        yield "empty"
        return
    is_mapping = is_a(value, dict)
    first = list(islice(entries_of(value), TYPED))
    some = f" (of the first {number(TYPED)})" if length > TYPED else ""
    if is_mapping:
        yield f"keys: {_types([key for key, _ in first])}{some}"
        yield f"values: {_types([item for _, item in first])}{some}"
    else:
        yield f"items: {_types(first)}{some}"
    if not share_values:
        return
    yield f"first {number(ENTRIES)}:" if length > ENTRIES else "all:"
    lines = [
        f"  {_one(entry[0])}: {_one(entry[1])}" if is_mapping else f"  {_one(entry)}"
        for entry in first[: TYPED if is_a(value, set, frozenset) and not some else ENTRIES]
    ]
    if is_a(value, set, frozenset):
        lines.sort()  # each run hashes text differently
    yield from lines[:ENTRIES]


def _one(entry: Any) -> str:
    return short(entry, share_values=True, chars=LINE_CHARS)


def _types(entries: list[Any]) -> str:
    """Return the types of entries, the most frequent first: `7 int, 3 str`."""
    types = {id(type(entry)): type(entry) for entry in entries}  # a metaclass may have a hash of its own
    counts = Counter(id(type(entry)) for entry in entries)
    parts = [f"{number(n)} {type_name(types[key])}" for key, n in counts.most_common(MOST_TYPES)]
    more = len(counts) - len(parts)
    return ", ".join([*parts, f"and {more} more types"] if more else parts)


def iterator(value: Any, *, share_values: bool) -> Iterator[str]:  # noqa: ARG001 - nothing is taken from it
    """Yield that it is one: to look at its items would use them up."""
    yield "an iterator; nothing was taken from it"


def file(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield an open file's state and, with values, its name; it is neither read nor moved in."""
    yield "closed" if value.closed is True else "open"
    names = ("mode", "encoding", "name") if share_values else ("mode", "encoding")
    for name in names:
        item = attempt(lambda name=name: getattr(value, name), None)  # type: ignore[misc]
        if is_a(item, str, int):
            yield f"{name}: {short(item, share_values=True, chars=LINE_CHARS)}"


def any_object(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield what is stored in an object of any class: attributes with their values, or types only.

    Its own `__repr__` is called only where it cannot have much to show: a container's may be endless, that
    of a query runs the query, and none can be stopped. No property is run.
    """
    cls = type(value)
    if any("__next__" in class_attributes(ancestor) for ancestor in ancestors(cls)):
        yield from iterator(value, share_values=share_values)
    attributes = stored(value)
    fields = dataclass_fields(value)
    if fields is not None:
        yield "a dataclass"
        attributes = {name: attributes[name] for name in fields if name in attributes}
    public = [(name, item) for name, item in attributes.items() if not name.startswith("_")]
    yield from _attributes(public, share_values=share_values)
    private = len(attributes) - len(public)
    if private:
        yield f"private attributes: {number(private)}"
    own_classes = [
        ancestor for ancestor in ancestors(cls) if package_of(ancestor) not in sys.stdlib_module_names
    ]
    methods = [
        name
        for ancestor in own_classes
        for name, item in class_attributes(ancestor).items()
        if callable(item) and not name.startswith("_")
    ]
    if methods:
        yield f"methods: {', '.join(list(dict.fromkeys(methods))[:ATTRIBUTES])}"
    if share_values and fields is None and _may_show_itself(value):
        shown = attempt(lambda: text_of(repr(value)), "")
        yield (
            f"repr: {cut(escape(_ADDRESS.sub('', shown[:SMALL_TEXT])), REPR_CHARS)}"
            if shown
            else "its repr fails"
        )
    if cls in own_classes:
        yield from class_doc(cls)


def _attributes(pairs: list[tuple[str, Any]], *, share_values: bool) -> Iterator[str]:
    if pairs:
        yield "attributes:"
    for name, item in pairs[:ATTRIBUTES]:
        shown = short(item, share_values=True, chars=LINE_CHARS) if share_values else kind(item)
        yield f"  {cut(name, LINE_CHARS)}: {shown}"
    if len(pairs) > ATTRIBUTES:
        yield f"  and {number(len(pairs) - ATTRIBUTES)} more"


def _may_show_itself(value: Any) -> bool:
    """Whether a class has a repr of its own that cannot have much to show, as far as what it holds tells."""
    return _has_own_repr(type(value)) and _is_small(value)


def _has_own_repr(cls: type) -> bool:
    return any("__repr__" in class_attributes(ancestor) for ancestor in ancestors(cls)[:-1])


def _is_small(value: Any) -> bool:
    """Whether all that an object holds, at any depth, is little and of harmless classes."""
    rest: deque[Any] = deque([value])
    looked_at: set[int] = set()
    while rest:
        item = rest.popleft()
        if id(item) in looked_at or item is None:
            continue
        looked_at.add(id(item))
        if len(looked_at) + len(rest) > SMALL:
            return False
        parts = _parts(item)
        if parts is None or len(parts) > SMALL:
            return False
        rest.extend(parts)
    return True


def _parts(item: Any) -> list[Any] | None:
    """Return what a repr of `item` may show of other objects; None if that may be much."""
    if is_just(item, bool, int, float, complex, type):
        return []
    if is_just(item, str, bytes, bytearray):
        return [] if len(item) <= SMALL_TEXT else None
    if is_just(item, dict):
        return [part for pair in islice(item.items(), SMALL + 1) for part in pair]
    if is_just(item, *SIZED):
        return list(islice(item, SMALL + 1))
    names = {name for ancestor in ancestors(type(item))[:-1] for name in class_attributes(ancestor)}
    return None if names & _HOLDS_MORE else list(stored(item).values())
