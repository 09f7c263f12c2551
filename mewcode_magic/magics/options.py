"""A magic's line: options first, then the rest as it stands; or words with options among them.

The options are declared to IPython's `magic_arguments`, which makes the help text of them. Its parser is not
used for reading: it splits the whole line like a shell, and a prompt is no command line.
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from IPython.core.magic_arguments import argument, magic_arguments

from mewcode_magic.errors import CommandError

if TYPE_CHECKING:
    from mewcode_magic.magics.screen import Screen

__all__ = [
    "Takes",
    "check_places",
    "joined",
    "option",
    "split_text",
    "split_words",
    "sub_word",
    "sub_word_option",
    "takes_text",
    "takes_words",
]

_OPTION = re.compile(r"--?[A-Za-z][^\s=]*")
"""What counts as an option: dashes and a letter. `-`, `-5`, `---` and `-->` are text."""

_QUOTED = re.compile(r"""("[^"]*"|'[^']*')(?=\s|$)""")

Method = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Takes:
    """What a magic takes, for whoever completes its line; its function has this as `takes`.

    `options` by each of their spellings. `is_text`: the options stand in front of a text of the user's own.
    `words` says what follows, as in `ID`, and for the sub-words of a magic that has some `sub_words` does.
    """

    options: dict[str, argparse.Action]
    is_text: bool
    words: str
    sub_words: dict[str, str]


class _Magics(Protocol):
    screen: Screen


def option(*flags: str, **properties: Any) -> argument:
    """Return the declaration of one option, in the terms of `argparse`'s `add_argument`."""
    return argument(*flags, **properties)  # type: ignore[no-untyped-call]


def sub_word_option(takes: dict[str, str], *, without: str) -> argument:
    """Return the declaration of what `sub_word` takes; `without` says what the magic does without one."""
    known = " | ".join(f"{word} {what}".rstrip() for word, what in takes.items())
    return option("what", nargs="*", help=f"{known}; without: {without}.")


def takes_text(*options: argument) -> Callable[[Method], Method]:
    """Make a method `(self, options, text, cell)` a magic's function: options first, then a text.

    `--help` is among the options and answered here. The function raises CommandError for a bad line.
    """

    def declare(method: Method) -> Method:
        @functools.wraps(method)
        def magic(self: _Magics, line: str, cell: str | None = None) -> None:
            values, text = split_text(_parser(magic), line)
            if values.help:
                self.screen.say(_help_text(_parser(magic)))
            else:
                method(self, values, text, cell)

        return _declared(magic, options, text=True)

    return declare


def takes_words(*options: argument, sub_words: dict[str, str] | None = None) -> Callable[[Method], Method]:
    """Make a method `(self, options, words)` a magic's function: words, with options among them.

    `--help` is among the options and answered here. The function raises CommandError for a bad line.
    `sub_words`, as `sub_word` has them, are what completion offers.
    """

    def declare(method: Method) -> Method:
        @functools.wraps(method)
        def magic(self: _Magics, line: str) -> None:
            values, words = split_words(_parser(magic), line)
            if values.help:
                self.screen.say(_help_text(_parser(magic)))
            else:
                method(self, values, words)

        return _declared(magic, options, sub_words=sub_words or {})

    return declare


def split_text(parser: argparse.ArgumentParser, line: str) -> tuple[argparse.Namespace, str]:
    """Return the options at the front of `line`, and the text after them as it stands.

    `--` ends the options, so that a text can begin with dashes.

    Raises:
        CommandError: an option is unknown, or its value is missing or does not fit.
    """
    values, rest = _defaults(parser), line.lstrip()
    while (ended := _after_dashes(rest)) is None:
        if not (match := _OPTION.match(rest)):
            return values, rest.rstrip()
        flag, rest = match.group(), rest[match.end() :]
        hint = f"; for a text that begins with dashes write %{parser.prog} -- {flag} …"
        rest = _take_option(parser, flag, rest, values, hint=hint)
    return values, ended.rstrip()


def split_words(parser: argparse.ArgumentParser, line: str) -> tuple[argparse.Namespace, list[str]]:
    """Return the options anywhere in `line`, and its other words; quotes keep a word with spaces together.

    After `--` every word is taken as it stands.

    Raises:
        CommandError: an option is unknown, or its value is missing or does not fit.
    """
    values, rest = _defaults(parser), line.lstrip()
    words: list[str] = []
    while rest:
        if (ended := _after_dashes(rest)) is not None:
            return values, [*words, *ended.split()]
        if match := _OPTION.match(rest):
            rest = _take_option(parser, match.group(), rest[match.end() :], values)
        else:
            word, rest = _take_word(rest)
            words.append(word)
    return values, words


def _declared(
    magic: Method,
    options: tuple[argument, ...],
    *,
    text: bool = False,
    sub_words: dict[str, str] | None = None,
) -> Method:
    help_option = option("--help", action="store_true", help="Show this text.")
    for declaration in reversed((*options, help_option)):
        magic = declaration(magic)
    declared: Method = magic_arguments()(magic)  # type: ignore[no-untyped-call]
    parser = _parser(declared)
    words = " ".join(str(a.metavar) for a in parser._actions if not a.option_strings)  # noqa: SLF001 - as below
    declared.takes = Takes(_actions(parser), text, words, sub_words or {})  # type: ignore[attr-defined]
    return declared


def _parser(magic: Method) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = magic.parser  # type: ignore[attr-defined]
    return parser


def _help_text(parser: argparse.ArgumentParser) -> str:
    """Return usage, description and options without the markup that IPython adds."""
    usage, _, rest = parser.format_help().removeprefix("::\n\n").partition("\n\n")
    return f"{usage.strip()}\n\n{rest.strip()}"


def _actions(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return parser._option_string_actions  # noqa: SLF001 - argparse has no public table of its options


def _defaults(parser: argparse.ArgumentParser) -> argparse.Namespace:
    return argparse.Namespace(**{a.dest: a.default for a in _actions(parser).values()})


def _after_dashes(rest: str) -> str | None:
    """Return what follows a leading `--`, or None if there is none."""
    return rest[2:].lstrip() if re.match(r"--(\s|$)", rest) else None


def _take_option(
    parser: argparse.ArgumentParser, flag: str, rest: str, values: argparse.Namespace, *, hint: str = ""
) -> str:
    """Put the option `flag`, with its value at the beginning of `rest`, into `values`; return what follows.

    `hint` ends the error on an unknown option.
    """
    action = _actions(parser).get(flag)
    if action is None:
        known = ", ".join(_actions(parser))
        raise CommandError(f"%{parser.prog} has no option {flag}; it has {known}{hint}")
    if action.nargs == 0:
        if rest.startswith("="):
            raise CommandError(f"%{parser.prog}: {flag} takes no value")
        setattr(values, action.dest, True)
        return rest.lstrip()
    value, rest = _take_word(rest.removeprefix("=") if rest.startswith("=") else rest.lstrip())
    if not value:
        raise CommandError(f"%{parser.prog}: {flag} needs a value; write {flag} {action.metavar}")
    try:
        setattr(values, action.dest, action.type(value) if callable(action.type) else value)
    except ValueError as error:
        message = f"%{parser.prog}: {flag} is {value!r}, which does not fit: {action.help}"
        raise CommandError(message) from error
    return rest


def _take_word(rest: str) -> tuple[str, str]:
    """Return the word that `rest` begins with, without quotes around it, and what follows it."""
    if match := _QUOTED.match(rest):
        return match.group()[1:-1], rest[match.end() :].lstrip()
    word = re.split(r"\s", rest, maxsplit=1)[0]
    return word, rest[len(word) :].lstrip()


def joined(text: str, cell: str | None) -> str:
    """Return the texts of a line and of the cell below it as one; what stands inside them stays."""
    return "\n".join(part for part in (text, (cell or "").strip("\n")) if part.strip())


def sub_word(name: str, words: list[str], takes: dict[str, str]) -> tuple[str, str]:
    """Return the sub-word that `words` begins with, and the rest as one text; "" and "" without words.

    `takes` says for each sub-word what must follow it, "" for nothing; in brackets, what may.

    Raises:
        CommandError: the sub-word is unknown, or what must follow it is missing or too much.
    """
    if not words:
        return "", ""
    word, rest = words[0], " ".join(words[1:])
    if word not in takes:
        known = ", ".join(f"{known} {what}".rstrip() for known, what in takes.items())
        raise CommandError(f"%{name} does not know {word!r}; it knows {known}; %{name} --help says more")
    if takes[word] and not rest and not takes[word].startswith("["):
        raise CommandError(
            f"%{name} {word} needs more: %{name} {word} {takes[word]}; %{name} lists what there is"
        )
    if rest and not takes[word]:
        raise CommandError(f"%{name} {word} takes nothing more, so not {rest!r}")
    return word, rest


def check_places(name: str, values: argparse.Namespace, word: str, places: dict[str, str]) -> None:
    """Refuse options that stand with another sub-word than theirs; `places` says which one that is.

    Raises:
        CommandError: one of them does.
    """
    for dest, place in places.items():
        if getattr(values, dest) and word != place:
            flag = f"--{dest.replace('_', '-')}"
            where = f"{place}: %{name} {place} {flag}" if place else f"the list: %{name} {flag}"
            raise CommandError(f"%{name}: {flag} goes with {where}")
