"""The system prompt: the text of `system.md` and where the agent is."""

from __future__ import annotations

from pathlib import Path

__all__ = ["system_prompt"]


def system_prompt(project: Path) -> str:
    """Return the system prompt for a project; the same for all of a session."""
    text = Path(__file__).with_name("system.md").read_text(encoding="utf-8")
    return f"{text}\nThe project's folder is {project}."
