"""A notebook that is run from top to bottom again, by another kernel: recorded answers cost nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from api_server import ApiServer
from live_kernel import call, live_kernel
from nbclient import NotebookClient

from mewcode_magic.errors import CommandError
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
    texts = [o.get("data", {}) | {"stream": o.get("text", "")} for o in outputs]
    return "\n".join(t["stream"] or t.get("text/plain") or t.get("text/markdown", "") for t in texts)


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
    server.reply("Yes.")
    third = run_all(project, [*cells, "%agent what did you count?", "%agent sure?"])
    assert "Recorded" in third[3]
    assert third[6].startswith("As I said: three.")
    assert len(server.requests) == asked[0] + 2
    assert "do not exist" not in str(server.requests[-1].body["messages"][-1])
    sent = server.requests[-2].body["messages"]
    said = str(sent)
    for text in ("how many rows are there?", "Three **rows**.", "and columns?", "Four columns."):
        assert text in said
    assert [message["role"] for message in sent] == ["user", "assistant"] * 3 + ["user"]
    assert "These variables of earlier calls do not exist in the present kernel: rows." in said

    server.reply("Fine.")
    run_all(project, [*cells, "rows = 3", "%agent and now?"])
    assert "do not exist" not in str(server.requests[-1].body["messages"][-1])


def test_cells_with_ids_show_their_own_answer_once_and_code_that_is_missing_is_proposed(
    project: Path, home: Path, named: Path
) -> None:
    with live_kernel(project) as kernel:
        kernel.run("%config MewCode.permission_mode = 'auto'")
        kernel.script(call("RunPython", code="x = 5"), "'Made x.'", "'First.'", "'Second.'")
        kernel.run("%%agent\nmake x", cell="a")
        kernel.run("%agent go on", cell="b")
        kernel.run("%agent go on", cell="c")

    with live_kernel(project) as kernel:
        assert kernel.run("%resume --here").plain().endswith("%%agent --fresh asks again.")
        assert kernel.run("%agent go on", cell="c").plain().endswith("--fresh asks again]\nSecond.")
        made = kernel.run("%%agent --model offline -o answer\nmake x", cell="a")
        assert made.plain().endswith(
            "Made x.\n[Not in this kernel: x; the recorded code is in the cell below]"
        )
        assert [p["text"] for p in made.payload] == ["x = 5"]
        assert kernel.value("answer") == "Made x."
        assert kernel.value("'x' in globals()") is False

        again = kernel.run("%%agent\nmake x", cell="a").plain()
        assert again.startswith("*Offline:")
        after = kernel.run("%agent go on", cell="b").plain()
        assert ", before what was asked anew in this kernel; --fresh asks again]\nFirst." in after
        assert kernel.run("%resume --here").plain().endswith(" is open already; %%agent goes on with it.")
        assert kernel.run("%agent go on", cell="b").plain().startswith("*Offline:")

    with live_kernel(project) as kernel:
        kernel.run("%resume --here\nx = 6")
        latest = kernel.run("%%agent\nmake x", cell="a").plain()
        assert latest.startswith("[Recorded on ")
        assert " by offline; --fresh asks again]\n*Offline:" in latest


def test_loop_shows_all_its_turns_of_its_last_run(project: Path, home: Path, named: Path) -> None:
    loop = "for _ in range(2):\n    get_ipython().run_line_magic('agent', '{}roll')"
    for day in range(2):
        with live_kernel(project) as kernel:
            kernel.script(repr(f"Rolled {day}1."), repr(f"Rolled {day}2."))
            kernel.run("%resume --here")
            kernel.run(loop.format("--fresh "), cell="a")
    with live_kernel(project) as kernel:
        kernel.run("%resume --here")
        first, second = kernel.run(loop.format(""), cell="a").plain().split("[Recorded on ")[1:]
        assert "Rolled 11." in first
        assert "Rolled 12." in second


def test_question_about_a_failure_is_asked_again_once_something_fails(
    project: Path, home: Path, named: Path
) -> None:
    with live_kernel(project) as kernel:
        kernel.run("1 / 0")
        assert "Offline" in kernel.run("%agent --fix", cell="a").plain()
    with live_kernel(project) as kernel:
        kernel.run("%resume --here")
        assert "Recorded" in kernel.run("%agent --fix", cell="a").plain()
    with live_kernel(project) as kernel:
        kernel.run("print(undefined)")
        kernel.run("%resume --here")
        assert kernel.run("%agent --fix", cell="a").plain().startswith("*Offline:")


def test_setting_and_option_decide_whether_the_model_is_asked_again(
    project: Path, home: Path, named: Path
) -> None:
    texts = ("asked yes", "asked no", "asked nobody", "fresh once", "fresh always", "replayed")
    with live_kernel(project) as kernel:
        kernel.script(*(repr(f"Told {text}.") for text in texts))
        for text in texts:
            kernel.run(f"%agent {text}", cell=text.replace(" ", "-"))

    def runs(text: str, option: str = "", **options: Any) -> str:
        return kernel.run(f"%agent {option} {text}", cell=text.replace(" ", "-"), **options).plain()

    with live_kernel(project) as kernel:
        kernel.run("%resume --here\n%config MewCode.rerun = 'ask'")
        seen = kernel.run("%agent asked yes", cell="asked-yes", answers=["yes"])
        (question,) = seen.prompts
        assert question.startswith("Recorded on 20")
        assert question.endswith("Show that? yes, or no to ask again: ")
        assert "Told asked yes." in seen.plain()
        assert runs("asked no", answers=["No"]).startswith("*Offline:")
        assert "Told asked nobody." in runs("asked nobody", present=False)
        kernel.run("%config MewCode.rerun = 'replay'")
        assert runs("fresh once", "--fresh").startswith("*Offline:")
        assert runs("fresh once").startswith("*Offline:")
        kernel.run("%config MewCode.rerun = 'fresh'")
        assert runs("fresh always").startswith("*Offline:")
        kernel.run("%config MewCode.rerun = 'replay'")
        assert "Told replayed." in runs("replayed")


def test_question_that_is_stopped_ends_the_cell_in_one_line(project: Path, home: Path, named: Path) -> None:
    with live_kernel(project) as kernel:
        kernel.run("%agent hello", cell="a")
    with live_kernel(project) as kernel:
        kernel.run("%resume --here\n%config MewCode.rerun = 'ask'")
        seen = kernel.run("%agent hello", cell="a", answers=[], interrupt_at_input=True)
        assert [error["traceback"] for error in seen.of("error")] == [["Stopped."]]
        assert "Told" not in seen.plain()


@pytest.mark.parametrize("meanwhile", ["copied", "refused"])
def test_what_was_not_asked_in_a_session_is_none_of_its_turns(
    project: Path, home: Path, named: Path, meanwhile: str
) -> None:
    with live_kernel(project) as kernel:
        kernel.script("'Told first.'", "'Told last.'")
        kernel.run("%agent first", cell="a")
        kernel.run("%agent last", cell="b")
    (info,) = SessionStore(project).list()
    with live_kernel(project) as kernel:
        kernel.run("%resume --here")
        if meanwhile == "copied":
            kernel.run(f"%resume {info.id} --fork")
            kernel.run("%agent of the copy", cell="c")
        else:
            kernel.run("%config MewCode.auto_compact = False\n%config MewCode.context_window = 1_000")
            assert kernel.run(f"%agent {'word ' * 2_000}", cell="c").status == "error"
            kernel.run("%sessions new")
        kernel.run(f"%resume {info.id}")
        assert "Told last." in kernel.run("%agent last", cell="b").plain()


def test_new_session_that_begins_with_the_cell_is_gone_on_with(
    project: Path, home: Path, named: Path
) -> None:
    cells = [*TOP, "%agent first", "%agent --new second", "%agent --new third"]
    run_all(project, cells[:4])
    assert len(SessionStore(project).list()) == 2
    again = run_all(project, cells)
    assert again[2].startswith("*Offline:")
    assert again[3].startswith("[Recorded on ")
    assert again[4].startswith("*Offline:")
    titles = {info.title: info.messages for info in SessionStore(project).list()}
    assert titles == {"first": 2, "second": 4, "third": 2}


def test_new_session_is_begun_where_the_cell_was_not_the_first(
    project: Path, home: Path, named: Path
) -> None:
    run_all(project, [*TOP, "%agent first", "%agent second"])
    assert run_all(project, [*TOP, "%agent first", "%agent --new second"])[3].startswith("*Offline:")
    assert {info.title for info in SessionStore(project).list()} == {"first", "second"}


def test_offline_answers_are_not_shown_where_a_model_is_connected(
    project: Path, home: Path, named: Path, server: ApiServer
) -> None:
    cells = [*TOP, "%config MewCode.model = 'offline'", "%agent what is this?"]
    run_all(project, cells)
    assert run_all(project, cells)[3].startswith("[Recorded on ")
    server.reply("A book.")
    assert run_all(project, [*cells[:3], "%agent --model claude-other what is this?"])[3].startswith(
        "A book."
    )
    run_all(project, [*TOP, "%sessions new", cells[2], cells[3]])
    server.reply("A notebook.")
    assert run_all(project, [*TOP, cells[3]])[2].startswith("A notebook.")


def test_notebook_without_a_name_begins_a_new_session_and_says_why(project: Path, home: Path) -> None:
    for _ in range(2):
        first, again = run_all(project, [*TOP, "%agent hello", "%resume --here"])[1::2]
        assert first == (
            "A new session begins with the next prompt. Which notebook this is, the front end does not say; "
            "set JPY_SESSION_NAME to its path."
        )
        assert " is open already; %%agent goes on with it. Which notebook" in again
    store = SessionStore(project)
    assert len(store.list()) == 2
    resumed = run_all(project, ["%load_ext mewcode", f"%resume {store.list()[0].id}", "%agent hello"])
    assert resumed[2].startswith("[Recorded on ")


def test_console_in_which_words_are_typed_anew_asks(project: Path, home: Path) -> None:
    with live_kernel(project) as kernel:
        kernel.run("%agent go on")
    with live_kernel(project) as kernel:
        kernel.run("%resume")
        assert kernel.run("%agent go on").plain().startswith("*Offline:")


def test_copied_notebook_begins_a_session_of_its_own(
    project: Path, home: Path, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(project, [*TOP, "%agent hello"])
    monkeypatch.setenv("JPY_SESSION_NAME", str(project / "copy.ipynb"))
    copied = run_all(project, [*TOP, "%agent hello"])
    assert "there is none of copy.ipynb to go on with." in copied[1]
    assert copied[2].startswith("*Offline:")
    assert {info.notebook for info in SessionStore(project).list()} == {"work.ipynb", "copy.ipynb"}


def test_open_session_of_another_notebook_is_left_for_a_new_one(
    project: Path, home: Path, named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all(project, [*TOP, "%agent hello"])
    (other,) = SessionStore(project).list()
    monkeypatch.setenv("JPY_SESSION_NAME", str(project / "new.ipynb"))
    told = run_all(project, [TOP[0], f"%resume {other.id}", TOP[1], "%agent mine"])[2]
    assert told == "A new session begins with the next prompt; there is none of new.ipynb to go on with."
    assert {info.title: info.messages for info in SessionStore(project).list()} == {"hello": 2, "mine": 2}


def test_session_of_the_notebook_that_is_open_elsewhere_is_named(
    project: Path, home: Path, named: Path
) -> None:
    with live_kernel(project) as first:
        first.run("%agent hello", cell="a")
        (info,) = SessionStore(project).list()
        with live_kernel(project) as second:
            told = second.run("%resume --here").plain()
            assert told.startswith("A new session begins with the next prompt; there is none of work.ipynb")
            assert told.endswith(f" Session {info.id} is open elsewhere; %resume {info.id} --fork copies it.")
            second.run(f"%resume {info.id} --fork")
            assert "[Recorded on " in second.run("%agent hello", cell="a").plain()


def test_terminal_asks_what_is_typed_again(run: Any) -> None:
    run("%agent go on")
    assert "is open already; %%agent goes on with it. This is no notebook; " in run("%resume --here").text
    run("%unload_ext mewcode_magic\n%load_ext mewcode_magic")
    assert run("%resume").text.startswith("Resumed ")
    assert run("%agent go on").text.startswith("*Offline:")


@pytest.mark.parametrize("line", ["--here 2", "--here --fork", "2 --here"])
def test_here_takes_no_id_and_no_fork(run: Any, line: str) -> None:
    assert isinstance(run(f"%resume {line}").error, CommandError)
