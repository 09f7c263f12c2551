"""What `Bash(pattern)` means: words, compared with the words of the commands that a text runs.

`*` as the last word stands for any further words, also none; inside a word it stands for any characters;
`git diff:*` is another way to write `git diff *`; quotes hold a word together. An allow rule covers one
plain command, a deny rule meets any command anywhere. What a command does with its arguments is its own
matter: `git diff --output=FILE` writes a file, and a configured `git diff` runs programs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mewcode_magic.errors import SettingError
from mewcode_magic.tools.shell_names import BY_SUBCOMMAND, NEVER_OFFERED, OFFERED_EXACTLY
from mewcode_magic.tools.shell_plain import plain_commands
from mewcode_magic.tools.shell_reader import UNKNOWN
from mewcode_magic.tools.shell_search import Start

__all__ = ["covers", "meets", "offered_rule"]

_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|[^\s'"])+""")
_PART = re.compile(r"""'([^']*)'|"([^"]*)"|(\*)|([^'"*]+)""")

_CODE_OPTION = re.compile(r"-[A-Za-z]*[ce]|--(?:eval|print|command|exec)(?:=.*)?", re.DOTALL)
_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")


@dataclass(frozen=True, slots=True)
class _Pattern:
    words: tuple[tuple[str, re.Pattern[str]], ...]
    """Each as it is written, and what it matches."""
    more: bool
    """Whether further words may follow."""


def covers(pattern: str, words: Sequence[str]) -> bool:
    """Whether an allow rule's pattern matches the words of a command.

    Raises:
        SettingError: the pattern is none.
    """
    read = _read(pattern)
    if len(words) < len(read.words) or (len(words) > len(read.words) and not read.more):
        return False
    return all(matcher.fullmatch(word) for (_, matcher), word in zip(read.words, words, strict=False))


def meets(pattern: str, starts: Sequence[Start]) -> bool:
    """Whether a deny rule's pattern matches any of the commands that a text may run.

    The folder of a command does not count unless the pattern has one, nor the case of letters. Options may
    stand between the words, and the pattern's own options at any place.

    Raises:
        SettingError: the pattern is none.
    """
    read = _read(pattern, re.IGNORECASE)
    return any(_meets(read, start) for start in starts)


def _meets(pattern: _Pattern, start: Start) -> bool:
    if not pattern.words:
        return True
    words, first = start
    (written, matcher), *others = pattern.words
    name = words[first] if "/" in written else words[first].rsplit("/", 1)[-1]
    if not _may_be(matcher, name):
        return False
    at = first + 1
    for written, matcher in others:
        if written.startswith("-"):
            if not any(_may_be(matcher, word) for word in words[first + 1 :]):
                return False
            continue
        while at < len(words) and words[at].startswith("-") and not _may_be(matcher, words[at]):
            at += 1
            if at < len(words) and not words[at].startswith("-") and not _may_be(matcher, words[at]):
                at += 1  # what the option is given
        if at == len(words) or not _may_be(matcher, words[at]):
            return False
        if UNKNOWN in words[at]:
            return True  # it may be several words
        at += 1
    return pattern.more or all(word.startswith("-") or UNKNOWN in word for word in words[at:])


def _may_be(matcher: re.Pattern[str], word: str) -> bool:
    return UNKNOWN in word or matcher.fullmatch(word) is not None


def _read(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> _Pattern:
    text = pattern.strip()
    if text.endswith(":*"):
        text = f"{text[:-2]} *"
    written = _WORD.findall(text)
    if not written or _WORD.sub("", text).strip():
        raise SettingError(
            f"the rule Bash({pattern}) has no words, or an open quote; write it as Bash(git diff *)"
        )
    more = written[-1] == "*"
    words = written[:-1] if more else written
    return _Pattern(tuple((word, _matcher(word, flags)) for word in words), more)


def _matcher(word: str, flags: re.RegexFlag) -> re.Pattern[str]:
    parts = (
        ".*" if part[3] else re.escape(part[1] or part[2] or part[4] or "") for part in _PART.finditer(word)
    )
    return re.compile("".join(parts), re.DOTALL | flags)


def offered_rule(script: str) -> str:
    """Return the pattern that the answer “always” stands for; "" if none is to be offered."""
    commands = plain_commands(script)
    if commands is None or len(commands) != 1:
        return ""
    words = commands[0]
    name, arguments = words[0].rsplit("/", 1)[-1], words[1:]
    if name in NEVER_OFFERED:
        return ""
    if words[0] in BY_SUBCOMMAND:
        if arguments and _SUBCOMMAND.fullmatch(arguments[0]) and arguments[0] not in OFFERED_EXACTLY:
            return f"{name} {arguments[0]} *"
    elif any(_CODE_OPTION.fullmatch(word) for word in arguments):
        return ""
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    if re.fullmatch(r"[\w@%+:,./=^-]+", word):
        return word
    return (
        "".join(f'"{part}"' if part == "'" else f"'{part}'" for part in re.split("(')", word) if part) or "''"
    )
