"""One JupyterLab, and Chromium, for the tests of this folder; where there is none they are skipped."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from api_server import ApiServer

if TYPE_CHECKING:  # where there is no Playwright, the test modules skip and this one must not fail
    from live_lab import LiveLab, Notebook
    from playwright.sync_api import Page

REQUIRED = os.environ.get("BROWSER_TESTS") == "required"
"""Whether a machine without browser fails the tests, where elsewhere they are skipped."""

Open = Callable[..., "Notebook"]


@pytest.fixture(scope="session", autouse=True)
def _browser_is_there() -> None:
    from live_lab import chromium

    if chromium() is None:
        (pytest.fail if REQUIRED else pytest.skip)("no Chromium on the PATH: apt-get install chromium")


@pytest.fixture(scope="session")
def api() -> Iterator[ApiServer]:
    """The server that answers the kernels' agents."""
    with ApiServer() as server:
        yield server


@pytest.fixture(scope="session")
def lab(api: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[LiveLab]":
    """The JupyterLab server."""
    from live_lab import live_lab

    with live_lab(tmp_path_factory.mktemp("lab"), base_url=api.url) as running:
        yield running


@pytest.fixture(scope="module")
def page(lab: "LiveLab") -> "Iterator[Page]":
    """JupyterLab in a browser. While it is open, an event loop runs in this thread: not for all modules."""
    from live_lab import open_page

    with open_page(lab) as opened:
        yield opened


@pytest.fixture
def open_notebook(lab: "LiveLab", page: "Page", request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open a notebook with these cells behind one that loads the extension, and run that one."""
    from live_lab import Notebook

    opened: list[Notebook] = []

    def open_notebook(*cells: str) -> Notebook:
        notebook = Notebook(lab, page, request.node.name, cells)
        opened.append(notebook)
        notebook.run(0)
        return notebook

    yield open_notebook
    for notebook in opened:
        notebook.close()
