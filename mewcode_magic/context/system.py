"""The system prompt: who the agent is and where."""

from __future__ import annotations

from pathlib import Path

from mewcode_magic.prompts import prompt

__all__ = ["system_prompt"]


def system_prompt(project: Path) -> str:
    """Return the system prompt for a project; the same for all of a session."""
    return f"{prompt('system')}\n\nThe project's folder is {project}."
