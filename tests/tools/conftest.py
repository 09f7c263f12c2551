"""What a call may know and touch, over real folders."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_kernel import LiveKernel, live_kernel

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import Permissions, ToolContext


@pytest.fixture
def context(project: Path, home: Path) -> ToolContext:
    """A context with an empty store."""
    settings = MewCode()
    memory = MemoryStore(project, home)
    return ToolContext("20260101-000000-abcd", project, memory, settings, Permissions(settings))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKernel]:
    """One kernel for a file of tests, in a project of its own."""
    folder = tmp_path_factory.mktemp("kernel")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MEWCODE_HOME", str(folder / "home"))
        environment.setenv("MEWCODE_PROJECT_DIR", str(folder))
        environment.setenv("IPYTHONDIR", str(folder / "ipython"))
        with live_kernel(folder) as running:
            yield running
