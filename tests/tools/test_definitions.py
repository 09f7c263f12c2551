"""Every tool describes itself as the API demands, and no session is given two that save."""

from pathlib import Path
from typing import get_args

import pytest
from request_rules import broken_rules

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import Tool, all_tools

OURS = MewCode(memory_tool="mewcode")
ANTHROPIC = MewCode(memory_tool="anthropic")


@pytest.mark.parametrize("tool", all_tools(OURS), ids=lambda t: t.name)
def test_definition_describes_every_parameter(tool: Tool) -> None:
    described = tool.definition
    assert described["name"] == tool.name
    assert described["description"]
    properties = described["input_schema"]["properties"]
    assert properties
    assert set(described["input_schema"]["required"]) <= set(properties)
    assert all("description" in p for p in properties.values())


@pytest.mark.parametrize("settings", [OURS, ANTHROPIC], ids=["mewcode", "anthropic"])
def test_tools_are_as_the_api_takes_them_and_one_of_them_saves(settings: MewCode) -> None:
    tools = all_tools(settings)
    names = [tool.name for tool in tools]
    assert len(set(names)) == len(names)
    assert [tool.name for tool in tools if tool.writes_memory] == [
        "memory" if settings is ANTHROPIC else "Remember"
    ]
    body = {
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [tool.definition for tool in tools],
    }
    assert broken_rules(body) == []


def test_official_tool_is_described_as_the_sdk_describes_it(project: Path, home: Path) -> None:
    from anthropic.types import MemoryTool20250818Param, ToolUnionParam

    from mewcode_magic.tools.memory_commands import MemoryCommands

    (tool,) = (tool for tool in all_tools(ANTHROPIC) if tool.writes_memory)
    assert tool.definition == MemoryCommands(MemoryStore(project, home), "").to_dict()
    # It is no beta there, so no header has to ask for it.
    assert MemoryTool20250818Param in get_args(ToolUnionParam)
