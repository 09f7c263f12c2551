"""Calls of the memory tool as a turn makes them: validated, carried out, errors as results."""

from typing import Any

import pytest

from mewcode_magic.tools import MemoryTool, ToolContext, ToolResult
from mewcode_magic.tools.calls import run_call


def call(context: ToolContext, command: str, **arguments: Any) -> ToolResult:
    """Return the result of one command."""
    block = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "memory",
        "input": {"command": command, **arguments},
    }
    run = run_call(block, {"memory": MemoryTool()}, context)
    with pytest.raises(StopIteration) as end:
        next(run)
    result = end.value.value
    assert isinstance(result, ToolResult)
    return result


def done(context: ToolContext, command: str, **arguments: Any) -> str:
    """Return the text of a command that is to succeed."""
    result = call(context, command, **arguments)
    assert not result.is_error, result.text
    return result.text


def refused(context: ToolContext, command: str, **arguments: Any) -> str:
    """Return the text of a command that is to fail."""
    result = call(context, command, **arguments)
    assert result.is_error, result.text
    return result.text
