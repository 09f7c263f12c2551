"""The system prompt: who the agent is and where."""

from __future__ import annotations

from pathlib import Path

from mewcode_magic.prompts import prompt

__all__ = ["system_prompt"]


def system_prompt(project: Path, memory_tool: str) -> str:
    """Return the system prompt for a project; the same for all of a session.

    `memory_tool`: the setting of that name, which says by what the agent saves.
    """
    return f"{prompt('system')}\n\n{prompt(f'saving_{memory_tool}')}\n\nThe project's folder is {project}."
