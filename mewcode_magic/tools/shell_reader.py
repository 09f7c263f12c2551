"""Reads a text as bash does, as far as needed to tell which words belong to which command.

Substitutions are read like the text around them, and what they become is `UNKNOWN`. Where bash reads by
other rules than these (arithmetic, patterns of `[[`, extended globs, code inside `${…}`) the text is
`Unreadable`, for a misread quote could hide a command.
"""

from __future__ import annotations

import re

__all__ = ["UNKNOWN", "Unreadable", "read_commands"]

UNKNOWN = "\0"
"""Stands in a word for what is known only when it runs: a variable's value, a substitution, a glob."""

DEEPEST = 40
"""Brackets and texts inside one another."""

_REDIRECTION = re.compile(
    r"(?:\d+|\{\w+\})?(?P<operator><<<|<<-?|<>|<&-?|>&-?|>\||>>|<(?!\()|>(?!\())|&>>?", re.ASCII
)
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_ARITHMETIC = re.compile(r"\$\(\([\w\s+*/%<>=!?:,^~&|$.-]*\)\)", re.ASCII)
_PARAMETER = re.compile(
    r"\$(?:\{[!#]?(?:\w+|[@*#?$!-])(?:\[[\w@*]+\])?(?:[-:+=?#%/^,][^'\"`\\${}]*)?\}|[A-Za-z_]\w*|[\d@*#?$!-])",
    re.ASCII,
)
_ANSI_QUOTE = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ENDS_WORD = " \t\n;&|()<>"
_SPLIT_OPERATOR = re.compile(r"[$<>&|;(#]\\\n")
"""An operator that goes on in the next line."""


class Unreadable(Exception):
    """What the text runs cannot be told."""


def read_commands(text: str, depth: int) -> list[list[str]]:
    """Return the words of each simple command in `text`, keywords and assignments among them.

    Raises:
        Unreadable: there may be others besides.
    """
    reader = _Reader(text.replace(UNKNOWN, ""), depth)
    reader.read("")
    return reader.found


class _Reader:
    """Reads a text as bash does, as far as needed to know which words belong to which command."""

    def __init__(self, text: str, depth: int) -> None:
        if depth > DEEPEST:
            raise Unreadable
        self.text = text
        self.at = 0
        self.depth = depth
        self.found: list[list[str]] = []
        if _SPLIT_OPERATOR.search(text):
            raise Unreadable
        self._waiting: list[tuple[str, bool, bool]] = []
        """Here-documents that begin with the next line: delimiter, whether tabs are cut, whether quoted."""

    def read_body(self) -> None:
        """Read the text as the body of a here-document."""
        self._quoted("")

    def read(self, end: str) -> None:
        """Read commands up to the bracket `end`, or to the end of the text."""
        words: list[str] = []
        self.found.append(words)
        while True:
            self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr] # it may be empty
            character = self.text[self.at : self.at + 1]
            if character == end:
                self.at += len(end)
                if end and self._waiting:
                    raise Unreadable
                return
            if character in ("", ")"):
                raise Unreadable
            if character == "#":
                line_end = self.text.find("\n", self.at)
                self.at = len(self.text) if line_end < 0 else line_end
            elif operator := _REDIRECTION.match(self.text, self.at):
                self._redirection(operator)
            elif character in "\n;&|(":
                self._separator(character, words)
                words = []
                self.found.append(words)
            else:
                words.append(self._word())

    def _separator(self, character: str, words: list[str]) -> None:
        if character == "(":
            self._bracket(words)
            return
        self.at += 1
        if character == "\n":
            self._bodies()

    def _bracket(self, words: list[str]) -> None:
        """Read a subshell, a function's brackets, or an array.

        Arithmetic, regular expressions and extended globs have brackets too, and are read otherwise.
        """
        before = self.text[max(self.at - 1, 0) : self.at]
        if "[[" in words or before in tuple("@?*+!") or self.text.startswith("((", self.at):
            raise Unreadable
        self.at += 1
        self._inside(")")

    def _inside(self, end: str) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable
        self.read(end)
        self.depth -= 1

    def _substitution(self) -> None:
        """Read `$(…)` or `<(…)`; here-documents begun outside go on outside."""
        self.at += 2
        start, waiting, self._waiting = self.at, self._waiting, []
        self._inside(")")
        if waiting and "\n" in self.text[start : self.at]:
            raise Unreadable
        self._waiting = waiting

    def _word(self) -> str:
        start = self.at
        parts: list[str] = []
        while (character := self.text[self.at : self.at + 1]) and (
            character not in _ENDS_WORD or self.text.startswith(("<(", ">("), self.at)
        ):
            parts.append(self._part(character))
        raw = self.text[start : self.at]
        if raw in ("[", "[[", "{", "{}"):
            return raw
        return "".join(parts)

    def _part(self, character: str) -> str:
        """Read a part of a word and return what it becomes."""
        match character:
            case "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                self.at += 2
                return "" if escaped == "\n" else escaped
            case "'":
                start, self.at = self.at + 1, self.text.find("'", self.at + 1) + 1
                if not self.at:
                    raise Unreadable
                return self.text[start : self.at - 1]
            case '"':
                self.at += 1
                return self._quoted('"')
            case "$":
                return self._dollar()
            case "`":
                return self._backticks()
            case "<" | ">":
                self._substitution()
                return UNKNOWN
            case _:
                self.at += 1
                return UNKNOWN if character in "*?[{" else character

    def _quoted(self, end: str) -> str:
        """Read what stands in double quotes, or in a here-document: up to `end`."""
        parts: list[str] = []
        while (character := self.text[self.at : self.at + 1]) != end:
            if character == "":
                raise Unreadable
            if character == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                self.at += 2
                parts.append({"\n": ""}.get(escaped, escaped if escaped in '$`"\\' else f"\\{escaped}"))
            elif character == "$":
                parts.append(self._dollar(quoted=True))
            elif character == "`":
                parts.append(self._backticks(quoted=True))
            else:
                self.at += 1
                parts.append(character)
        self.at += len(end)
        return "".join(parts)

    def _dollar(self, *, quoted: bool = False) -> str:
        if not quoted and self.text.startswith('$"', self.at):
            self.at += 2
            return self._quoted('"')
        if not quoted and (literal := _ANSI_QUOTE.match(self.text, self.at)):
            self.at = literal.end()
            return UNKNOWN if "\\" in literal[1] else literal[1]
        if known := _ARITHMETIC.match(self.text, self.at) or _PARAMETER.match(self.text, self.at):
            self.at = known.end()
            return UNKNOWN
        if self.text.startswith(("$((", "${", "$["), self.at):
            raise Unreadable
        if self.text.startswith("$(", self.at):
            self._substitution()
            return UNKNOWN
        self.at += 1
        return "$"

    def _backticks(self, *, quoted: bool = False) -> str:
        inside = _BACKTICKS.match(self.text, self.at)
        if inside is None:
            raise Unreadable
        self.at = inside.end()
        script = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", inside[1])
        reader = _Reader(script, self.depth + 1)
        reader.read("")
        self.found += reader.found
        return UNKNOWN

    def _redirection(self, operator: re.Match[str]) -> None:
        """Read the word behind the operator, which is none of the command's."""
        self.at = operator.end()
        if operator[0].endswith("&-"):
            return  # it closes, and stands alone
        self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]
        start = self.at
        target = self._word()
        if operator["operator"] in ("<<", "<<-"):
            if UNKNOWN in target or not target:
                raise Unreadable
            raw = self.text[start : self.at]
            self._waiting.append((target, operator["operator"] == "<<-", any(c in raw for c in "'\"\\")))

    def _bodies(self) -> None:
        """Read the here-documents that begin in this line; what they substitute is run."""
        waiting, self._waiting = self._waiting, []
        for delimiter, cut_tabs, is_quoted in waiting:
            start = body_end = self.at
            while self.at < len(self.text):
                line_end = self.text.find("\n", self.at)
                line_end = len(self.text) if line_end < 0 else line_end
                line = self.text[self.at : line_end]
                body_end, self.at = self.at, min(line_end + 1, len(self.text))
                if (line.lstrip("\t") if cut_tabs else line) == delimiter:
                    break
                body_end = self.at
            if is_quoted:
                continue
            body = self.text[start:body_end]
            if "\\\n" in body:
                raise Unreadable  # a line that is continued may hide the delimiter
            reader = _Reader(body, self.depth + 1)
            reader.read_body()
            self.found += reader.found
