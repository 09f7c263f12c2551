"""Notebook 7, which the same server shows at other addresses: streaming, questions and widgets."""

import threading
from collections.abc import Iterator

import pytest
from api_server import ApiServer
from live_lab import LiveLab, Notebook7, open_page
from playwright.sync_api import Page, expect

pytest.importorskip("notebook", reason="notebook is not installed; pip install '.[test]' does that")


@pytest.fixture(scope="module")
def page(lab: LiveLab) -> Iterator[Page]:
    """A browser of this module's own: leaving a page loses what it holds."""
    with open_page(lab) as opened:
        yield opened


@pytest.fixture
def notebook(lab: LiveLab, page: Page, request: pytest.FixtureRequest) -> Iterator[Notebook7]:
    """A notebook in which an agent may be asked, and that has one memory."""
    cells = [
        "%remember --type project --name api-frozen The API is frozen until May.",
        "%memory",
        "%%agent\nhello",
    ]
    opened = Notebook7(lab, page, f"notebook7-{request.node.name}", cells)
    opened.run(0)
    yield opened
    opened.close()


def test_memory_is_edited_in_its_widget(notebook: Notebook7) -> None:
    notebook.run(1)
    index = notebook.run(2)
    index.get_by_role("button", name="api-frozen").click()
    expect(index.get_by_label("Text")).to_have_value("The API is frozen until May.")
    index.get_by_label("Text").fill("The API is frozen until June.")
    index.get_by_role("button", name="Save").click()
    expect(index.get_by_role("status")).to_contain_text("Saved")
    file = notebook.project / ".mewcode" / "memory" / "api-frozen.md"
    assert "until June" in file.read_text(encoding="utf-8")


def test_answer_grows_while_the_cell_runs(notebook: Notebook7, api: ApiServer) -> None:
    gate = threading.Event()
    api.reply("Hello. " * 40 + "That is all.", gate=gate)
    shown = notebook.start(3)
    expect(shown).to_contain_text("Hello. Hello.")
    assert notebook.runs(3)
    gate.set()
    expect(shown).to_contain_text("That is all.")
    notebook.wait(3)


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_question_is_answered_by_typing(notebook: Notebook7, api: ApiServer, answer: str) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "WriteFile", "input": {"path": "a.txt", "content": "x"}}
    api.reply([call])
    api.reply("So be it.")
    shown = notebook.start(3)
    expect(shown).to_contain_text("WriteFile waits for you")
    notebook.answer(3, answer)
    expect(shown).to_contain_text("So be it.")
    assert (notebook.project / "a.txt").exists() is (answer == "yes")
