"""Finding the last compact boundary from the end of a file, whatever lies before it."""

from __future__ import annotations

import os

from mewcode_magic.sessions.records import Marker, read_line

__all__ = ["last_boundary"]

BLOCK = 256 * 1024
_KIND = b'"compact_boundary"'


def last_boundary(descriptor: int, size: int) -> int:
    """Return where the line with the last complete compact boundary begins; 0 if there is none.

    A torn boundary falls back to the one before. Text that only mentions a boundary is no boundary.
    """
    blocks = _Blocks(descriptor, size)
    end = size
    while (position := blocks.rfind(_KIND, end)) >= 0:
        start = blocks.rfind(b"\n", position) + 1
        line = blocks.line(start)
        if any(isinstance(r, Marker) and r.kind == "compact_boundary" for r in read_line(line).records):
            return start
        end = start
    return 0


class _Blocks:
    """A file's bytes by blocks, looked through from the end; the last block read is kept."""

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self._size = size
        self._start = size
        self._block = b""

    def rfind(self, needle: bytes, end: int) -> int:
        """Return where the last `needle` that lies wholly before `end` begins, or -1."""
        while end >= len(needle):
            if not self._start <= end - len(needle) < end <= self._start + len(self._block):
                self._load(end)
            position = self._block.rfind(needle, 0, end - self._start)
            if position >= 0:
                return self._start + position
            # What begins in the block before may reach into this one.
            end = self._start + len(needle) - 1
            if self._start == 0:
                break
        return -1

    def line(self, start: int) -> bytes:
        """Return the line that begins at `start`, without its end."""
        parts: list[bytes] = []
        while start < self._size:
            inside = start - self._start
            part = (
                self._block[inside:]
                if 0 <= inside < len(self._block)
                else os.pread(self._descriptor, BLOCK, start)
            )
            line, newline, _ = part.partition(b"\n")
            parts.append(line)
            start += len(part)
            if newline or not part:
                break
        return b"".join(parts)

    def _load(self, end: int) -> None:
        self._start = max(0, end - BLOCK)
        self._block = os.pread(self._descriptor, end - self._start, self._start)
