"""JupyterLab in a browser, used as a person uses it: by keys, clicks and typing."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest

for name in ("jupyterlab", "playwright"):  # or the module that imports this one is skipped
    pytest.importorskip(name, reason=f"{name} is not installed; pip install '.[test]' does that")

from playwright.sync_api import Locator, Page, ViewportSize, expect, sync_playwright  # noqa: E402

TOKEN = "a-token-of-the-tests"

SECONDS = 60
"""For the server to start, and for what a cell does."""

WIDE: ViewportSize = {"width": 1200, "height": 900}
NARROW: ViewportSize = {"width": 500, "height": 900}
"""Sizes of windows, in pixels."""

READY = """path => {
  const shown = window.jupyterapp?.shell.currentWidget, session = shown?.sessionContext;
  return shown?.context?.path === path && session?.isReady && session.session?.kernel?.status === "idle"
    && document.querySelector(".jp-Notebook .cm-content") !== null;
}"""
"""Whether the page shows a notebook whose kernel waits for cells."""

OPEN = "async path => { await jupyterapp.commands.execute('docmanager:open', {path}); }"

SETTINGS = {
    "apputils-extension/notification": {"checkForUpdates": False, "fetchNews": "false"},
    "docmanager-extension/plugin": {"autosave": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}


def chromium() -> str | None:
    """Return the path of a Chromium that is installed, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class LiveLab:
    """A JupyterLab server over a folder of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    def ask(self, method: str, path: str) -> Any:
        """Ask the server's REST interface; an empty answer is None."""
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(f"{self.url}/{path}", headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            return json.loads(response.read() or "null")

    def end_kernels(self) -> None:
        """Shut all kernels down, as JupyterLab's list of them does."""
        for session in self.ask("GET", "api/sessions"):
            self.ask("DELETE", f"api/sessions/{session['id']}")


@contextmanager
def live_lab(folder: Path, *, base_url: str) -> Iterator[LiveLab]:
    """Start JupyterLab with homes in `folder`; its kernels find a model at `base_url`."""
    settings = folder / "config" / "lab" / "user-settings" / "@jupyterlab"
    for name, values in SETTINGS.items():
        path = settings / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    (folder / "root").mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # Seeing PYTEST_CURRENT_TEST, a kernel would not read what child processes print.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} | {
        "ANTHROPIC_BASE_URL": base_url,
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "MEWCODE_HOME": str(folder / "home"),
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"),
        *("--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"),
        *("--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"),
        f"--ServerApp.root_dir={folder / 'root'}",
    ]
    with (
        (folder / "server.log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as server,
    ):
        lab = LiveLab(folder / "root", f"http://127.0.0.1:{port}")
        try:
            _wait_for(lab, server, folder / "server.log")
            yield lab
            lab.end_kernels()
        finally:
            server.terminate()


@contextmanager
def open_page(lab: LiveLab) -> Iterator[Page]:
    """Open JupyterLab in Chromium; what is expected of the page may take a while."""
    with sync_playwright() as playwright:
        # As root, which containers often are, Chromium has no sandbox.
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_context(viewport=WIDE).new_page()
        page.set_default_timeout(SECONDS * 1000)
        expect.set_options(timeout=SECONDS * 1000)
        page.goto(f"{lab.url}/doc?token={TOKEN}")
        page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
        yield page
        browser.close()


def _wait_for(lab: LiveLab, server: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends and server.poll() is None:
        try:
            lab.ask("GET", "api")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


class Notebook:
    """One notebook, open in the browser; its folder is a project."""

    def __init__(self, lab: LiveLab, page: Page, name: str, cells: Sequence[str]) -> None:
        self.lab, self.page = lab, page
        self.project = lab.folder / name
        (self.project / ".git").mkdir(parents=True)
        self.path = self.project / "work.ipynb"
        self._name = f"{name}/work.ipynb"
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in ("%load_ext mewcode", *cells)],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        )
        nbformat.write(notebook, self.path)
        self._open()
        self._wait_until_ready()

    def _open(self) -> None:
        self.page.evaluate(OPEN, self._name)

    def reload(self) -> None:
        """Load the page again, and wait until the notebook and its kernel are there."""
        self.page.goto(f"{self.lab.url}/doc/tree/{self._name}")
        self._wait_until_ready()

    def close(self) -> None:
        """Take the notebook from the page, with what is not saved."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget.dispose()")
        self.lab.end_kernels()

    def _wait_until_ready(self) -> None:
        self.page.wait_for_function(READY, arg=self._name)

    def cell(self, number: int) -> Locator:
        """Return a cell, counted from 0; the first loads the extension."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def output(self, number: int) -> Locator:
        """Return what a cell has put out."""
        return self.cell(number).locator(".jp-Cell-outputArea")

    def start(self, number: int) -> Locator:
        """Run a cell without waiting for its end, and return what it puts out."""
        self.cell(number).locator(".jp-InputArea .cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return self.output(number)

    def run(self, number: int) -> Locator:
        """Run a cell to its end, and return what it has put out."""
        shown = self.start(number)
        self.wait(number)
        return shown

    def wait(self, number: int) -> None:
        """Wait until a cell has ended."""
        expect(self._prompt(number)).to_have_text(re.compile(r"\[\d+\]:"))

    def runs(self, number: int) -> bool:
        """Whether a cell has begun and not ended."""
        return self._prompt(number).inner_text() == "[*]:"

    def interrupt(self) -> None:
        """Press the stop button."""
        self.page.locator('.jp-Toolbar [data-command="notebook:interrupt-kernel"]').click()

    def restart(self) -> None:
        """Restart the kernel, as the menu does, and wait for the new one; outputs are cleared."""
        self.page.get_by_role("menuitem", name="Kernel").click()
        self.page.get_by_role("menuitem", name="Restart Kernel and Clear Outputs").click()
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        expect(self._prompt(0)).to_have_text("[ ]:")
        self._wait_until_ready()

    def answer(self, number: int, text: str) -> None:
        """Type an answer where a running cell asks for it."""
        field = self.output(number).locator("input.jp-Stdin-input")
        field.fill(text)
        field.press("Enter")

    def save(self) -> dict[str, Any]:
        """Save the notebook, and return what its file holds."""
        self.page.evaluate("async () => { await jupyterapp.shell.currentWidget.context.save(); }")
        saved: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return saved

    def _prompt(self, number: int) -> Locator:
        return self.cell(number).locator(".jp-InputPrompt")


class Notebook7(Notebook):
    """The same in Notebook 7, where a page holds one notebook."""

    def _open(self) -> None:
        self.page.goto(f"{self.lab.url}/notebooks/{self._name}?token={TOKEN}")

    def close(self) -> None:
        """Leave the page, with what is not saved."""
        self.page.goto("about:blank")
        self.lab.end_kernels()
