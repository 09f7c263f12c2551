"""Condensing: which memories could become one. A model, or a rule, proposes; the user decides.

Nothing is written before the user has seen it, and only if every memory is still as it was then. The
memories that were merged go to the trash.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from mewcode_magic.errors import InvalidMemory, MemoryStoreError, StorageError
from mewcode_magic.events import Model, Query
from mewcode_magic.memory.proposal import Answer, Merge, Note, Proposal, checked, note_of
from mewcode_magic.memory.record import BODY_CHARS, Memory
from mewcode_magic.memory.similar import includes, similar_pairs
from mewcode_magic.memory.store import MemoryStore
from mewcode_magic.memory.writing import Saved
from mewcode_magic.messages import Usage

__all__ = ["Condensation", "merges_by_rule", "propose_merges", "write_merges"]

SECONDS = 60.0
MAX_TOKENS = 8_000
MAX_CHARS = 120_000
"""Characters of memories that are shown at once, about 30,000 tokens."""


@dataclass(frozen=True, slots=True)
class Condensation:
    """What was proposed."""

    merges: tuple[Merge, ...]
    refused: tuple[str, ...]
    """One line on each proposal that must not be written: which, and why."""
    shown: int
    """Memories that were looked at."""
    left_out: int
    """Memories that were not: with a credential, longer than what is sent, or beyond what fits in."""
    model: str
    """The name of what proposed it."""
    usage: Usage


def propose_merges(store: MemoryStore, model: Model, *, now: datetime) -> Condensation:
    """Return which of the store's memories the model would merge; nothing is written.

    Raises:
        ModelError: there is no answer, or none that can be read.
    """
    live = [memory for memory in store.list() if not memory.is_expired(now)]
    shown = _shown(store, live)
    merges: list[Merge] = []
    refused: list[str] = []
    usage = Usage()
    if len(shown) > 1:
        text = msgspec.json.encode([note_of(memory) for memory in shown]).decode()
        message = {"role": "user", "content": text}
        reply = model.query(Query("condense", [message], Answer, seconds=SECONDS, max_tokens=MAX_TOKENS))
        usage = reply.usage
        for value in reply.value.merges:
            try:
                merges.append(checked(value, shown, merges, live))
            except InvalidMemory as error:
                refused.append(str(error))
    left_out = len(live) - len(shown)
    return Condensation(tuple(merges), tuple(refused), len(shown), left_out, model.name, usage)


def write_merges(store: MemoryStore, proposed: Condensation) -> list[tuple[Merge, Saved | str]]:
    """Write exactly what was proposed; return for each merge what was saved, or why it was not."""
    done: list[tuple[Merge, Saved | str]] = []
    for merge in proposed.merges:
        try:
            done.append((merge, store.merge(merge.sources, merge.result)))
        except (MemoryStoreError, StorageError) as error:
            done.append((merge, str(error)))
    return done


def merges_by_rule(query: Query) -> dict[str, Any]:
    """Return an answer to the query without a model: texts that are nearly the same become one.

    It holds the lines of all, so that no word is lost. They are of one type; name and description are those
    of the one that says more, or of the newer one.
    """
    notes = msgspec.json.decode(query.messages[0]["content"], type=list[Note])
    memories = [
        Memory(n.name, n.description, n.type, n.body, extra={"id": n.id, "changed": n.changed}) for n in notes
    ]
    groups: dict[str, list[Memory]] = {}
    used: set[str] = set()
    for pair in sorted(similar_pairs(memories), key=lambda pair: (not pair.included, -pair.share)):
        kept, other = pair.first, pair.second
        if not pair.included and _joins(other, kept, groups):
            kept, other = other, kept
        ids = kept.extra["id"], other.extra["id"]
        if kept.type != other.type or ids[1] in used or (ids[0] in used and ids[0] not in groups):
            continue
        groups.setdefault(ids[0], [kept]).append(other)
        used.update(ids)
    return {"merges": [msgspec.to_builtins(_merged(group)) for group in groups.values()]}


def _joins(kept: Memory, other: Memory, groups: Collection[str]) -> bool:
    """Return whether `other` is to join `kept`: the one that has a group already, else the newer one."""
    if (kept.extra["id"] in groups) != (other.extra["id"] in groups):
        return kept.extra["id"] in groups
    return bool(kept.extra["changed"] > other.extra["changed"])


def _merged(group: Sequence[Memory]) -> Proposal:
    first, *others = group
    body = functools.reduce(_lines_of_both, (memory.body for memory in others), first.body)
    return Proposal([memory.extra["id"] for memory in group], first.name, first.description, body)


def _lines_of_both(first: str, second: str) -> str:
    """Return a text and, behind it, the lines of another that it does not have."""
    more = [line for line in second.split("\n") if line.strip() and not includes(first, line)]
    return "\n".join([first, *more])


def _shown(store: MemoryStore, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories to show: those that are alike first, then the newest, while there is room."""
    fit = [m for m in memories if 0 < len(m.body) <= BODY_CHARS and store.sendable(m) is m]
    alike = {memory.path for pair in similar_pairs(fit) for memory in (pair.first, pair.second)}
    shown, room = [], MAX_CHARS
    for memory in sorted(fit, key=lambda m: (m.path in alike, m.recency), reverse=True):
        room -= len(memory.name) + len(memory.description) + len(memory.body)
        if room < 0:
            break
        shown.append(memory)
    return shown
