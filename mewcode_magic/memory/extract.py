"""Extraction: what is worth remembering of a finished turn, written to the store.

A model is shown what was said and answers with operations; only this code carries them out, each on its own:

::

    {"operations": [{"action": "create" | "update" | "delete", "name": "…", "type": "…",
                     "description": "…", "body": "…", "expires": "2027-01-31" | "30d"}]}

An update says what changes; what it leaves out stays. An unknown type is `project`, or on an update the one
that stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import unescape
from typing import Any, Literal

import msgspec

from mewcode_magic.clock import local
from mewcode_magic.config import MewCode
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import InvalidMemory, MemoryAmbiguous, MemoryNotFound, MewCodeError, one_line
from mewcode_magic.events import Model, Query
from mewcode_magic.memory.explicit import expiry
from mewcode_magic.memory.manifest import manifest
from mewcode_magic.memory.names import matching
from mewcode_magic.memory.record import PLACE_OF, Memory
from mewcode_magic.memory.restated import loses_text, restates
from mewcode_magic.memory.store import MemoryStore
from mewcode_magic.memory.transcript import agent_saved, said_in, transcript
from mewcode_magic.memory.writing import Saved
from mewcode_magic.messages import Message, Usage

__all__ = ["Extraction", "extract"]

SECONDS = 60.0
"""Seconds for the model's answer; nobody waits for it."""
MAX_TOKENS = 4_000
MAX_OPERATIONS = 5
"""Operations of one turn that are carried out."""
MAX_NOTES = 200
"""Memories of which the model is told, the newest."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was done with the memories after a turn."""

    written: tuple[Saved, ...] = ()
    """What was created, updated or moved; what stood already is not among it."""
    deleted: tuple[Memory, ...] = ()
    """What was moved to the trash, as it was."""
    refused: tuple[str, ...] = ()
    """One line for each operation that was not carried out: which, and why."""
    usage: Usage = field(default_factory=Usage)


class Operation(msgspec.Struct, frozen=True):
    """One thing to do; what can be mended does not make it unusable."""

    action: Literal["create", "update", "delete"]
    name: str
    type: Any = None
    description: str | None = None
    body: str | None = None
    expires: Any = None


class Answer(msgspec.Struct, frozen=True):
    """The model's answer; each operation is read on its own, so that a bad one costs no other."""

    operations: list[Any]


def extract(
    model: Model,
    store: MemoryStore,
    *,
    messages: Sequence[Message],
    earlier: Sequence[Message],
    instructions: str,
    session_id: str,
    settings: MewCode,
    now: datetime,
) -> Extraction:
    """Ask `model` what of a turn is worth remembering, and carry that out.

    Nothing is asked if extraction is off, the user said nothing, or the agent saved by itself in this turn.

    Args:
        model: who is asked, once.
        store: where memories are written; what someone else changes meanwhile is left alone.
        messages: the turn's new messages; only texts of user and assistant are looked at.
        earlier: the conversation before, of which the user's last texts are context.
        instructions: the text of the instruction files; what it says is not written again.
        session_id: the memories' `source`.
        settings: `extract` may turn it off.
        now: an aware time; ages and ends are counted from it.

    Raises:
        ModelError: there is no answer in time, or none that can be read.
    """
    turn = said_in(messages)
    if settings.extract == "off" or agent_saved(messages) or all(role != "user" for role, _ in turn):
        return Extraction()
    known = store.list()
    live = [memory for memory in known if not memory.is_expired(now)]
    newest = sorted(live, key=lambda m: m.recency, reverse=True)[:MAX_NOTES]
    content = transcript(
        turn,
        earlier=said_in(earlier),
        instructions=instructions,
        notes=manifest(newest, now),
        today=local(now).date(),
    )
    query = Query(
        "extract", [{"role": "user", "content": content}], Answer, seconds=SECONDS, max_tokens=MAX_TOKENS
    )
    reply = model.query(query)
    work = _Work(store, known, instructions, session_id, now)
    for operation in reply.value.operations[:MAX_OPERATIONS]:
        work.carry_out(operation)
    if (more := len(reply.value.operations) - MAX_OPERATIONS) > 0:
        work.refused.append(f"{more} more, since a turn has at most {MAX_OPERATIONS} operations")
    return Extraction(tuple(work.written), tuple(work.deleted), tuple(work.refused), reply.usage)


@dataclass
class _Work:
    """The operations of one answer, carried out one after the other."""

    store: MemoryStore
    known: list[Memory]
    """The memories as they were when the model was told of them, with what was done since."""
    instructions: str
    session_id: str
    now: datetime
    written: list[Saved] = field(default_factory=list)
    deleted: list[Memory] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def carry_out(self, given: Any) -> None:
        """Do what an operation says, or note why it is not done."""
        try:
            operation = msgspec.convert(given, Operation)
        except msgspec.ValidationError as error:
            self._refuse("an operation that cannot be read", mask_credentials(str(error)))
            return
        try:
            self._do(operation)
        except MewCodeError as error:
            self._refuse(f"{operation.action} of {mask_credentials(operation.name)!r}", error)

    def _refuse(self, what: str, why: Exception | str) -> None:
        self.refused.append(one_line(f"{what}: {why}"))

    def _do(self, operation: Operation) -> None:
        standing = self._standing(operation)
        if operation.action != "delete":
            self._save(operation, standing)
        elif standing is None:
            raise MemoryNotFound("no memory has that name")
        else:
            gone = self.store.delete(standing.name, type=standing.place, if_unchanged=standing)
            self.known = [memory for memory in self.known if memory.path != gone.path]
            self.deleted.append(gone)

    def _standing(self, operation: Operation) -> Memory | None:
        """Return the memory that an operation names; a type says which, where both places have one."""
        # In the manifest, `&`, `<` and `>` are escaped.
        found = matching(self.known, operation.name) or matching(self.known, unescape(operation.name))
        if len({memory.place for memory in found}) > 1:
            place = PLACE_OF.get(operation.type) if isinstance(operation.type, str) else None
            found = [memory for memory in found if memory.place == place]
            if not found:
                raise MemoryAmbiguous("it stands in both places, and no type says which is meant")
        return found[0] if found else None

    def _save(self, operation: Operation, standing: Memory | None) -> None:
        draft = self._draft(operation, standing)
        if operation.body is not None and restates(draft.body, self.instructions):
            raise InvalidMemory("the instructions say this already")
        if standing is not None and (loss := loses_text(draft.body, standing.body)):
            raise InvalidMemory(loss)
        # A new memory never takes the place of one that came into being since.
        saved = self.store.save(draft, rename_if_taken=standing is None, if_unchanged=standing)
        self.known = [memory for memory in self.known if memory is not standing]
        self.known = [*(memory for memory in self.known if memory.path != saved.path), saved.memory]
        if saved.action != "unchanged":
            self.written.append(saved)

    def _draft(self, operation: Operation, standing: Memory | None) -> Memory:
        """Return the memory that an operation makes, of the one that stands or of nothing."""
        kind = operation.type if isinstance(operation.type, str) and operation.type in PLACE_OF else None
        if standing is None:
            description, body = operation.description or "", operation.body or ""
            draft = Memory(operation.name, description, kind or "project", body)
        else:
            draft = replace(
                standing,
                type=kind or standing.type,
                description=operation.description or standing.description,
                body=standing.body if operation.body is None else operation.body,
                expires=None if standing.is_expired(self.now) else standing.expires,
            )
        return replace(draft, source=self.session_id, expires=self._end(operation) or draft.expires)

    def _end(self, operation: Operation) -> datetime | None:
        """Return when a fact ends; a time in the past or none at all is no reason to lose the fact."""
        try:
            return expiry(operation.expires, now=self.now) if isinstance(operation.expires, str) else None
        except InvalidMemory:
            return None
