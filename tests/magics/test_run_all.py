"""A notebook that is run from top to bottom again, by another kernel: recorded answers cost nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from api_server import ApiServer
from nbclient import NotebookClient

from mewcode_magic.sessions import SessionStore

TOP = ["%load_ext mewcode", "%resume --here"]


@pytest.fixture
def named(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notebook, as the server of the front end names it to each kernel."""
    path = project / "work.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    return path


def run_all(project: Path, cells: Sequence[str]) -> list[str]:
    """Run cells in a kernel of their own with nobody there; return the text that each displays."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    done = NotebookClient(notebook, resources={"metadata": {"path": str(project)}}).execute()
    return [shown(cell.outputs) for cell in done.cells]


def shown(outputs: list[Any]) -> str:
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def test_notebook_runs_again_on_another_day_without_a_request(
    project: Path, home: Path, named: Path, server: ApiServer
) -> None:
    code = {"type": "tool_use", "id": "t1", "name": "RunPython", "input": {"code": "rows = 3\nprint('made')"}}
    cells = [
        *TOP,
        "%config MewCode.permission_mode = 'auto'",
        "%%agent\nhow many rows are there?",
        "%agent -o answer and columns?",
        "print(answer)",
    ]
    server.reply([code])
    server.reply("Three **rows**.")
    server.reply("Four columns.")
    first = run_all(project, cells)
    assert "there is none of work.ipynb" in first[1]
    assert "Recorded" not in str(first)
    asked = len(server.requests), {kind: len(seen) for kind, seen in server.queries.items()}

    second = run_all(project, cells)
    assert (len(server.requests), {kind: len(seen) for kind, seen in server.queries.items()}) == asked
    (info,) = SessionStore(project).list()
    assert second[1].startswith(f"Resumed {info.id}, ")
    mark, _call, answer, missing = second[3].split("\n", 3)
    assert mark.startswith("[Recorded on 20")
    assert mark.endswith(" by claude-test; --fresh asks again]")
    assert answer == "Three **rows**."
    assert missing == "[Not in this kernel: rows; the recorded code:]\n    rows = 3\n    print('made')"
    assert "made" not in second[3].replace("print('made')", "")
    assert second[5] == "Four columns.\n"
    assert len(SessionStore(project).transcript(info.id)) == 6

    server.reply("As I said: three.")
    third = run_all(project, [*cells, "%agent what did you count?"])
    assert "Recorded" in third[3]
    assert third[6].startswith("As I said: three.")
    assert len(server.requests) == asked[0] + 1
    sent = server.requests[-1].body["messages"]
    said = str(sent)
    for text in ("how many rows are there?", "Three **rows**.", "and columns?", "Four columns."):
        assert text in said
    assert [message["role"] for message in sent] == ["user", "assistant"] * 3 + ["user"]
    assert "These variables of earlier calls do not exist in the present kernel: rows." in said
