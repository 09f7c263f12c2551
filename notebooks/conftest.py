"""Notebooks run in kernels, which see the environment of this process and no fixtures."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from isolation import isolate


def pytest_configure(config: pytest.Config) -> None:
    """Leave the home of the person who runs the tests alone, and their key."""
    folder = TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    environment = pytest.MonkeyPatch()
    config.add_cleanup(environment.undo)
    isolate(environment, Path(folder.name))
