"""The lines of a text file with their numbers, at a cost that does not depend on how long file or line is."""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mewcode_magic.errors import StorageError
from mewcode_magic.files import shown

__all__ = ["LINE_CHARS", "RESULT_CHARS", "numbered_lines"]

LINE_CHARS = 2_000
"""Characters shown of one line."""
RESULT_CHARS = 48_000
"""Characters of one result; from 50,000 on it would be moved out of the conversation."""
SECONDS = 20.0
"""After which looking for a line ends."""

UTF16_BYTES = 32_000_000
"""Bytes that are read of a UTF-16 file."""

_CHUNK = 1 << 20
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def numbered_lines(file: BinaryIO, path: Path, *, offset: int, limit: int) -> str:
    """Return at most `limit` lines from line `offset` on, and where to go on if there are more.

    A long line is cut. A BOM and line ends are not shown; bytes that are not UTF-8 become replacement
    characters, which is said; UTF-16 is read if it has a BOM.

    Raises:
        OSError: it cannot be read.
        StorageError: line `offset` is not reached in time.
    """
    encoding = _UTF16.get(file.read(2), "utf-8")
    file.seek(0)
    deadline = time.monotonic() + SECONDS
    if encoding == "utf-8":
        before = _skip_lines(file, offset - 1, path, deadline)
        lines = _utf8_lines(file, first=offset == 1, deadline=deadline)
    else:
        before = 0
        lines = _utf16_lines(file, encoding)
    shown_lines: list[str] = []
    size = 0
    damaged = False
    number = before
    for number, (line, is_damaged) in enumerate(lines, start=before + 1):
        if number < offset:
            continue
        row = f"{number:>6}\t{line}"
        size += len(row) + 1
        if len(shown_lines) == limit or size > RESULT_CHARS:
            shown_lines.append(f"(more lines follow; read on with offset={number})")
            break
        damaged |= is_damaged
        shown_lines.append(row)
    if not shown_lines:
        if not number:
            return f"{shown(path)} is empty"
        return f"{shown(path)} has only {number:,} {'line' if number == 1 else 'lines'}"
    if damaged:
        shown_lines.append("(not all of it is UTF-8; the other bytes are shown as \N{REPLACEMENT CHARACTER})")
    return "\n".join(shown_lines)


def _skip_lines(file: BinaryIO, count: int, path: Path, deadline: float) -> int:
    """Go to the line behind the first `count`, and return how many were there to skip."""
    skipped = 0
    position = 0
    last = b"\n"
    while skipped < count and (chunk := file.read(_CHUNK)):
        if time.monotonic() > deadline:
            raise StorageError(f"line {count + 1:,} of {shown(path)} was not reached in {SECONDS:g} s")
        here = chunk.count(b"\n")
        if skipped + here >= count:
            end = -1
            for _ in range(count - skipped):
                end = chunk.index(b"\n", end + 1)
            file.seek(position + end + 1)
            return count
        skipped += here
        position += len(chunk)
        last = chunk[-1:]
    return skipped + (last != b"\n")


def _utf8_lines(file: BinaryIO, *, first: bool, deadline: float) -> Iterator[tuple[str, bool]]:
    """Yield each line from here on, cut if it is long, and whether it held bytes that are not UTF-8."""
    piece = 4 * LINE_CHARS + 4
    while raw := file.readline(piece):
        is_cut = len(raw) == piece and not raw.endswith(b"\n")
        start = raw.removeprefix(codecs.BOM_UTF8) if first else raw
        first = False
        # A character that the cut divides is decoded with the rest.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        line = decoder.decode(start.rstrip(b"\r\n") if not is_cut else start, final=not is_cut)
        rest, is_whole = _rest_of_line(file, decoder, deadline) if is_cut else (0, True)
        damaged = "\ufffd" in line and b"\xef\xbf\xbd" not in start
        yield _cut(line, len(line) + rest, is_whole=is_whole), damaged


def _rest_of_line(file: BinaryIO, decoder: codecs.IncrementalDecoder, deadline: float) -> tuple[int, bool]:
    """Read to the end of the line; return its characters, and whether the end was reached in time."""
    count = 0
    while raw := file.readline(_CHUNK):
        count += len(decoder.decode(raw.rstrip(b"\r\n") if raw.endswith(b"\n") else raw))
        if raw.endswith(b"\n"):
            break
        if time.monotonic() > deadline:
            file.seek(0, 2)
            return count, False
    return count, True


def _utf16_lines(file: BinaryIO, encoding: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a UTF-16 file, as far as it is read: its lines cannot be told by their bytes."""
    file.seek(2)
    lines = file.read(UTF16_BYTES).decode(encoding, errors="replace").split("\n")
    if not lines[-1]:
        lines.pop()
    for line in lines:
        text = line.removesuffix("\r")
        yield _cut(text, len(text), is_whole=True), False
    if file.read(1):
        yield f"(the file goes on; of UTF-16 the first {UTF16_BYTES:,} bytes are read)", False


def _cut(line: str, length: int, *, is_whole: bool) -> str:
    """Return a line as it is shown; what could not be stored as text is replaced."""
    if length > LINE_CHARS:
        least = "" if is_whole else "more than "
        line = f"{line[:LINE_CHARS]}… ({least}{length:,} characters)"
    return line.replace("\0", "\N{REPLACEMENT CHARACTER}")
