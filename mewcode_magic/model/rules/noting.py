"""What the offline answers note of a turn: the query that asks for it, taken apart, and its answer."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import Any

from mewcode_magic.events import Query
from mewcode_magic.memory import Memory, memory_from_text
from mewcode_magic.memory.extract import MAX_OPERATIONS
from mewcode_magic.memory.names import free_name
from mewcode_magic.memory.restated import restates
from mewcode_magic.model.rules.conversation import read_query
from mewcode_magic.model.rules.stated import lasting_statements

__all__ = ["noted"]

LEAD_CHARS = 24
"""Characters in front of a statement in which “from now on” and the like are looked for."""

_NOTE = re.compile(r"^- (?P<name>.*?) \([a-z]+, [^()]* old\): (?P<description>.*)$", re.MULTILINE)

_MANNER = re.compile(
    r"\b(?:always|never|from now on|going forward|henceforth|whenever|(?:each|every) time)\b"
    r"|以后|今后|每次|每当|一律|总是|永远|务必",
    re.IGNORECASE,
)
"""What tells how work is to be done, in whatever project."""
_SHARED = re.compile(
    r"\b(?:we|our|us|the team|this (?:project|repo\w*|code\w*))\b|我们|团队|本项目", re.IGNORECASE
)
"""What tells of this project and its people."""


def noted(query: Query) -> dict[str, Any]:
    """Return the operations that rules make of a turn: one for each lasting statement of the user.

    A statement that a note or the instructions make already gives none; no note is changed or deleted.
    """
    texts = list(read_query(query))
    known = [
        Memory(unescape(note["name"]), description, "project", description)
        for tag, text in texts
        if tag == "notes"
        for note in _NOTE.finditer(text)
        if (description := unescape(note["description"]))
    ]
    said = [memory.description for memory in known] + [text for tag, text in texts if tag == "instructions"]
    earlier = [text for tag, text in texts if tag == "earlier"]
    operations: list[dict[str, str]] = []
    for text in (text for tag, text in texts if tag == "user"):
        for statement in lasting_statements(text, earlier):
            if len(operations) == MAX_OPERATIONS or any(restates(statement, other) for other in said):
                continue
            draft = memory_from_text(statement, now=datetime.now(UTC))
            if draft.type == "project" and _is_manner(statement, text):
                draft = replace(draft, type="feedback")
            name = free_name(known, draft.name)
            known.append(Memory(name, draft.description, draft.type, draft.body))
            said.append(statement)
            operation = {"action": "create", "name": name, "type": draft.type}
            operations.append({**operation, "description": draft.description, "body": draft.body})
        earlier.append(text)
    return {"operations": operations}


def _is_manner(statement: str, text: str) -> bool:
    """Whether a statement says how work is to be done; the words that tell so may stand in front of it."""
    start = text.find(statement)
    sentence = text[max(0, start - LEAD_CHARS) : start] + statement
    return bool(_MANNER.search(sentence)) and not _SHARED.search(sentence)
