"""The store that the tests of its parts share."""

from pathlib import Path

import pytest

from mewcode_magic.memory import MemoryStore


@pytest.fixture
def store(project: Path, home: Path) -> MemoryStore:
    """An empty store; neither of its folders is made yet."""
    return MemoryStore(project, home)
