"""What the agent can do: each tool is a generator of events that returns a result."""

from mewcode_magic.config import MewCode
from mewcode_magic.files import FileState
from mewcode_magic.tools.bash import Bash
from mewcode_magic.tools.calls import run_call
from mewcode_magic.tools.edit_file import EditFile
from mewcode_magic.tools.glob import Glob
from mewcode_magic.tools.grep import Grep
from mewcode_magic.tools.inspect_variables import Inspect
from mewcode_magic.tools.joining import joined_in
from mewcode_magic.tools.memory_tool import MemoryTool
from mewcode_magic.tools.permissions import Action, Permissions
from mewcode_magic.tools.propose_cell import ProposeCell
from mewcode_magic.tools.read_file import ReadFile
from mewcode_magic.tools.remember import Remember
from mewcode_magic.tools.run_python import RunPython
from mewcode_magic.tools.search_sessions import SearchSessions
from mewcode_magic.tools.tool import CallStopped, Tool, ToolContext, ToolResult, ToolRun
from mewcode_magic.tools.write_file import WriteFile

__all__ = [
    "Action",
    "Bash",
    "CallStopped",
    "EditFile",
    "FileState",
    "Glob",
    "Grep",
    "Inspect",
    "MemoryTool",
    "Permissions",
    "ProposeCell",
    "ReadFile",
    "Remember",
    "RunPython",
    "SearchSessions",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolRun",
    "WriteFile",
    "all_tools",
    "joined_in",
    "run_call",
    "tool_names",
]


def tool_names() -> list[str]:
    """Return the names of all tools, whichever of them the settings choose."""
    tools: list[Tool] = [MemoryTool(), Remember(), *_other_tools()]
    return [tool.name for tool in tools]


def all_tools(settings: MewCode) -> list[Tool]:
    """Return the tools that the agent is given in a session, in the order of the request."""
    memory: Tool = MemoryTool() if settings.memory_tool == "anthropic" else Remember()
    return [memory, *_other_tools()]


def _other_tools() -> list[Tool]:
    return [
        Inspect(),
        RunPython(),
        ProposeCell(),
        ReadFile(),
        WriteFile(),
        EditFile(),
        Bash(),
        Glob(),
        Grep(),
        SearchSessions(),
    ]
