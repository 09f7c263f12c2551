"""The agent's turn as its user sees it: it streams, asks, stops, and goes on after a restart."""

import re
import threading
from collections.abc import Callable

from api_server import ApiServer
from live_lab import Notebook
from playwright.sync_api import expect

from mewcode_magic.sessions import SessionStore

Open = Callable[..., Notebook]

HEIGHTS = """root => {
  window.heights = [];
  new ResizeObserver(() => window.heights.push(root.getBoundingClientRect().height)).observe(root);
}"""
"""Begin to record the heights that an element has."""


def call(name: str, **arguments: object) -> list[dict[str, object]]:
    """Return a reply that calls a tool."""
    return [{"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}]


def told(api: ApiServer) -> str:
    """Return the last message that the model was sent, as a text."""
    return str(api.requests[-1].body["messages"][-1]["content"])


def test_answer_grows_while_the_cell_runs(open_notebook: Open, api: ApiServer) -> None:
    notebook = open_notebook("%%agent\ncount")
    gate = threading.Event()
    api.reply(" ".join(f"n{i}" for i in range(40)), gate=gate)
    shown = notebook.start(1)
    expect(shown).to_contain_text("n9")
    assert notebook.runs(1)
    assert "n39" not in shown.inner_text()
    gate.set()
    expect(shown).to_contain_text("n39")
    expect(shown).to_contain_text("claude-test · 10 tokens in · 5 out")
    notebook.wait(1)


def test_typed_answer_decides_whether_a_call_runs(open_notebook: Open, api: ApiServer) -> None:
    notebook = open_notebook("x = 1", "%%agent\nset x", "x")
    notebook.run(1)
    for value, (typed, result, after) in enumerate(
        [("yes", "", "2"), ("no", "the user said no", "2"), ("use y instead", "use y instead", "2")], 2
    ):
        api.reply(call("RunPython", code=f"x = {value}"))
        api.reply("Very well.")
        question = notebook.start(2)
        expect(question).to_contain_text("RunPython waits for you")
        expect(question.locator("pre", has_text=f"x = {value}")).to_be_visible()
        notebook.answer(2, typed)
        expect(question).to_contain_text("Very well.")
        assert result in told(api)
        expect(notebook.run(3)).to_have_text(re.compile(rf"\b{after}$"))


def test_stop_button_ends_a_stream_and_the_next_prompt_works(open_notebook: Open, api: ApiServer) -> None:
    notebook = open_notebook("%%agent\ncount", "%%agent\ngo on")
    api.reply("one two three four five six", fault="stall")
    shown = notebook.start(1)
    expect(shown).to_contain_text("one two")
    notebook.interrupt()
    expect(shown).to_contain_text("stopped · claude-")
    expect(shown).to_contain_text("Stopped.")
    api.reply("Seven.")
    expect(notebook.run(2)).to_contain_text("Seven.")
    assert "one two" in str(api.requests[-1].body["messages"])


def test_stop_button_ends_a_command(open_notebook: Open, api: ApiServer) -> None:
    notebook = open_notebook("%config MewCode.permission_mode = 'auto'", "%%agent\nwait", "%%agent\nand now?")
    notebook.run(1)
    api.reply(call("Bash", command="echo begun > begun; sleep 600; echo done > done"))
    shown = notebook.start(2)
    expect(shown).to_contain_text("running …")
    while not (notebook.project / "begun").exists():
        notebook.page.wait_for_timeout(20)
    notebook.interrupt()
    expect(shown).to_contain_text("stopped")
    notebook.wait(2)
    api.reply("Nothing was done.")
    expect(notebook.run(3)).to_contain_text("Nothing was done.")
    assert not (notebook.project / "done").exists()


def test_resume_after_a_restart_goes_on_with_the_conversation(open_notebook: Open, api: ApiServer) -> None:
    notebook = open_notebook("%%agent\nmy name is Bo", "%resume", "%%agent\nwho am I?")
    api.reply("Hello Bo.")
    expect(notebook.run(1)).to_contain_text("Hello Bo.")
    notebook.restart()
    notebook.run(0)
    expect(notebook.run(2)).to_contain_text("Your last prompt was: my name is Bo")
    api.reply("You are Bo.")
    expect(notebook.run(3)).to_contain_text("You are Bo.")
    assert "Hello Bo." in str(api.requests[-1].body["messages"])
    (session,) = SessionStore(notebook.project).list()
    assert session.messages == 4


def test_output_never_shrinks_while_it_streams(open_notebook: Open, api: ApiServer) -> None:
    notebook = open_notebook("%config MewCode.permission_mode = 'auto'", "%%agent\ngo")
    notebook.run(1)
    gate = threading.Event()
    api.reply(call("Bash", command="echo " + "long " * 80))
    api.reply("\n\n".join(["A paragraph of the answer."] * 20), gate=gate)
    notebook.cell(2).evaluate(HEIGHTS)
    shown = notebook.start(2)
    expect(shown.locator("p").nth(5)).to_be_visible()
    gate.set()
    expect(shown).to_contain_text(re.compile("claude-test ·"))
    heights = notebook.page.evaluate("window.heights")
    assert len(heights) > 1
    assert heights == sorted(heights)
