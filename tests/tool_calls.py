"""Running a tool as the turn does: arguments checked, questions answered as a user would."""

from collections.abc import Iterator

from mewcode_magic.events import Event, PermissionAsked
from mewcode_magic.tools import Tool, ToolContext, ToolResult, run_call


def run_tool(
    tool: Tool,
    context: ToolContext,
    /,
    *,
    answer: str | None = None,
    asked: list[Event] | None = None,
    **arguments: object,
) -> ToolResult:
    """Run one call and return its result; `answer` is given to each question, which `asked` collects."""
    results: list[ToolResult] = []

    def call() -> Iterator[Event]:
        block = {"id": "t1", "name": tool.name, "input": arguments}
        results.append((yield from run_call(block, {tool.name: tool}, context)))

    for event in call():
        if asked is not None:
            asked.append(event)
        if isinstance(event, PermissionAsked) and answer is not None:
            event.reply(answer)
    return results[0]
