"""Opening files that may be anything: what would block, or never ends, is refused before a byte is read."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mewcode_magic.errors import StorageError
from mewcode_magic.files import shown, storage_errors

__all__ = ["SNIFFED", "is_binary", "opened"]

SNIFFED = 8_192
"""Bytes at the beginning of a file that tell what it is."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file to read its bytes; an OSError inside the block becomes a StorageError too.

    Raises:
        StorageError: it is not there, cannot be read, or is a folder, a pipe, a socket or a device.
    """
    with storage_errors("read", path):
        refuse_what_is_no_file(path, path.stat())
        # A pipe may have taken its place since: opening must not wait for somebody who writes.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
        with os.fdopen(descriptor, "rb") as file:
            refuse_what_is_no_file(path, os.fstat(descriptor))
            yield file


def refuse_what_is_no_file(path: Path, status: os.stat_result) -> None:
    """Refuse a folder, a pipe, a socket or a device.

    Raises:
        StorageError: it is one of these.
    """
    if stat.S_ISDIR(status.st_mode):
        raise StorageError(f"{shown(path)} is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise StorageError(f"{shown(path)} is not a regular file, but a pipe, a socket or a device")


def is_binary(head: bytes) -> bool:
    """Whether a file that begins so is no text; UTF-16 text holds NUL bytes and is told by its BOM."""
    return b"\0" in head and not head.startswith(_UTF16)
