"""Commands so plain that all they run can be told from their words; an allow rule covers no others.

The grammar is small on purpose, and a part of that of bash and sh: words of harmless characters and quoted
text, joined by `&&`, `||`, `;`, `|` and line ends. Whatever else stands in a text (a `$`, a backtick, a
backslash, a glob, a brace, a tilde, an assignment, a comment, `&`, a redirection but to `/dev/null`, a blank
that only looks like one) makes all of it not plain, so that no bug can make it look harmless.
"""

from __future__ import annotations

import re

__all__ = ["plain_commands"]

_BARE = r"[A-Za-z0-9_@%+:,./=^\x80-\U0010ffff-]"
_TOKEN = re.compile(
    rf"""
    (?P<blank>[ \t]+(?:\\\n[ \t]*)*)  # a line that is continued behind a blank goes on as one
    | (?P<redirection>
        (?:(?:[12]?>>?|&>>?|<)[ \t]*/dev/null|[12]?>&[12])
        (?=[ \t\n;|&]|\Z)
      )
    | (?P<operator>&&|\|\||[;|\n])
    | (?P<word>(?:{_BARE}+|'[^']*'|"[^"$`\\]*")+)
    """,
    re.VERBOSE,
)
_QUOTE = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def plain_commands(script: str) -> list[list[str]] | None:
    """Return the words of each simple command; None if the text is not plain, or holds no command."""
    if not all(c.isprintable() or c in "\t\n" for c in script):
        return None
    commands: list[list[str]] = [[]]
    at = 0
    while at < len(script):
        token = _TOKEN.match(script, at)
        if token is None:
            return None
        at = token.end()
        if token["word"] is not None:
            word = _QUOTE.sub(lambda quote: quote[1] or quote[2] or "", token["word"])
            if not commands[-1] and "=" in word:
                return None  # an assignment: it can change what any command does
            commands[-1].append(word)
        elif token["operator"] is not None:
            if commands[-1]:
                commands.append([])
            elif token["operator"] != "\n":
                return None
    return [command for command in commands if command] or None
