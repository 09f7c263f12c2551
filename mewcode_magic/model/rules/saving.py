"""The call by which the offline answers save a fact, with whichever tool the request has for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mewcode_magic.memory import PLACE_OF, Memory, memory_from_text, slug_of
from mewcode_magic.memory.document import write_document
from mewcode_magic.memory.names import free_name
from mewcode_magic.model.rules.conversation import Conversation

__all__ = ["call_that_saves"]


def call_that_saves(fact: str, conversation: Conversation) -> tuple[str, dict[str, Any]] | None:
    """Return a tool's name and the input with which it saves `fact`; None if the request has no such tool."""
    if "Remember" in conversation.tools:
        return "Remember", {"action": "save", "body": fact}
    if "memory" not in conversation.tools:
        return None
    # The official tool wants a path and a whole file; what `Remember` derives itself is derived here.
    memory = memory_from_text(fact, now=datetime.now(UTC))
    known = [Memory(entry.name, "", memory.type, "") for entry in conversation.index if entry.name]
    memory = replace(memory, name=free_name(known, memory.name))
    path = f"/memories/{PLACE_OF[memory.type]}/{slug_of(memory.name)}.md"
    return "memory", {"command": "create", "path": path, "file_text": write_document(memory)}
