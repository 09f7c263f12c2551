"""`Remember`: the agent saves, updates or deletes a memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec

from mewcode_magic.errors import InvalidMemory, MemoryNotFound
from mewcode_magic.files import shown
from mewcode_magic.memory import Memory, MemoryStore, memory_from_text
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["Remember"]


class RememberArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `Remember`."""

    action: Annotated[
        Literal["save", "delete"],
        msgspec.Meta(
            description="save writes a memory, or updates the one of that name; delete removes one."
        ),
    ]
    type: Annotated[
        str | None,
        msgspec.Meta(
            description="user: who the user is and prefers. feedback: how the user wants work done. "
            "project: facts about this project. reference: where something is found, links."
        ),
    ] = None
    name: Annotated[
        str | None,
        msgspec.Meta(description="A short name. The same name updates the memory that has it."),
    ] = None
    description: Annotated[
        str | None,
        msgspec.Meta(
            description="One sentence that says when the memory is of use; it is all the index shows."
        ),
    ] = None
    body: Annotated[
        str | None,
        msgspec.Meta(description="What to remember, complete in itself, with why and how to apply it."),
    ] = None
    slug: Annotated[
        str | None,
        msgspec.Meta(description="The file name without .md of an existing memory, to update or delete it."),
    ] = None
    expires: Annotated[
        str | None,
        msgspec.Meta(description="For time-bound facts: an ISO 8601 date, or a span such as 30d."),
    ] = None


class Remember:
    """Keeps what the user wants known in later conversations."""

    name = "Remember"
    description = (
        "Save something to long-term memory, or delete a memory that is wrong. Save what the user asks to "
        "have remembered, lasting preferences, corrections, and facts about the project that its code and "
        "history do not show. Never save secrets, nor what matters to the present task only. Update an "
        "existing memory rather than adding one that says the same."
    )
    Arguments = RememberArguments
    writes_memory = True

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, RememberArguments)

    def action(self, arguments: RememberArguments, context: ToolContext) -> Action:  # noqa: ARG002
        """Return that it writes a memory, which needs a question in no mode."""
        return Action(self.name, "memory", "Write a memory?")

    def run(self, arguments: RememberArguments, context: ToolContext) -> ToolRun:
        """Write or delete, and answer with the path."""
        yield from ()  # it never asks
        if arguments.action == "delete":
            return _delete(arguments, context.memory)
        return _save(arguments, context)


def _delete(arguments: RememberArguments, store: MemoryStore) -> ToolResult:
    key = arguments.slug or arguments.name
    if not key:
        raise InvalidMemory("to delete a memory, give its name or its slug")
    memory = store.delete(key, type=arguments.type)
    return ToolResult(f"Deleted the {memory.type} memory {memory.name!r}; the user can restore it.")


def _save(arguments: RememberArguments, context: ToolContext) -> ToolResult:
    if not arguments.body:
        raise InvalidMemory("to save a memory, give its body: what to remember")
    draft = memory_from_text(
        arguments.body,
        type=arguments.type,
        name=arguments.name,
        description=arguments.description,
        expires=arguments.expires,
        now=datetime.now(UTC),
    )
    draft = replace(draft, source=context.session_id)
    if arguments.slug:
        draft = _onto(_existing(arguments.slug, context.memory), draft, arguments)
    saved = context.memory.save(draft, rename_if_taken=not (arguments.name or arguments.slug))
    memory = saved.memory
    told = f"{saved.action.capitalize()}: {memory.type} memory {memory.name!r} in {shown(saved.path)}."
    return ToolResult(" ".join([told, *saved.notes]))


def _existing(slug: str, store: MemoryStore) -> Memory:
    memory = store.get(slug)
    if memory is None:
        raise MemoryNotFound(f"no memory has the slug {slug!r}; leave slug out to save a new one")
    return memory


def _onto(standing: Memory, draft: Memory, arguments: RememberArguments) -> Memory:
    """Return `standing` with what the call gave; what it left out stays as it was."""
    return replace(
        standing,
        body=draft.body,
        source=draft.source,
        name=arguments.name or standing.name,
        description=arguments.description or standing.description,
        type=draft.type if arguments.type else standing.type,
        expires=draft.expires if arguments.expires else standing.expires,
    )
