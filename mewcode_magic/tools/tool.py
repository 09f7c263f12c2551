"""What a tool is: a name, how a request describes it, and a generator that does the work."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import msgspec

from mewcode_magic.config import MewCode
from mewcode_magic.events import Event
from mewcode_magic.files import FileState
from mewcode_magic.instructions import ScopedInstructions
from mewcode_magic.memory import MemoryStore
from mewcode_magic.messages import Block
from mewcode_magic.tools.permissions import Action, Permissions

__all__ = ["CallStopped", "Tool", "ToolContext", "ToolResult", "ToolRun", "described"]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may know and touch."""

    session_id: str
    project: Path
    memory: MemoryStore
    settings: MewCode
    permissions: Permissions
    shell: Any = None
    """The user's IPython shell, or None in a script."""
    instructions: ScopedInstructions | None = None
    """The instructions that wait for a call to touch what they are about."""
    read: dict[Path, FileState] = field(default_factory=dict)
    """The files that the agent has read or written in this session, as they were then."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What goes back to the model."""

    text: str
    is_error: bool = False
    images: tuple[Block, ...] = ()
    """Image blocks behind the text."""
    variables: tuple[str, ...] = ()
    """The names that the call bound in the user's namespace."""
    detail: str = ""
    """What the user may want to see besides, such as a diff, in `language`."""
    language: str = ""
    in_file: bool = False
    """It was read from a file, and can be again: however long, it is not moved to another one."""


class CallStopped(KeyboardInterrupt):
    """The user stopped a call; `result` is what it had come to by then, and is recorded."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__("stopped")
        self.result = result


ToolRun: TypeAlias = Generator[Event, None, ToolResult]


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

    def action(self, arguments: Any, context: ToolContext) -> Action | None:
        """Return what the call would do, or None if it needs nobody's leave; nothing is changed yet.

        Raises:
            MewCodeError: it could not be done; the message becomes an error result.
        """
        ...

    def run(self, arguments: Any, context: ToolContext) -> ToolRun:
        """Do the work, for which leave was given; yield events that the user should see.

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
