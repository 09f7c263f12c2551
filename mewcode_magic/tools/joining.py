"""Instructions that join with a call: in front of its result, once in a conversation.

They stand before all that the result says, where no file's text can come: whoever writes into a file that is
read cannot pass for them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from mewcode_magic.errors import one_line
from mewcode_magic.events import Notice
from mewcode_magic.files import shown
from mewcode_magic.instructions import Source, split_joined
from mewcode_magic.messages import Block, Message
from mewcode_magic.tools.paths import is_denied
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun
from mewcode_magic.tools.walk import Walk

__all__ = ["joined_in", "with_instructions"]

FILE_TOOLS = frozenset({"ReadFile", "WriteFile", "EditFile", "Glob", "Grep"})
"""The tools whose results instructions join."""


def with_instructions(result: ToolResult, touched: Path, context: ToolContext) -> ToolRun:
    """Return a result with the instructions in front that the touched file or folder brings in."""
    waiting = context.instructions
    if waiting is None:
        return result
    known = len(waiting.notices)
    joined = waiting.join([s for s in waiting.sources(touched) if _may_join(s, context)])
    for notice in waiting.notices[known:]:
        yield Notice(notice)
    if joined is None:
        return result
    yield Notice(one_line(f"Instructions joined: {', '.join(joined.names)}"))
    return replace(result, text=joined.block + result.text)


def joined_in(messages: Sequence[Message]) -> Iterator[tuple[list[str], str]]:
    """Yield the names and the text of the instructions that joined with each result in a conversation."""
    for before, message in pairwise(messages):
        if message.role == "assistant" or isinstance(message.content, str):  # there may be very many
            continue
        for result in message.content:
            if result.get("type") != "tool_result":
                continue
            files, text, _ = split_joined(_text(result.get("content")))
            if files and _tool(before, result) in FILE_TOOLS:
                yield files, text


def _may_join(source: Source, context: ToolContext) -> bool:
    """Whether a file may instruct: not if it is none of the project's own, or nobody may read it."""
    if is_denied(Path(os.path.realpath(source.path)), context, "ReadFile"):
        return False
    if source.is_rule:
        return True
    folder = source.path.parent
    walk = Walk(folder, Path(os.path.realpath(context.project)), time.monotonic())
    if not walk.is_ignored:
        return True
    # A virtual environment, a download: whoever wrote it is not who writes the project.
    if context.instructions is not None:
        context.instructions.note(
            f"{shown(source.path)} was left out: .gitignore leaves out its folder; @include it in MEWCODE.md"
        )
    return False


def _tool(message: Message, result: Block) -> str:
    """Return the name of the tool whose result it is."""
    calls = message.tool_uses()
    return next((str(call.get("name")) for call in calls if call.get("id") == result.get("tool_use_id")), "")


def _text(content: object) -> str:
    """Return the text that a result begins with."""
    if isinstance(content, list) and content and isinstance(content[0], dict):
        content = content[0].get("text")
    return content if isinstance(content, str) else ""
