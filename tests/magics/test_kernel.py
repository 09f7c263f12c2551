"""The magics in a real kernel, as a notebook's front end and as a run with nobody there meet them."""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore

VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass
class Ran:
    """What a front end gets for a cell."""

    bundles: list[dict[str, Any]] = field(default_factory=list)
    text: str = ""
    traceback: list[str] = field(default_factory=list)
    payload: list[Any] = field(default_factory=list)


class Kernel:
    """A kernel and its client."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        client.session.metadata = {"deletedCells": []}  # as JupyterLab sends it

    def run(self, code: str, *, somebody_there: bool = True) -> Ran:
        """Run a cell; `somebody_there` is what tells a front end from nbconvert."""
        ran = Ran()

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    ran.text += content["text"]
                case "display_data" | "update_display_data" | "execute_result":
                    ran.bundles.append(content["data"])
                case "error":
                    ran.traceback += content["traceback"]

        reply = self.client.execute_interactive(
            code, allow_stdin=somebody_there, output_hook=take, timeout=60
        )
        ran.payload = reply["content"].get("payload", [])
        return ran

    def click(self, text: str) -> None:
        """Press the widgets' button of that text, as a front end does."""
        state = self.run(
            "import ipywidgets, json; print(json.dumps(ipywidgets.Widget.get_manager_state()['state']))"
        )
        (button,) = [
            model_id
            for model_id, model in json.loads(state.text).items()
            if model["model_name"] == "ButtonModel" and model["state"].get("description") == text
        ]
        content = {"comm_id": button, "data": {"method": "custom", "content": {"event": "click"}}}
        session = self.client.session
        session.send(self.client.shell_channel.socket, "comm_msg", content)


@pytest.fixture
def kernel(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    monkeypatch.setenv("JPY_SESSION_NAME", str(project / "work.ipynb"))
    manager, client = start_new_kernel(cwd=str(project), env=os.environ.copy())
    made = Kernel(client)
    assert made.run("%load_ext mewcode") == Ran()
    yield made
    client.stop_channels()
    manager.shutdown_kernel()


def test_lists_are_a_widget_beside_the_table_that_it_hides(kernel: Kernel) -> None:
    kernel.run("%remember I prefer polars")
    kernel.run("%agent hello")
    for magic, entry in (("memory", "i-prefer-polars"), ("sessions", "hello")):
        widget, table = kernel.run(f"%{magic}").bundles
        assert VIEW in widget
        assert widget["text/plain"] == ""
        assert entry in table["text/html"]
        assert entry in table["text/plain"]
        (hides,) = re.findall(r'<div class="(mew-[0-9a-f]+) ', table["text/html"])
        state = kernel.run("import ipywidgets; print(ipywidgets.Widget.get_manager_state())").text
        assert f".{hides} {{ display: none !important; }}" in state


def test_session_is_looked_into_and_resumed_by_clicks(kernel: Kernel, project: Path) -> None:
    kernel.run("%agent my name is Bo")
    (info,) = SessionStore(project).list()
    kernel.run("%sessions new\n%sessions")
    kernel.click("1. my name is Bo")
    kernel.click("Resume")
    (status,) = kernel.run("%mewcode").bundles
    assert info.id in status["text/plain"]
    state = kernel.run("print(ipywidgets.Widget.get_manager_state())").text
    assert f"Resumed {info.id}, " in state
    assert "You · " in state


def test_run_with_nobody_there_gets_tables_only(kernel: Kernel) -> None:
    for magic in ("memory", "sessions"):
        (table,) = kernel.run(f"%{magic}", somebody_there=False).bundles
        assert set(table) == {"text/html", "text/plain"}
        assert "ipywidgets" not in kernel.run("import sys; print(*sys.modules)").text


def test_captured_list_is_a_table_only(kernel: Kernel) -> None:
    kernel.run("%%capture caught\n%sessions")
    assert kernel.run(
        "print(len(caught.outputs), 'No sessions yet' in str(caught.outputs[0].data))"
    ).text == ("1 True\n")


def test_question_is_asked_and_help_stays_help(kernel: Kernel, project: Path) -> None:
    ran = kernel.run("%agent what is this?")
    assert ran.payload == []
    assert ran.bundles
    assert kernel.run("%agent?").payload[0]["source"] == "page"
    assert kernel.run("len?").payload[0]["source"] == "page"
    assert [info.title for info in SessionStore(project).list()] == ["what is this?"]


def test_error_is_one_line(kernel: Kernel) -> None:
    (line,) = kernel.run("%agent --verbose hello").traceback
    assert line.startswith("CommandError: %agent has no option --verbose; ")


def test_answer_is_markdown_and_a_variable(kernel: Kernel) -> None:
    ran = kernel.run("%agent -o answer hello")
    assert "text/markdown" in ran.bundles[0]
    assert kernel.run("print(answer[:9])").text == "*Offline:\n"


def test_notebook_resumes_its_own_latest(kernel: Kernel, project: Path) -> None:
    kernel.run("%agent mine")
    store = SessionStore(project)
    (mine,) = store.list()
    assert mine.notebook == "work.ipynb"
    with closing(store.create(notebook="other.ipynb")) as other:
        other.append(Message(role="user", content="another notebook's"))
    kernel.run("%sessions new")
    (told,) = kernel.run("%resume").bundles
    assert told["text/plain"].startswith(f"Resumed {mine.id}, 'mine': 2 messages")


def test_sdk_is_imported_between_the_cells_once_there_is_a_key(kernel: Kernel) -> None:
    kernel.run("import os; os.environ['ANTHROPIC_API_KEY'] = 'sk-ant-none'")
    for _ in range(60):
        time.sleep(0.5)
        if kernel.run("import sys; print('anthropic.types.message' in sys.modules)").text == "True\n":
            return
    raise AssertionError("the SDK was not imported within 30 s")


def test_shutting_the_kernel_down_closes_the_session(project: Path, home: Path, tmp_path: Path) -> None:
    manager, client = start_new_kernel(cwd=str(project), env=os.environ.copy())
    kernel = Kernel(client)
    kernel.run("%load_ext mewcode\n%agent hello")
    client.stop_channels()
    manager.shutdown_kernel()
    store = SessionStore(project)
    (info,) = store.list()
    assert info.messages == 2
    assert not store.is_open_elsewhere(info.id)


def test_notebook_runs_from_top_to_bottom(project: Path, home: Path) -> None:
    cells = [
        "%load_ext mewcode",
        "%remember I prefer polars over pandas",
        "%%agent -o answer\nwhich do I prefer,\npolars or pandas?",
        "assert 'polars over pandas' in answer",
        "%memory",
        "%sessions",
        "%context",
        "%mewcode",
        "%mewcode help",
        "%mewcode doctor",
        "%sessions new",
        "%resume",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    done = NotebookClient(notebook, resources={"metadata": {"path": str(project)}}).execute()
    kinds = {kind for cell in done.cells for output in cell.outputs for kind in output.get("data", {})}
    assert kinds == {"text/plain", "text/html", "text/markdown"}
    assert "widgets" not in done.metadata


def test_completion_behind_an_at_sign_offers_variables_and_paths(kernel: Kernel, project: Path) -> None:
    (project / "data").mkdir()
    (project / "data" / "sales.csv").write_text("a\n", encoding="utf-8")
    kernel.run("df_sales = 1")
    for code, match in {
        "%%agent\nwhat of @df": "df_sales",
        "%agent what of @df": "df_sales",
        "%agent see @data/sa": "data/sales.csv",
        "%%agent\nsee @da": "data/",
    }.items():
        reply = kernel.client.complete(code, len(code), reply=True, timeout=30)
        assert match in reply["content"]["matches"], code


def test_completion_behind_a_magic_offers_what_it_takes(kernel: Kernel) -> None:
    kernel.run("%remember --name prefers-polars I prefer polars over pandas")
    for code, matches in {
        "%sessions exp": ["export"],
        "%agent --mo": ["--model"],
        "%memory show pref": ["prefers-polars"],
        "%forget --type us": ["user"],
    }.items():
        reply = kernel.client.complete(code, len(code), reply=True, timeout=30)
        assert reply["content"]["matches"] == matches, code
