"""A real shell, what a cell in it puts out, and ways to look at both."""

import atexit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config


@dataclass
class Ran:
    """What a cell did: its printed text, the MIME bundles that it displayed, and how it failed."""

    text: str
    stderr: str
    displayed: list[dict[str, object]]
    error: BaseException | None


Run = Callable[[str], Ran]


@pytest.fixture
def configuration() -> Config:
    """What stands in the user's ipython_config.py; tests add to it before they ask for `shell`."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    return config


@pytest.fixture
def shell(configuration: Config, project: Path, home: Path) -> Iterator[InteractiveShell]:
    """The one shell of the process, in a project and with a MewCode folder of its own."""
    instance = InteractiveShell.instance(config=configuration)
    yield instance
    instance.run_cell("%unload_ext mewcode_magic")
    InteractiveShell.clear_instance()
    atexit.unregister(
        instance.atexit_operations
    )  # or the process keeps each shell, and ends with all of them


@pytest.fixture
def run_bare(shell: InteractiveShell) -> Run:
    """Run a cell in a shell in which nothing is loaded yet."""

    def run(code: str) -> Ran:
        with capture_output() as captured:
            result = shell.run_cell(code, store_history=True)
        displayed = [output.data for output in captured.outputs]
        return Ran(
            captured.stdout, captured.stderr, displayed, result.error_in_exec or result.error_before_exec
        )

    return run


@pytest.fixture
def run(run_bare: Run) -> Run:
    """Run a cell in a shell with the extension loaded."""
    loaded = run_bare("%load_ext mewcode_magic")
    assert loaded.error is None
    assert (loaded.text, loaded.stderr) == ("", "")
    return run_bare
