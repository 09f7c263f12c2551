"""Completion of paths behind `@` in a prompt; names of variables the shell completes there by itself."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

__all__ = ["complete_mentions", "stop_completing_mentions"]

MOST_PATHS = 200

_NAME = "mewcode.mentions"
_PROMPT = re.compile(r"\s*%{1,2}agent\b")
_MENTION = re.compile(r"(?<![\w@.`/\\])@(?P<word>[\w~./-]+)$")


def complete_mentions(shell: Any) -> None:
    """Let the shell offer the paths that a mention can name."""
    shell.Completer.custom_matchers.append(_paths)


def stop_completing_mentions(shell: Any) -> None:
    """Take that away again."""
    matchers = shell.Completer.custom_matchers
    matchers[:] = [matcher for matcher in matchers if getattr(matcher, "matcher_identifier", "") != _NAME]


@context_matcher(identifier=_NAME)  # type: ignore[untyped-decorator]
def _paths(context: CompletionContext) -> SimpleMatcherResult:
    mention = _MENTION.search(context.text_until_cursor)
    if mention is None or not (_PROMPT.match(context.full_text) or _PROMPT.match(context.line_with_cursor)):
        return {"completions": []}
    word = mention["word"]
    # What is offered takes the place of the shell's own last word, which may begin within the mention.
    kept = len(word) - len(context.token) if word.endswith(context.token) else 0
    return {"completions": [SimpleCompletion(text=path[kept:], type="path") for path in _beginning(word)]}


def _beginning(word: str) -> list[str]:
    """Return the paths that begin with a word, folders with a slash behind them."""
    folder, _, begun = word.rpartition("/")
    where = Path(f"{folder}/" if "/" in word else ".").expanduser()
    try:
        with os.scandir(where) as entries:
            found = sorted((e.name, e.is_dir()) for e in entries if e.name.startswith(begun))
    except (OSError, RuntimeError):
        return []
    shown = [name for name in found if begun or not name[0].startswith(".")][:MOST_PATHS]
    return [f"{word.removesuffix(begun)}{name}{'/' if is_folder else ''}" for name, is_folder in shown]
