"""What the tests of the memory store write and look at."""

import os
from pathlib import Path

from mewcode_magic.memory import Memory, MemoryStore, Place

POLARS = Memory("prefers-polars", "when writing dataframe code, use polars", "user", "No pandas.")
FISCAL = Memory("fiscal-year", "how quarters are counted", "project", "It starts in April.")

AS_A_USER = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
"""What stands in front of a command that permissions are to hold back; root they would not."""

FOUND_TEXTS = [
    b"Plain text.",
    b"plain  TEXT.",
    b"Plain text.\nAnd more.",
    b"",
    b"\xff\xfe",
    b"a\0b",
    b"---\nname: a\ntype: user\n---\nPlain text.",
    b"---\nname: a\ntype: project\n---\nOther.",
    b"---\nname: a: b\ntype: feedback\n# note\n---\nThird.",
    b"---\nname: a: b\ndescription: c: d\n---\r\nFourth.",
    b"---\ntype: odd\n---\nFifth.",
    b"---\nexpires: 2020-01-01\ntype: user\n---\nSixth.",
    b"---\nexpires: soon\n---\nSeventh.",
    b"---\n- a list\n---\nEighth.",
    '---\nname: "\u4e2d\u6587"\n---\n\u6b63\u6587'.encode(),
    b"\xef\xbb\xbf---\nmetadata:\n  type: user\n  x: [1, 2]\n---\nNinth.",
    b"- [gone](gone.md) - d\n- [a](a.md) - x\nfree text",
]
"""What files in a memory folder hold in the wild, and worse."""


def write(path: Path, text: str | bytes) -> Path:
    """Write a file and the folders above it, as somebody else would, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def names(store: MemoryStore) -> list[str]:
    """Return the names of all memories."""
    return [memory.name for memory in store.list()]


def index_lines(store: MemoryStore, place: Place) -> list[str]:
    """Return the lines of a place's MEMORY.md."""
    return (store.folder(place) / "MEMORY.md").read_text("utf-8").splitlines()
