"""What a tool is: a name, described arguments, and a generator that does the work."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from mewcode_magic.config import MewCode
from mewcode_magic.events import PermissionAsked
from mewcode_magic.memory import MemoryStore

__all__ = ["Tool", "ToolContext", "ToolResult", "ToolRun", "schema"]


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
    def description(self) -> str:
        """What the model is told of it."""
        ...

    @property
    def Arguments(self) -> type[msgspec.Struct]:  # noqa: N802 - a class of each tool
        """The fields of a call's input, with their descriptions."""
        ...

    def run(self, arguments: Any, context: ToolContext) -> ToolRun:
        """Do the work; yield a question where one is needed.

        Raises:
            MewCodeError: it failed; the message becomes an error result.
        """
        ...


def schema(tool: Tool) -> dict[str, Any]:
    """Return the tool as a request describes it: name, description, JSON schema of the arguments."""
    (reference,), components = msgspec.json.schema_components([tool.Arguments])
    definition = components[reference["$ref"].rsplit("/", 1)[1]]
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {
            "type": "object",
            "properties": definition["properties"],
            "required": definition.get("required", []),
            "additionalProperties": False,
        },
    }
