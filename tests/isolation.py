"""An environment in which nobody's home, keys, settings or proxy can be seen."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_FOREIGN = ("ANTHROPIC_", "IPYTHON", "JPY_", "JUPYTER_", "MEWCODE_", "XDG_")


def isolate(environment: pytest.MonkeyPatch, folder: Path) -> None:
    """Make homes in `folder`, and take from the environment what belongs to the person who runs the tests."""
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name.lower().endswith("_proxy"):
            environment.delenv(name)
    environment.setenv("HOME", str(folder / "user"))
    environment.setenv("IPYTHONDIR", str(folder / "ipython"))
    (folder / "user").mkdir()


def isolate_run(config: pytest.Config) -> None:
    """Isolate the whole run, for what no test's fixture reaches: notebooks, and kernels that tests share."""
    folder = TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    environment = pytest.MonkeyPatch()
    config.add_cleanup(environment.undo)
    isolate(environment, Path(folder.name))
