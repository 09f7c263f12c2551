"""A real kernel, asked as front ends ask it."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run a cell and return what it published; `present` says whether somebody is there to be asked.

    `answers` are typed one after the other, and when there are none left, nothing is. `console`: it is no
    cell of a notebook, and its front end says nothing of one.
    """
    folder = str(tmp_path_factory.mktemp("kernel"))
    manager, client = start_new_kernel(
        env={**os.environ, "HOME": folder, "IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}, cwd=folder
    )

    def run(
        code: str, *, present: bool = True, answers: Sequence[str] = (), console: bool = False
    ) -> list[dict[str, Any]]:
        published: list[dict[str, Any]] = []
        client.session.metadata = {} if console else {"deletedCells": []}
        typed = iter(answers)

        def answer(message: dict[str, Any]) -> None:
            published.append(message)
            client.input(next(typed, ""))

        client.execute_interactive(
            code,
            allow_stdin=present,
            output_hook=published.append,
            stdin_hook=answer,
            timeout=60,
            store_history=False,
        )
        return published

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)
