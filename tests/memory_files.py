"""What the tests of the memory store write and look at."""

from pathlib import Path

from mewcode_magic.memory import Memory, MemoryStore, Place

POLARS = Memory("prefers-polars", "when writing dataframe code, use polars", "user", "No pandas.")
FISCAL = Memory("fiscal-year", "how quarters are counted", "project", "It starts in April.")


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
