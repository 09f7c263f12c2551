"""What a command or code prints, as the text that a terminal would end up with, in bounded memory."""

from __future__ import annotations

import codecs
import re
from collections import deque

__all__ = ["TerminalText"]

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_OVERWRITTEN = re.compile(r"[^\n\r]*\r(?!\n)(?=[^\n])")
"""What stands in a line before the last carriage return that something follows."""
_RUBBED_OUT = re.compile(r"[^\b\n]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

LONGEST_LINE = 100_000
"""Characters that are held back until their line ends."""


class TerminalText:
    """Takes text or bytes as they come, and keeps the beginning and the end: `limit` characters altogether.

    UTF-8 that is broken becomes replacement characters; escape sequences and control characters are left
    out; of a line that was written over and over the last state stays.
    """

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - limit // 2
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._line = ""
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take the bytes that were printed next."""
        self.write(self._decoder.decode(data))

    def write(self, text: str) -> None:
        """Take the text that was printed next."""
        text = self._line + text
        end = text.rfind("\n") + 1
        if not end and len(text) > LONGEST_LINE:
            end = len(text)
        done, line = text[:end], text[end:]
        if "\r" in line:
            line = line[line.rstrip("\r").rfind("\r") + 1 :]
        self._line = line
        self._keep(_cleaned(done))

    def text(self) -> str:
        """Return what was printed so far; where the middle is left out, a line says so."""
        tail = "".join([*self._tail, _cleaned(self._line)])
        text, dropped = self._head + tail, self._dropped
        if len(text) > self._head_limit + self._tail_limit or dropped:
            head, tail = self._head, tail[-self._tail_limit :]
            dropped += len(text) - len(head) - len(tail)
            if "\n" in head:
                head, rest = head[: head.rfind("\n") + 1], head[head.rfind("\n") + 1 :]
                dropped += len(rest)
            if "\n" in tail[:-1]:
                cut = tail.find("\n") + 1
                dropped, tail = dropped + cut, tail[cut:]
            text = f"{head.rstrip()}\n[… {dropped:,} characters are left out here …]\n{tail}"
        return text.rstrip()

    def _keep(self, text: str) -> None:
        room = self._head_limit - len(self._head)
        if room > 0 and not self._tail:
            self._head += text[:room]
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            first = self._tail.popleft()
            self._tail_size -= len(first)
            self._dropped += len(first)


def _cleaned(text: str) -> str:
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", re.sub(r"\r+(?=\n|\Z)", "", text))
    if "\b" in text:
        text = _RUBBED_OUT.sub("", text)
    return _CONTROLS.sub("", text) if _CONTROLS.search(text) else text
