"""What a tool is: a name, how a request describes it, and a generator that does the work."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from mewcode_magic.config import MewCode
from mewcode_magic.events import PermissionAsked
from mewcode_magic.memory import MemoryStore

__all__ = ["Tool", "ToolContext", "ToolResult", "ToolRun", "described"]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may know and touch."""

    session_id: str
    project: Path
    memory: MemoryStore
    settings: MewCode


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What goes back to the model."""

    text: str
    is_error: bool = False


ToolRun = Generator[PermissionAsked, None, ToolResult]


class Tool(Protocol):
    """One tool. A call's input is validated against `Arguments` before `run` sees it."""

    @property
    def name(self) -> str:
        """What the model calls it."""
        ...

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it; the same for all of a session."""
        ...

    @property
    def Arguments(self) -> Any:  # noqa: N802 - a class of each tool
        """The type of a call's input: a Struct, or a union of tagged ones."""
        ...

    @property
    def writes_memory(self) -> bool:
        """Whether a call may change memories: the agent then knows of it, and is not told it as news."""
        ...

    def run(self, arguments: Any, context: ToolContext) -> ToolRun:
        """Do the work; yield a question where one is needed.

        Raises:
            MewCodeError: it failed; the message becomes an error result.
        """
        ...


def described(name: str, description: str, arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the definition of a tool of our own: name, description, JSON schema of the arguments."""
    (reference,), components = msgspec.json.schema_components([arguments])
    definition = components[reference["$ref"].rsplit("/", 1)[1]]
    return {
        "name": name,
        "description": description,
        "input_schema": {
            "type": "object",
            "properties": definition["properties"],
            "required": definition.get("required", []),
            "additionalProperties": False,
        },
    }
