"""What a shell says of its front end."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel
from traitlets.config import Config

from mewcode_magic.kernel import can_ask, cell_id, front_end, is_kernel, missing_names, notebook_path
from mewcode_magic.kernel.frontend import run_id


@pytest.fixture
def shell() -> InteractiveShell:
    return InteractiveShell(config=Config(HistoryManager={"enabled": False}))


def test_notebook_is_told_by_jupyter_or_by_vs_code(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notebook_path(shell) is notebook_path(None) is None
    monkeypatch.setenv("JPY_SESSION_NAME", "/data/one.ipynb")
    assert notebook_path(shell) == notebook_path(None) == Path("/data/one.ipynb")
    shell.user_ns["__vsc_ipynb_file__"] = "/data/two.ipynb"
    assert notebook_path(shell) == Path("/data/two.ipynb")


@pytest.mark.parametrize("name", ["", "a-console-session", 5])
def test_session_that_is_no_notebook_has_no_path(shell: InteractiveShell, name: Any) -> None:
    shell.user_ns["__vsc_ipynb_file__"] = name
    assert notebook_path(shell) is None


def test_shell_without_a_kernel_has_no_cells_and_asks_only_in_a_terminal(shell: InteractiveShell) -> None:
    assert not is_kernel(shell)
    assert cell_id(shell) is None
    assert not can_ask(shell)  # the tests' standard input is no terminal


@pytest.mark.parametrize(
    ("metadata", "cell"),
    [
        ({"cellId": "a1b2"}, "a1b2"),
        (
            {"cellId": "vscode-notebook-cell:/data/work.ipynb#W2sZmlsZQ%3D%3D"},
            None,
        ),  # the third of this window
        ({"cellId": 5}, None),
        ({}, None),
    ],
)
def test_cell_is_the_one_that_the_front_end_names(metadata: dict[str, Any], cell: str | None) -> None:
    kernel = SimpleNamespace(kernel=object(), get_parent=lambda: {"metadata": metadata})
    assert cell_id(kernel) == cell


@pytest.mark.parametrize(("parent", "run"), [({"header": {"msg_id": "r1"}}, "r1"), ({}, None)])
def test_run_is_the_request_that_runs(parent: dict[str, Any], run: str | None) -> None:
    assert run_id(SimpleNamespace(kernel=object(), get_parent=lambda: parent)) == run
    assert run_id(None) is None


def test_prompt_is_recorded_with_its_notebook_and_cell(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(project / "analysis" / "work.ipynb"))
    manager, client = start_new_kernel(cwd=str(project))
    try:
        for code in ("%load_ext mewcode", "%agent hello"):
            content = {"code": code, "silent": False, "allow_stdin": False}
            message = client.session.msg("execute_request", content, metadata={"cellId": "a1b2"})
            client.shell_channel.send(message)
            while (
                client.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != message["header"]["msg_id"]
            ):
                pass
        (file,) = (project / ".mewcode" / "sessions").glob("*.jsonl")
        first = file.read_text(encoding="utf-8").splitlines()[0]
        assert '"notebook":"analysis/work.ipynb"' in first
        assert '"cell":"a1b2"' in first
        assert f'"run":"{message["header"]["msg_id"]}"' in first
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def test_names_that_a_namespace_lacks_come_once_and_in_order(shell: InteractiveShell) -> None:
    shell.user_ns["here"] = 1
    assert missing_names(shell, ["b", "here", "a", "b"]) == ["b", "a"]
    assert missing_names(None, ["here"]) == ["here"]


def test_front_end_goes_by_its_name(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VSCODE_PID", raising=False)
    assert front_end(None) == "a script"
    assert front_end(shell) == "IPython in a terminal"
    kernel: Any = SimpleNamespace(kernel=object(), user_ns={})
    assert "does not say its name" in front_end(kernel)
    monkeypatch.setenv("JPY_SESSION_NAME", "/data/one.ipynb")
    assert front_end(kernel) == "Jupyter"
    kernel.user_ns["__vsc_ipynb_file__"] = "/data/two.ipynb"
    assert front_end(kernel) == "VS Code"
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    assert front_end(kernel) == "Colab"
