"""Running one call: arguments are checked, leave is asked where it is needed, any failure is a result."""

from __future__ import annotations

from collections.abc import Generator

import msgspec

from mewcode_magic.errors import MewCodeError
from mewcode_magic.events import Event, PermissionAsked
from mewcode_magic.messages import Block
from mewcode_magic.tools.joining import with_instructions
from mewcode_magic.tools.permissions import Action, Permissions
from mewcode_magic.tools.tool import Tool, ToolContext, ToolResult, ToolRun

__all__ = ["run_call"]


def run_call(call: Block, tools: dict[str, Tool], context: ToolContext) -> ToolRun:
    """Run a `tool_use` block; whatever goes wrong in it is a result that the model can act on."""
    tool = tools.get(call["name"])
    if tool is None:
        names = ", ".join(tools)
        return ToolResult(f"there is no tool {call['name']!r}; there are: {names}", is_error=True)
    try:
        arguments = msgspec.convert(call["input"], tool.Arguments)
    except msgspec.ValidationError as error:
        return ToolResult(f"the arguments do not fit: {error}", is_error=True)
    try:
        action = tool.action(arguments, context)
        if action is not None and (refusal := (yield from _refusal_of(action, context.permissions))):
            return ToolResult(refusal, is_error=True)
        result = yield from tool.run(arguments, context)
        if action is None or action.path is None:
            return result
        return (yield from with_instructions(result, action.path, context))
    except MewCodeError as error:
        return ToolResult(str(error), is_error=True)
    except Exception as error:  # noqa: BLE001 - a fault in a tool must not take the turn down
        return ToolResult(f"{tool.name} failed: {type(error).__name__}: {error}", is_error=True)


def _refusal_of(action: Action, permissions: Permissions) -> Generator[Event, None, str]:
    """Return why an action may not be done, having asked the user where that is needed; "" if it may."""
    verdict, why = permissions.decide(action)
    if verdict != "ask":
        return f"not allowed: {why}" if verdict == "no" else ""
    asked = PermissionAsked(action.tool, action.question, action.detail, action.language, action.always)
    yield asked
    match asked.answer:
        case "always" if action.always:
            permissions.allow(action.always)
        case "yes":
            pass
        case None:
            return "not allowed: it needs the user's leave, and nobody could be asked"
        case "no" | "always":
            return "not allowed: the user said no"
        case sentence:
            return f"not done; the user says instead: {sentence}"
    return ""
