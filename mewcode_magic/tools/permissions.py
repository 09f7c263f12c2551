"""What the agent may do: modes and rules decide on each call that writes, runs, or reads elsewhere.

A rule is `Tool`, or `Tool(pattern)`; what a pattern means is the tool's matter. Deny rules hold in every
mode. `read-only` lets nothing write or run; `accept-edits` lets files of the project be edited; `auto` lets
everything be done; `ask` asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SettingError

__all__ = ["Action", "Kind", "Permissions", "Verdict"]

Kind: TypeAlias = Literal["read", "edit", "run", "memory"]
Verdict: TypeAlias = Literal["yes", "no", "ask"]

_RULE = re.compile(r"\s*(?P<tool>[A-Za-z_]\w*)\s*(?:\((?P<pattern>.*)\))?\s*", re.DOTALL)


def _never(_pattern: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Action:
    """What a call would do, as far as it may need leave."""

    tool: str
    kind: Kind
    question: str
    """One line that asks the user."""
    detail: str = ""
    """The exact code, command or diff, shown below the question."""
    language: str = ""
    """Of the detail: `python`, `bash` or `diff`."""
    path: Path | None = None
    """The file or folder that it is about, with links resolved, if it is about one."""
    inside: bool = True
    """Whether it stays inside the project."""
    always: str = ""
    """The rule that the answer “always” adds for the session; "" offers no such answer."""
    parts: tuple[Action, ...] = ()
    """What it consists of, if several rules together may allow it: it is covered if each part is."""
    covered_by: Callable[[str], bool] = _never
    """Whether an allow rule of this pattern covers all of it."""
    touched_by: Callable[[str], bool] = _never
    """Whether a deny rule of this pattern meets any part of it."""
    denied_as: tuple[str, ...] = ()
    """The other tools whose deny rules hold for it too: what `ReadFile` may not read, `Grep` may not show."""
    contains: tuple[Action, ...] = ()
    """What it does in the way of another tool, whose deny rules meet it: the shell commands in code."""


@dataclass(frozen=True, slots=True)
class _Rule:
    text: str
    tool: str
    pattern: str | None

    def covers(self, action: Action) -> bool:
        return self.tool == action.tool and (self.pattern is None or action.covered_by(self.pattern))

    def touches(self, action: Action) -> bool:
        tools = (action.tool, *action.denied_as)
        meets = self.tool in tools and (self.pattern is None or action.touched_by(self.pattern))
        return meets or any(self.touches(inner) for inner in action.contains)


class Permissions:
    """The mode and the rules of the settings, as they are at each call, and what the user allowed since.

    `tools` are the names of those that there are, which `check` compares with.
    """

    def __init__(self, settings: MewCode, tools: Collection[str] = ()) -> None:
        self._settings, self._tools = settings, tools
        self._always: list[str] = []

    def check(self) -> None:
        """See that each rule of the settings is one, so that none is thought to hold that does not.

        Raises:
            SettingError: one is none, or names no tool.
        """
        for setting, texts in (("deny", self._settings.deny), ("allow", self._settings.allow)):
            for rule in _rules(texts, setting):
                if self._tools and rule.tool not in self._tools:
                    raise SettingError(
                        f"MewCode.{setting} holds {rule.text!r}, but there is no tool {rule.tool!r}; "
                        f"{_meant(rule.tool, self._tools)}"
                    )

    def allow(self, rule: str) -> None:
        """Ask no more in this session for what the rule covers."""
        self._always.append(rule)

    def decide(self, action: Action) -> tuple[Verdict, str]:
        """Return whether an action may be done, and why not.

        Raises:
            SettingError: a rule of the settings is none.
        """
        settings = self._settings
        for rule in _rules(settings.deny, "deny"):
            if rule.touches(action):
                return "no", f"the rule {rule.text!r} of MewCode.deny forbids it"
        mode = settings.permission_mode
        if mode == "read-only" and action.kind != "read":
            return "no", "MewCode.permission_mode is 'read-only', which lets nothing be written or run"
        allowed = _rules([*settings.allow, *self._always], "allow")
        if all(any(rule.covers(part) for rule in allowed) for part in action.parts or (action,)):
            return "yes", ""
        if mode == "auto" or action.kind == "memory" or (action.kind == "read" and action.inside):
            return "yes", ""
        if mode == "accept-edits" and action.kind == "edit" and action.inside:
            return "yes", ""
        return "ask", ""


def _meant(name: str, tools: Collection[str]) -> str:
    close = get_close_matches(name.casefold(), [tool.casefold() for tool in tools], 1)
    meant = next((tool for tool in tools if [tool.casefold()] == close), "")
    return f"did you mean {meant}?" if meant else f"the tools are {', '.join(sorted(tools))}"


def _rules(texts: Iterable[str], setting: str) -> list[_Rule]:
    rules = []
    for text in texts:
        match = _RULE.fullmatch(text)
        if match is None:
            raise SettingError(
                f"MewCode.{setting} holds {text!r}, which is no rule; write Tool or Tool(pattern), such as "
                "Bash(git diff *)"
            )
        rules.append(_Rule(text.strip(), match["tool"], match["pattern"]))
    return rules
