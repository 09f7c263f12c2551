"""Code, commands and diffs as a block of text that nothing inside it can end."""

from __future__ import annotations

from html import escape

from mewcode_magic.render.text import all_seen, clean

__all__ = ["code_html", "shortened"]

CODE_LIMIT = 20_000
"""Characters that are shown."""


def code_html(text: str, language: str = "") -> str:
    """Return a block of text; the lines of a `diff` have its colours.

    Of code in any `language` each character is seen: it may be run.
    """
    short = shortened(text)
    lines = [escape(line) for line in (all_seen(short) if language else clean(short)).split("\n")]
    if language == "diff":
        names = 2 if lines[0].startswith("--- ") and "".join(lines[1:2]).startswith("+++ ") else 0
        lines[names:] = map(_coloured, lines[names:])
    return f'<pre class="mew-code">{chr(10).join(lines)}</pre>'


def shortened(text: str, limit: int = CODE_LIMIT) -> str:
    """Return the beginning of a long text, and how much is left out."""
    text = text.strip("\n")
    left_out = len(text) - limit
    return f"{text[:limit]}\n… {left_out:,} more characters" if left_out > 0 else text


def _coloured(line: str) -> str:
    kind = {"+": "added", "-": "removed"}.get(line[:1])
    return f'<span class="mew-{kind}">{line}</span>' if kind else line
