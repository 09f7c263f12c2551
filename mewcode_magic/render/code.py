"""Code, commands and diffs as a block of text that nothing inside it can end."""

from __future__ import annotations

from html import escape

from mewcode_magic.render.text import clean

__all__ = ["code_html"]

_FILE_NAMES = ("--- ", "+++ ")
"""What begins the lines of a diff that name its files."""

CODE_LIMIT = 20_000
"""Characters that are shown."""


def code_html(text: str, language: str = "") -> str:
    """Return a block of text; the lines of a `diff` have its colours."""
    lines = shortened(clean(text)).split("\n")
    shown = [_diff_line(line) if language == "diff" else escape(line) for line in lines]
    return f'<pre class="mew-code">{chr(10).join(shown)}</pre>'


def shortened(text: str, limit: int = CODE_LIMIT) -> str:
    """Return the beginning of a long text, and how much is left out."""
    text = text.strip("\n")
    left_out = len(text) - limit
    return f"{text[:limit]}\n… {left_out:,} more characters" if left_out > 0 else text


def _diff_line(line: str) -> str:
    kind = {"+": "added", "-": "removed"}.get("" if line.startswith(_FILE_NAMES) else line[:1])
    return f'<span class="mew-{kind}">{escape(line)}</span>' if kind else escape(line)
