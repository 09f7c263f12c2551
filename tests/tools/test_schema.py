"""Every tool describes itself as the API demands."""

import pytest

from mewcode_magic.tools import Tool, all_tools, schema


@pytest.mark.parametrize("tool", all_tools(), ids=lambda t: t.name)
def test_schema_describes_every_parameter(tool: Tool) -> None:
    described = schema(tool)
    assert described["description"]
    properties = described["input_schema"]["properties"]
    assert properties
    assert set(described["input_schema"]["required"]) <= set(properties)
    assert all("description" in p for p in properties.values())


def test_tool_names_are_unique() -> None:
    names = [tool.name for tool in all_tools()]
    assert len(set(names)) == len(names)
