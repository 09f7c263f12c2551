"""Cells proposed to the user: one new cell below the running one, or the text of a terminal's next prompt.

Front ends honour one such cell a run, so further proposals are joined to the first. JupyterLab inserts it
only if the running cell succeeds.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import Any

from mewcode_magic.kernel.frontend import can_ask, is_kernel

__all__ = ["can_insert", "code_of", "insert_below", "waiting", "withdraw"]

_SOURCE = "set_next_input"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*")


def can_insert(shell: Any) -> bool:
    """Whether somebody is there to whom a cell can be given."""
    if shell is None or not can_ask(shell):
        return False
    if is_kernel(shell):
        return True
    # What a dumb terminal's next prompt holds is not seen; Enter would run it.
    seen = os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    return seen and hasattr(shell, "rl_next_input") and not shell.simple_prompt


def insert_below(shell: Any, code: str) -> None:
    """Have `code` inserted when the running cell ends, behind what waits for that already."""
    before = waiting(shell)
    shell.set_next_input(f"{before}\n\n{code}" if before else code)


def withdraw(shell: Any) -> str:
    """Take back what a kernel's front end would insert, and return it; "" if there is nothing.

    A terminal inserts it however the cell ends.
    """
    if not is_kernel(shell) or not (text := waiting(shell)):
        return ""
    manager = shell.payload_manager
    others = [payload for payload in manager.read_payload() if not _inserts(payload)]
    manager.clear_payload()
    for payload in others:
        manager.write_payload(payload, single=False)
    return text


def waiting(shell: Any) -> str:
    """Return what will be inserted when the running cell ends."""
    if not is_kernel(shell):
        return shell.rl_next_input or ""
    return next((p["text"] for p in shell.payload_manager.read_payload() if _inserts(p)), "")


def _inserts(payload: dict[str, Any]) -> bool:
    return payload.get("source") == _SOURCE and not payload.get("replace")


def code_of(text: str) -> str:
    """Return the code without the Markdown fences around it; of several fenced blocks, all of them.

    A fence that closes nothing, or stands inside a string, is code.
    """
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    lines = text.split("\n")
    opening = _FENCE.fullmatch(lines[0])
    if opening is None:
        return text
    inside = lines[1:-1] if len(lines) > 1 and _closes(lines[-1], opening[1]) else lines[1:]
    if not any(_closes(line, opening[1]) for line in inside) or _is_python("\n".join(inside)):
        return code_of("\n".join(inside))
    return "\n\n".join(code_of(block) for block in _blocks(lines))


def _closes(line: str, fence: str) -> bool:
    match = _FENCE.fullmatch(line)
    return match is not None and not match[2] and match[1].startswith(fence)


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _blocks(lines: list[str]) -> Iterator[str]:
    """Yield what stands inside each fence; the last may lack its end."""
    fence, block = "", list[str]()
    for line in lines:
        match = _FENCE.fullmatch(line)
        if not fence and match:
            fence, block = match[1], []
        elif fence and _closes(line, fence):
            yield "\n".join(block)
            fence = ""
        elif fence:
            block.append(line)
    if fence and block:
        yield "\n".join(block)
