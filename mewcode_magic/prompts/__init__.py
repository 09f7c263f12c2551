"""What is said to a model, one Markdown file a prompt: to change the wording, change the file."""

from __future__ import annotations

from pathlib import Path

__all__ = ["prompt"]


def prompt(name: str) -> str:
    """Return the text of `NAME.md` in this folder."""
    return Path(__file__).with_name(f"{name}.md").read_text(encoding="utf-8").strip()
