"""Credentials in memories: not written, and masked where a file that holds one is sent all the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from mewcode_magic.credentials import find_credentials, first_mask, mask_credentials
from mewcode_magic.errors import CredentialRefused, InvalidMemory, StorageError
from mewcode_magic.memory.document import write_document
from mewcode_magic.memory.folder import Problem
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import Memory

__all__ = ["Found", "Screen", "named", "refuse_credentials"]


@dataclass(frozen=True, slots=True)
class Found:
    """One place in a memory that looks like a credential; what it holds is not told."""

    kind: str
    part: str
    """The name, the description, the body, the file name or the frontmatter, which here is its other keys."""
    line: int
    """Of that part, counted from 1."""


def refuse_credentials(memory: Memory, known: Memory | None) -> None:
    """Refuse a memory that seems to hold a credential, or what stands for one.

    `known`: the memory that it replaces; what stands in that one already is not refused again.

    Raises:
        CredentialRefused: it seems to hold one.
        InvalidMemory: a mask would be written over what it stands for.
    """
    before = "\n".join(_parts(known).values()) if known else ""
    if found := _found(memory, known=before):
        raise CredentialRefused(
            f"{mask_credentials(memory.name)!r} is not saved, for it seems to hold a credential "
            f"({named(found)}): leave it out, or say where it is kept; only %remember --force, by the user, "
            "saves it nevertheless"
        )
    for part, text in _parts(memory).items():
        if (mask := first_mask(text)) and mask not in before:
            raise InvalidMemory(
                f"the {part} of {memory.name!r} holds {mask!r}, which would replace what it stands for; "
                "leave that out"
            )


def named(found: Iterable[Found]) -> str:
    """Return kinds and places of credentials, for a message."""
    return ", ".join(f"{item.kind} in the {item.part}, line {item.line}" for item in found)


class Screen:
    """Looks through memories that may be sent; each state of a file once."""

    def __init__(self) -> None:
        self._seen: dict[Path | None, tuple[Memory, list[Found]]] = {}

    def found(self, memory: Memory) -> list[Found]:
        """Return what in a memory looks like a credential."""
        seen = self._seen.get(memory.path)
        if seen is None or seen[0] != memory:
            seen = self._seen[memory.path] = (memory, _found(memory))
        return seen[1]

    def sendable(self, memory: Memory) -> Memory:
        """Return a memory with masks for the credentials in its name, description, body and path."""
        if not self.found(memory):
            return memory
        name, description, body = map(mask_credentials, (memory.name, memory.description, memory.body))
        path = memory.path and Path(mask_credentials(str(memory.path)))
        return replace(memory, name=name, description=description, body=body, path=path)

    def problems(self, places: MemoryPlaces) -> list[Problem]:
        """Return the files in which something looks like a credential.

        An index is among them only for what no memory says.
        """
        problems = [
            _problem(memory.path, named(found))
            for memory in places.all_memories()
            if memory.path and (found := self.found(memory))
        ]
        for folder in places.folders():
            described = "\n".join(f"{m.name}\n{m.description}" for m in folder.contents().memories)
            with contextlib.suppress(StorageError):
                found_there = find_credentials(folder.index_text()[0], known=described)
                problems += [
                    _problem(folder.index_path, f"{item.kind} in line {item.line}") for item in found_there
                ]
        return problems


def _problem(path: Path, what: str) -> Problem:
    text = f"it seems to hold a credential ({what}), which is masked when it is sent; take it out of the file"
    return Problem("credential", path, text)


def _found(memory: Memory, *, known: str = "") -> list[Found]:
    return [
        Found(credential.kind, part, credential.line)
        for part, text in _parts(memory).items()
        for credential in find_credentials(text, known=known)
    ]


def _parts(memory: Memory) -> dict[str, str]:
    """Return the texts of a memory by what they are called."""
    parts = {"name": memory.name, "description": memory.description, "body": memory.body}
    if memory.file_slug:
        parts["file name"] = memory.file_slug
    if memory.extra or memory.source:
        parts["frontmatter"] = write_document(replace(memory, name="", description="", body=""))
    return parts
