"""Notebooks run in kernels, which see the environment of this process and no fixtures."""

import pytest
from isolation import isolate_run


def pytest_configure(config: pytest.Config) -> None:
    """Leave the home of the person who runs the tests alone, and their key."""
    isolate_run(config)
