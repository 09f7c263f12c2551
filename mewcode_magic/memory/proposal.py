"""A proposal to make one memory of several: how it is asked for and read, and when it may be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from mewcode_magic.clock import local
from mewcode_magic.errors import InvalidMemory, one_line
from mewcode_magic.memory.document import first_sentence
from mewcode_magic.memory.names import has_name
from mewcode_magic.memory.record import Memory
from mewcode_magic.memory.restated import loses_text
from mewcode_magic.memory.screened import refuse_credentials
from mewcode_magic.memory.similar import words_of
from mewcode_magic.memory.validity import place_of, validate

__all__ = ["Answer", "Merge", "Note", "Proposal", "checked", "note_of"]

KEPT_SHARE = 0.5
"""Share of each source's words that a merged memory must keep: less is no merging but deleting."""


class Note(msgspec.Struct, frozen=True):
    """A memory as it is shown to what proposes."""

    id: str
    """Place and slug."""
    name: str
    type: str
    description: str
    changed: str
    """The day of its last change, or ""."""
    body: str


class Proposal(msgspec.Struct, frozen=True):
    """One merge as it is proposed: `sources` are ids."""

    sources: list[str]
    name: str
    description: str
    body: str
    type: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """The whole answer; each proposal is read on its own, so that a bad one costs no other."""

    merges: list[Any]


@dataclass(frozen=True, slots=True)
class Merge:
    """A proposal that may be written: `sources` as they were read, and what would stand in their place."""

    sources: tuple[Memory, ...]
    result: Memory


def note_of(memory: Memory) -> Note:
    """Return a memory as it is shown."""
    changed = local(memory.when).date().isoformat() if memory.when else ""
    slug = memory.slug.encode("utf-8", errors="replace").decode("utf-8")
    return Note(f"{memory.place}/{slug}", memory.name, memory.type, memory.description, changed, memory.body)


def checked(
    value: object, shown: Sequence[Memory], merges: Sequence[Merge], standing: Sequence[Memory]
) -> Merge:
    """Return a proposal about memories that were `shown` as a merge that loses nothing.

    `merges` are the earlier ones of the answer, `standing` all memories that there are.

    Raises:
        InvalidMemory: it must not be written, or cannot be read; the text says which and why.
    """
    try:
        proposal = msgspec.convert(value, Proposal)
    except msgspec.ValidationError as error:
        raise InvalidMemory(f"a proposal cannot be read: {error}") from error
    known = {note_of(memory).id: memory for memory in shown}
    sources = tuple(known[name] for name in dict.fromkeys(proposal.sources) if name in known)
    try:
        _refuse_sources(sources, merges)
        result = _merged(proposal, sources)
        _refuse_result(result, sources, standing)
    except InvalidMemory as error:
        raise InvalidMemory(one_line(f"{' and '.join(proposal.sources) or 'nothing'}: {error}")) from error
    return Merge(sources, result)


def _refuse_sources(sources: Sequence[Memory], merges: Sequence[Merge]) -> None:
    if len(sources) < 2:  # noqa: PLR2004 - a merge is of several
        raise InvalidMemory("fewer than two of them are there")
    taken = {source.path for merge in merges for source in merge.sources}
    if any(source.path in taken for source in sources):
        raise InvalidMemory("one of them is part of another merge")
    if len({source.expires for source in sources}) > 1:
        raise InvalidMemory("they expire at different times")


def _merged(proposal: Proposal, sources: Sequence[Memory]) -> Memory:
    """Return the memory that would stand in the place of `sources`.

    It is as old as the newest of them: what it says was not looked at again.
    """
    kind = proposal.type or sources[0].type
    if not proposal.type and len({source.place for source in sources}) > 1:
        raise InvalidMemory("they stand in both places, and no type says where they belong")
    place_of(kind)
    newest = max(sources, key=lambda source: (source.when is not None, source.when))
    created = [moment for source in sources if (moment := source.created or source.when)]
    extra: dict[str, Any] = {}
    for source in (*sources, newest):
        extra |= source.extra
    return Memory(
        proposal.name.strip() or sources[0].name,
        proposal.description.strip() or first_sentence(proposal.body),
        kind,
        proposal.body,
        created=min(created, default=None),
        updated=newest.when,
        expires=newest.expires,
        source=newest.source,
        extra=extra,
    )


def _refuse_result(result: Memory, sources: Sequence[Memory], standing: Sequence[Memory]) -> None:
    validate(result)
    refuse_credentials(result, None)
    kept = words_of(f"{result.name}\n{result.description}\n{result.body}")
    reasons = [loses_text(result.body, source.body) for source in sources]
    if all(reasons):  # what one of them says itself stands for nothing that was left out
        raise InvalidMemory(reasons[0])
    for source in sources:
        words = words_of(source.body)
        share = len(words & kept) / len(words) if words else 1.0
        if share < KEPT_SHARE:
            raise InvalidMemory(f"of the words of {source.name!r} only {share:.0%} would be left")
    paths = {source.path for source in sources}
    for other in standing:
        if other.path not in paths and has_name(other, result.name):
            raise InvalidMemory(f"there is another memory {result.name!r} already")
