"""What the agent can do: each tool is a generator of events that returns a result."""

from mewcode_magic.tools.read_file import ReadFile
from mewcode_magic.tools.remember import Remember
from mewcode_magic.tools.tool import Tool, ToolContext, ToolResult, ToolRun, schema

__all__ = ["ReadFile", "Remember", "Tool", "ToolContext", "ToolResult", "ToolRun", "all_tools", "schema"]


def all_tools() -> list[Tool]:
    """Return the tools that the agent is given, in the order of the request."""
    return [Remember(), ReadFile()]
