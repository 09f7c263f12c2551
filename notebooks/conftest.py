"""Notebooks run in kernels, which see the environment of this process and no fixtures."""

import pytest
from isolation import isolate_run
from nbval.kernel import RunningKernel


def pytest_configure(config: pytest.Config) -> None:
    """Leave the home of the person who runs the tests alone, and their key."""
    isolate_run(config)
    environment = pytest.MonkeyPatch()
    config.add_cleanup(environment.undo)
    environment.setattr(RunningKernel, "execute_cell_input", _execute)


def _execute(kernel: RunningKernel, cell_input: str, allow_stdin: bool | None = None) -> str:
    """Run a cell as Jupyter runs what the user does; nbval asks for it as hidden code of a front end is."""
    return kernel.kc.execute(cell_input, allow_stdin=bool(allow_stdin), stop_on_error=False)
