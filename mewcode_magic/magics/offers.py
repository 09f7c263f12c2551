"""Completion behind the names of the magics: options and their values, sub-words, sessions, memories, paths.

What a magic takes is read off its declaration, so that a new option or sub-word is offered without a change
here. Sessions are told by the names of their files alone.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult

from mewcode_magic.magics.completion import paths_beginning
from mewcode_magic.magics.exchange import FORMS
from mewcode_magic.magics.options import Takes

if TYPE_CHECKING:
    from mewcode_magic.config import MewCode
    from mewcode_magic.magics.mew_magics import MewMagics
    from mewcode_magic.memory import Memory, MemoryStore

__all__ = ["Offers"]

MOST = 200
"""Words that are offered."""

PARTS = (
    "system prompt",
    "tools",
    "instructions",
    "memory index",
    "date",
    "conversation",
    "recalled last",
    "notices",
)
"""What a request can consist of, as `%context` names it."""

_LINE = re.compile(r"\s*%{1,2}(?P<name>\w+)\s+(?P<rest>.*)")
_CELL = re.compile(r"\s*%%(?P<name>\w+)")
_ONE_WORD = re.compile(r"[^\s'\"]+")


class Offers:
    """What completion offers for the magics of one shell, as a matcher of IPython's completer.

    Nothing is made and no file is changed for it, and it never raises: a word that cannot be completed is
    not worth a traceback in the middle of a line.
    """

    def __init__(self, magics: Sequence[MewMagics], settings: MewCode) -> None:
        self._settings = settings
        self._takes: dict[str, Takes] = {
            name: function.takes
            for one in magics
            for kind in one.magics.values()
            for name, function in kind.items()
        }

    def __call__(self, context: CompletionContext) -> SimpleMatcherResult:
        """Return the words that can stand at the cursor; they take the place of all else that is offered."""
        found: list[str] = []
        word = ""
        match = None if self._is_in_text(context) else _LINE.fullmatch(context.text_until_cursor)
        if match and (takes := self._takes.get(match["name"])):
            *before, word = re.split(r"\s+", match["rest"])
            flag, equals, value = word.partition("=")
            if equals and flag.startswith("-"):
                before, word = [*before, flag], value
            with contextlib.suppress(Exception):
                found = [one for one in self._words(takes, before, word) if one.startswith(word)][:MOST]
        # What is offered takes the place of the shell's own last word, which may begin within this one.
        kept = len(word) - len(context.token) if word.endswith(context.token) else 0
        completions = [SimpleCompletion(text=one[kept:], type="magic") for one in found]
        return {"completions": completions, "suppress": bool(found), "ordered": True}

    def _is_in_text(self, context: CompletionContext) -> bool:
        """Tell a line of the user's own text: one below the first of a cell that is a prompt."""
        above, _, _ = context.full_text.partition("\n")
        match = _CELL.match(above)
        takes = self._takes.get(match["name"]) if match else None
        return context.cursor_line > 0 and takes is not None and takes.is_text

    def _words(self, takes: Takes, before: list[str], word: str) -> Iterable[str]:
        """Return what can stand behind the words `before`, whether it begins with `word` or not."""
        words, waiting = _read(takes, before)
        if waiting:
            return self._values(waiting)
        if word.startswith("-"):
            return () if words and takes.is_text else takes.options
        kinds = takes.words
        if takes.sub_words:
            if not words:
                return takes.sub_words
            sub_word = words.pop(0)
            kinds = "DELETED" if sub_word == "restore" else takes.sub_words.get(sub_word, "")
        place = dict(enumerate(kinds.split())).get(len(words), "")
        return self._of_kind(place.strip("[]"), word)

    def _of_kind(self, kind: str, word: str) -> Iterable[str]:
        """Return what a word can be that a magic's declaration calls by `kind`."""
        match kind:
            case "ID":
                return self._session_ids()
            case "NAME":
                return self._names()
            case "DELETED":
                return self._deleted_names()
            case "PART":
                return PARTS
            case "PATH":
                return paths_beginning(word)
        return ()

    def _values(self, option: str) -> Iterable[str]:
        """Return what the value of an option can be."""
        match option:
            case "type":
                from mewcode_magic.memory import TYPES

                return TYPES
            case "model":
                from mewcode_magic.model import DEFAULT_MODEL, OFFLINE, SIDE_MODEL

                own = (self._settings.model, self._settings.side_model)
                return dict.fromkeys(name for name in (*own, DEFAULT_MODEL, SIDE_MODEL, OFFLINE) if name)
            case "to":
                return FORMS
            case "name":
                return self._names()
        return ()

    def _session_ids(self) -> Iterable[str]:
        """Return the sessions' ids, the one that was written last first."""
        from mewcode_magic.sessions import SessionStore

        return SessionStore(self._settings.project_dir, settings=self._settings).recent_ids()

    def _names(self) -> Iterable[str]:
        return map(_name, self._memory.list())

    def _deleted_names(self) -> Iterable[str]:
        return dict.fromkeys(_name(deleted.memory) for deleted in self._memory.deleted())

    @functools.cached_property
    def _memory(self) -> MemoryStore:
        """The memories; kept, as the store knows which files it has read."""
        from mewcode_magic.memory import MemoryStore

        return MemoryStore(self._settings.project_dir, self._settings.home, settings=self._settings)


def _read(takes: Takes, before: list[str]) -> tuple[list[str], str]:
    """Return which of the words are no options and no values, and the option that waits for its value."""
    words: list[str] = []
    waiting = ""
    for one in before:
        action = None if words and takes.is_text else takes.options.get(one)
        if waiting:
            waiting = ""
        elif action is None:
            words.append(one)
        elif action.nargs != 0:
            waiting = action.dest
    return words, waiting


def _name(memory: Memory) -> str:
    """Return what names a memory in one word: its name, or that of its file."""
    return memory.name if _ONE_WORD.fullmatch(memory.name) else memory.slug
