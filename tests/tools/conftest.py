"""What a call may know and touch, over real folders."""

from pathlib import Path

import pytest

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import Permissions, ToolContext


@pytest.fixture
def context(project: Path, home: Path) -> ToolContext:
    """A context with an empty store."""
    settings = MewCode()
    memory = MemoryStore(project, home)
    return ToolContext("20260101-000000-abcd", project, memory, settings, Permissions(settings))
