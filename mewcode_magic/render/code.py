"""Code, commands and diffs as a block of text that nothing inside it can end."""

from __future__ import annotations

from html import escape

from mewcode_magic.render.text import all_seen, clean

__all__ = ["code_html", "shortened"]

CODE_LIMIT = 20_000
"""Characters that are shown."""

_CODE = (
    "background: none; border-left: 2px solid #8884; color: inherit; margin: 4px 0 4px 4px; "
    "max-height: 24em; overflow: auto; padding: 0 0 0 10px; white-space: pre-wrap"
)
_ADDED = "var(--vscode-gitDecoration-addedResourceForeground, var(--jp-success-color1, #388e3c))"
_REMOVED = "var(--vscode-gitDecoration-deletedResourceForeground, var(--jp-error-color1, #d32f2f))"


def code_html(text: str, language: str = "") -> str:
    """Return a block of text; the lines of a `diff` have its colours.

    Of code in any `language` each character is seen: it may be run.
    """
    short = shortened(text)
    lines = (all_seen(short) if language else clean(short)).split("\n")
    shown = [_diff_line(line) if language == "diff" else escape(line) for line in lines]
    return f'<pre style="{_CODE}">{chr(10).join(shown)}</pre>'


def shortened(text: str, limit: int = CODE_LIMIT) -> str:
    """Return the beginning of a long text, and how much is left out."""
    text = text.strip("\n")
    left_out = len(text) - limit
    return f"{text[:limit]}\n… {left_out:,} more characters" if left_out > 0 else text


def _diff_line(line: str) -> str:
    color = {"+": _ADDED, "-": _REMOVED}.get(line[:1])
    return f'<span style="color: {color}">{escape(line)}</span>' if color else escape(line)
