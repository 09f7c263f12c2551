"""Completion: paths behind `@` in a prompt, and whatever else is given as a matcher of the shell's.

Names of magics, and of variables behind `@`, the shell completes by itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

__all__ = ["complete", "paths_beginning", "stop_completing"]

Matcher: TypeAlias = Callable[[CompletionContext], SimpleMatcherResult]

MOST_PATHS = 200

_MENTIONS, _OFFERS = "mewcode.mentions", "mewcode.offers"
_PROMPT = re.compile(r"\s*%{1,2}agent\b")
_MENTION = re.compile(r"(?<![\w@.`/\\])@(?P<word>[\w~./-]+)$")


def complete(shell: Any, offers: Matcher) -> None:
    """Let the shell offer the paths that a mention can name, and what `offers` returns."""

    @context_matcher(identifier=_OFFERS)  # type: ignore[untyped-decorator]
    def matcher(context: CompletionContext) -> SimpleMatcherResult:  # IPython asks a matcher for its name
        return offers(context)

    shell.Completer.custom_matchers += [_paths, matcher]


def stop_completing(shell: Any) -> None:
    """Take that away again."""
    matchers = shell.Completer.custom_matchers
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", "") not in (_MENTIONS, _OFFERS)]


@context_matcher(identifier=_MENTIONS)  # type: ignore[untyped-decorator]
def _paths(context: CompletionContext) -> SimpleMatcherResult:
    mention = _MENTION.search(context.text_until_cursor)
    if mention is None or not (_PROMPT.match(context.full_text) or _PROMPT.match(context.line_with_cursor)):
        return {"completions": []}
    word = mention["word"]
    # What is offered takes the place of the shell's own last word, which may begin within the mention.
    kept = len(word) - len(context.token) if word.endswith(context.token) else 0
    return {
        "completions": [SimpleCompletion(text=path[kept:], type="path") for path in paths_beginning(word)]
    }


def paths_beginning(word: str) -> list[str]:
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
