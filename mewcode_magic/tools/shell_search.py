"""Every command that a text for the shell may run, wherever it stands in it; deny rules look at them all.

What is found is rather too much than too little: a word behind `sudo` or `xargs` may be the command, an
argument of `sh -c` or `eval` is read as a text of its own. What cannot be read for certain is `Unreadable`,
and every deny rule meets it. What stands out of reach is what a program or a script does by itself, and
what bash evaluates as arithmetic out of a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from mewcode_magic.tools.shell_names import READERS, RUNNERS, SHELLS
from mewcode_magic.tools.shell_reader import UNKNOWN, Unreadable, read_commands

__all__ = ["Start", "possible_commands"]

Start: TypeAlias = tuple[list[str], int]
"""Words, and the index of the one that may be a command's name."""

_KEYWORDS = frozenset(
    ["if", "then", "else", "elif", "while", "until", "do", "done", "fi", "esac", "!", "{", "}", "in"]
)
_UNREADABLE = frozenset(["case", "alias", "at", "batch"])
"""Patterns of `case` end with a bracket that opens nowhere; an alias may stand for anything; `at` reads its
commands from its input."""
_EXEC = frozenset(["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"])
"""Options of `find` and `fd` behind which a command stands."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=", re.ASCII)
_SKIPPED = re.compile(r"[-\d]")
_SPLITS = re.compile(r"-\w*S|--split")
"""The option by which `env` makes words of one."""
MOST_WORDS = 5_000
"""Of one command; more are not looked at."""


def possible_commands(script: str, depth: int = 0) -> list[Start]:
    """Return where in `script` a command may begin.

    Raises:
        Unreadable: it may run something else besides.
    """
    return [start for words in read_commands(script, depth) for start in _starts(words, depth)]


def _starts(words: list[str], depth: int) -> list[Start]:
    """Return where a command may begin in the words of one simple command."""
    if len(words) > MOST_WORDS:
        raise Unreadable
    first = 0
    while first < len(words) and (words[first] in _KEYWORDS or _ASSIGNMENT.match(words[first])):
        first += 1
    words = words[first:]
    if not words:
        return []
    if words[0] in ("for", "select"):
        return [] if words[2:3] == ["in"] else _starts(words[2:], depth)
    found: list[Start] = [(words, 0)]
    name = _name(words[0])
    if name in ("find", "fd"):
        for at in range(1, len(words)):
            if words[at - 1] in _EXEC:
                found += [(words, at), *(_behind_runner(words, at) if _name(words[at]) in RUNNERS else [])]
    elif name in RUNNERS:
        found += _behind_runner(words, 0)
    return [*found, *_read_by_any(found, depth)]


def _read_by_any(found: list[Start], depth: int) -> list[Start]:
    """Return where commands may begin in the texts that one of the found commands reads."""
    for words, at in found:
        name = _name(words[at])
        if name in _UNREADABLE or (name == "env" and any(_SPLITS.match(word) for word in words[at:])):
            raise Unreadable
        if name in READERS:
            return _read_by(words[at:], depth)
    return []


def _behind_runner(words: list[str], runner: int) -> Iterator[Start]:
    direct = True
    for at in range(runner + 1, len(words)):
        word = words[at]
        if _ASSIGNMENT.match(word):
            continue
        # Behind the first word that may be the command, one that is unknown is an argument.
        if direct or UNKNOWN not in word:
            yield words, at
        passed = _SKIPPED.match(word) or words[at - 1].startswith("-") or _name(word) in RUNNERS
        direct = direct and bool(passed)


def _read_by(words: list[str], depth: int) -> list[Start]:
    """Return where commands may begin in the texts that a shell, or `eval` and its like, is given."""
    given = words[1:]
    if any(UNKNOWN in word or word.startswith(("/dev/", "/proc/")) for word in given):
        raise Unreadable
    if _name(words[0]) in SHELLS and ("-s" in given or all(word[:1] in "-+" for word in given)):
        raise Unreadable  # it reads what to run from its input
    texts = [word for word in given if not word.startswith("-")]
    found = [start for text in texts for start in possible_commands(text, depth + 1)]
    # `eval` joins its words; `ssh` and `watch` do so too.
    return found + (possible_commands(" ".join(texts), depth + 1) if len(texts) > 1 else [])


def _name(word: str) -> str:
    return word.rsplit("/", 1)[-1].casefold()
