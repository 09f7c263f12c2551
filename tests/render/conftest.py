"""A real kernel, asked as front ends ask it."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run a cell and return what it published; `present` says whether somebody is there to be asked."""
    folder = str(tmp_path_factory.mktemp("kernel"))
    manager, client = start_new_kernel(
        env={**os.environ, "HOME": folder, "IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}, cwd=folder
    )

    def run(code: str, *, present: bool = True) -> list[dict[str, Any]]:
        published: list[dict[str, Any]] = []
        client.execute_interactive(
            code, allow_stdin=present, output_hook=published.append, timeout=60, store_history=False
        )
        return published

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)
