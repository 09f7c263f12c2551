"""Searching the lines of files for a regular expression, in a process of its own that can be killed.

An expression may take for ever on a line that was made for it, and nothing inside Python ends it for sure. So
this file is run as a script, which imports nothing of the project. It takes, on its standard input, a line of
JSON (`pattern`, `ignore_case`, `context`: lines, `limit`: matching lines) and then NUL-separated paths. It
answers with a line of JSON for each file that has matches, `{"file": index, "rows": [[number, is_match,
text], …]}`, and at last `{"cut": bool}`: whether more match than `limit`.

Binary files, links, and what is no regular file are passed over. Of a line the first 1,000,000 bytes count;
what is shown of it stands around the match.
"""

import json
import os
import re
import stat
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO

FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
LINE_BYTES = 1_000_000
LINE_CHARS = 400
BEFORE_MATCH = 100
"""Characters of a long line that are shown in front of the match."""
SNIFFED = 8_192
WHOLE_BYTES = 16_000_000
"""Bytes up to which a file is looked through as a whole before its lines are."""

_LINE_BOUND = re.compile(r"\\[AZnrsWDx0u]|\(\?[^:Pi]|\[\^")
"""What reaches over the ends of lines, or tells them from the file's: the whole is not searched first."""


def main() -> None:
    """Answer the search that stands on the standard input."""
    header, _, rest = sys.stdin.buffer.read().partition(b"\n")
    asked = json.loads(header)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a later Python may read differently
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
        whole = None
        if not _LINE_BOUND.search(asked["pattern"]):
            whole = re.compile(pattern.pattern, pattern.flags | re.MULTILINE)
    left = asked["limit"]
    for index, name in enumerate(rest.split(b"\0")[:-1]):
        rows, is_cut = search(name, pattern, whole, around=asked["context"], limit=left)
        left -= sum(is_match for _, is_match, _ in rows)
        if rows:
            say({"file": index, "rows": rows})
        if is_cut:
            say({"cut": True})
            return
    say({"cut": False})


def say(answer: dict[str, Any]) -> None:
    """Write a line of the answer at once: what was said before a kill counts."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def search(
    name: bytes, pattern: re.Pattern[str], whole: re.Pattern[str] | None, *, around: int, limit: int
) -> tuple[list[tuple[int, bool, str]], bool]:
    """Return the matching lines of a file and those around them, and whether there are more than `limit`."""
    try:
        descriptor = os.open(name, FLAGS)
    except OSError:
        return [], False
    with os.fdopen(descriptor, "rb") as file:
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or b"\0" in file.peek(SNIFFED)[:SNIFFED]:
                return [], False
            if whole is not None and status.st_size <= WHOLE_BYTES:
                # What has no match in all of it has none in a line of it.
                text = file.read(WHOLE_BYTES + 1).replace(b"\r\n", b"\n").decode("utf-8", "replace")
                if not whole.search(text):
                    return [], False
                file.seek(0)
            return matching_lines(file, pattern, around, limit)
        except OSError:
            return [], False


def matching_lines(
    file: BinaryIO, pattern: re.Pattern[str], around: int, limit: int
) -> tuple[list[tuple[int, bool, str]], bool]:
    """Return numbered lines in their order, each once."""
    rows: list[tuple[int, bool, str]] = []
    before: deque[tuple[int, bool, str]] = deque(maxlen=around)
    after = found = 0
    for number, line in lines(file):
        match = pattern.search(line)
        if match is not None:
            if found == limit:
                return rows, True
            found += 1
            rows += before
            before.clear()
            rows.append((number, True, cut(line, match.start())))
            after = around
        elif after:
            rows.append((number, False, cut(line, 0)))
            after -= 1
        elif around:
            before.append((number, False, cut(line, 0)))
    return rows, False


def lines(file: BinaryIO) -> Iterator[tuple[int, str]]:
    """Yield each line, or its beginning, with its number."""
    number = 1
    while raw := file.readline(LINE_BYTES):
        rest = raw
        while not rest.endswith(b"\n") and (rest := file.readline(LINE_BYTES)):
            pass
        yield number, raw.rstrip(b"\r\n").decode("utf-8-sig" if number == 1 else "utf-8", "replace")
        number += 1


def cut(line: str, position: int) -> str:
    """Return the part of a long line that stands around a position."""
    if len(line) <= LINE_CHARS:
        return line
    start = max(min(position - BEFORE_MATCH, len(line) - LINE_CHARS), 0)
    end = start + LINE_CHARS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


if __name__ == "__main__":
    main()
