"""Running one call: arguments are checked, leave is asked where it is needed, any failure is a result."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import msgspec

from mewcode_magic.errors import MewCodeError, one_line
from mewcode_magic.events import Event, PermissionAsked
from mewcode_magic.messages import Block
from mewcode_magic.tools.joining import with_instructions
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import CallStopped, Tool, ToolContext, ToolResult, ToolRun

__all__ = ["run_call"]


CHANGED = "not done: files changed while the user was asked, and it would do something else now; look again"
"""What was allowed is what was shown, and nothing else."""


def run_call(call: Block, tools: dict[str, Tool], context: ToolContext) -> ToolRun:
    """Run a `tool_use` block; whatever goes wrong in it is a result that the model can act on."""
    tool = tools.get(call["name"])
    if tool is None:
        names = ", ".join(tools)
        return ToolResult(f"there is no tool {one_line(call['name'])!r}; there are: {names}", is_error=True)
    try:
        arguments = msgspec.convert(call["input"], tool.Arguments)
    except msgspec.ValidationError as error:
        return ToolResult(f"the arguments do not fit: {one_line(str(error))}", is_error=True)
    action: Action | None = None
    try:
        action = tool.action(arguments, context)
        if action is not None and (refusal := (yield from _refusal_of(action, tool, arguments, context))):
            result = ToolResult(refusal, is_error=True)
        else:
            result = yield from tool.run(arguments, context)
            if action is not None and action.path is not None:
                result = yield from with_instructions(result, action.path, context)
    except CallStopped as stopped:
        stopped.result = _with_detail(stopped.result, action)
        raise
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except MewCodeError as error:
        result = ToolResult(str(error), is_error=True)
    except BaseException as error:  # noqa: BLE001 - a fault in a tool must not take the turn down
        result = ToolResult(f"{tool.name} failed: {_told(error)}", is_error=True)
    return _with_detail(result, action)


def _with_detail(result: ToolResult, action: Action | None) -> ToolResult:
    """Return the result with the code, command or diff that it came of, done or not."""
    if action is None or result.detail:
        return result
    return replace(result, detail=action.detail, language=action.language)


def _told(error: BaseException) -> str:
    try:
        return one_line(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001 - an exception's own text can fail
        return type(error).__name__


def _refusal_of(
    action: Action, tool: Tool, arguments: Any, context: ToolContext
) -> Generator[Event, None, str]:
    """Return why an action may not be done, having asked the user where that is needed; "" if it may.

    Raises:
        MewCodeError: it cannot be done any more, once the user was asked.
    """
    verdict, why = context.permissions.decide(action)
    if verdict != "ask":
        return f"not allowed: {why}" if verdict == "no" else ""
    asked = PermissionAsked(action.tool, action.question, action.detail, action.language, action.always)
    yield asked
    match asked.answer:
        case "always" if action.always:
            context.permissions.allow(action.always)
        case "yes":
            pass
        case None:
            return "not allowed: it needs the user's leave, and nobody could be asked"
        case "no" | "always":
            return "not allowed: the user said no"
        case sentence:
            return f"not done; the user says instead: {sentence}"
    now = tool.action(arguments, context)
    return "" if now is not None and _seen_of(now) == _seen_of(action) else CHANGED


def _seen_of(action: Action) -> tuple[str, str, str]:
    """Return what the user decides by."""
    return action.question, action.detail, action.always
