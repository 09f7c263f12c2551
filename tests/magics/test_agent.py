from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer

from mewcode_magic.errors import CommandError, NoKey, StorageError
from mewcode_magic.events import TurnEnded
from mewcode_magic.magics.screen import Screen
from mewcode_magic.memory import Extraction, Memory, Saved
from mewcode_magic.messages import Usage
from mewcode_magic.sessions import SessionStore


def prompts(project: Path) -> list[str]:
    """Return what was asked in the sessions of the project."""
    store = SessionStore(project)
    return [m.text() for info in store.list() for m in store.transcript(info.id) if m.is_prompt]


@pytest.mark.parametrize(
    "prompt",
    [
        'what is {"a": [1, {2}]} and $HOME, {undefined}?',
        "it's \"quoted\" 'so'",
        r"C:\new\table \d+ \\",
        "- a dash, then --model x",
        "100% of %agent?",
        "\N{CAT FACE} 你好？",
        "ends in --",
    ],
)
def test_prompt_is_taken_as_it_stands(run: Any, project: Path, prompt: str) -> None:
    assert run(f"%agent {prompt}").error is None
    assert run(f"%%agent\n{prompt}\n").error is None
    assert prompts(project) == [prompt, prompt]


def test_line_and_cell_are_one_prompt(run: Any, project: Path) -> None:
    assert run("%%agent explain this:\n\n>>> x = {}\n    indented\n\nlast?\n\n").error is None
    assert prompts(project) == ["explain this:\n>>> x = {}\n    indented\n\nlast?"]


def test_text_behind_the_cell_magic_needs_no_cell(run: Any, project: Path) -> None:
    assert run("%%agent what is this?").error is None
    assert prompts(project) == ["what is this?"]


def test_dashes_begin_a_prompt_behind_double_dash(run: Any, project: Path) -> None:
    assert run("%agent -- --verbose is which option?").error is None
    assert prompts(project) == ["--verbose is which option?"]


def test_answer_is_displayed_and_streams_from_the_model(run: Any, server: ApiServer) -> None:
    server.reply("Four.")
    ran = run("%agent what is 2 + 2?")
    assert ran.error is None
    assert ran.text.startswith("Four.\n[claude")
    assert server.requests[-1].body["messages"][-1]["content"][-1]["text"] == "what is 2 + 2?"


def test_output_option_puts_the_answer_into_a_variable(run: Any, shell: Any, server: ApiServer) -> None:
    server.reply("First.")
    assert run("%agent -o answer go").error is None
    server.reply("Second.")
    assert run("%%agent --model claude-other -o other\ngo").error is None
    assert (shell.user_ns["answer"], shell.user_ns["other"]) == ("First.", "Second.")
    assert server.requests[-1].body["model"] == "claude-other"


def test_magic_itself_returns_nothing(run: Any, shell: Any) -> None:
    assert run("x = %agent hello?").error is None
    assert shell.user_ns["x"] is None


@pytest.mark.parametrize("name", ["1x", "a.b", "class", "a-b", "x[0]"])
def test_output_must_be_a_variable(run: Any, project: Path, name: str) -> None:
    ran = run(f"%agent -o {name} hello")
    assert isinstance(ran.error, CommandError)
    assert prompts(project) == []


def test_new_option_begins_another_session(run: Any, project: Path) -> None:
    run("%agent one")
    run("%agent two")
    run("%agent --new three")
    store = SessionStore(project)
    sessions = [[m.text() for m in store.transcript(i.id) if m.is_prompt] for i in store.list()]
    assert sorted(sessions) == [["one", "two"], ["three"]]


@pytest.mark.parametrize("cell", ["%agent", "%%agent", "%%agent\n\n  \n", "%agent --", "%agent --new"])
def test_empty_prompt_is_an_error(run: Any, project: Path, cell: str) -> None:
    ran = run(cell)
    assert isinstance(ran.error, CommandError)
    assert ran.text == f"CommandError: {ran.error}\n"
    assert not (project / ".mewcode").exists()


def test_unknown_option_is_one_line_that_says_what_to_write(run: Any, project: Path) -> None:
    ran = run("%agent --verbose what?")
    assert isinstance(ran.error, CommandError)
    assert ran.text.count("\n") == 1
    assert "write %agent -- --verbose …" in ran.text
    assert ran.stderr == ""
    assert not (project / ".mewcode").exists()


def test_failure_of_the_model_is_one_line_and_the_next_turn_works(run: Any) -> None:
    ran = run("%agent --model claude-none hello")
    assert isinstance(ran.error, NoKey)
    assert ran.text.count("\n") == 1
    assert run("%agent hello").error is None


@pytest.mark.parametrize(
    "name", ["agent", "remember", "sessions", "resume", "memory", "forget", "context", "mewcode"]
)
def test_help_is_shown_for_the_option_and_the_question_mark(
    run: Any, home: Path, project: Path, name: str
) -> None:
    ran = run(f"%{name} --help")
    assert ran.error is None
    assert ran.text.startswith(f"%{name} [")
    assert "--help" in ran.text
    asked = run(f"%{name}?")
    assert asked.error is None
    assert not home.exists()
    assert not (project / ".mewcode").exists()


def test_magics_run_in_blocks_and_several_to_a_cell(run: Any, project: Path) -> None:
    ran = run("for _ in range(2):\n    %agent what is (a?\n%agent and 'b?\nlast = 1")
    assert ran.error is None
    assert prompts(project) == ["what is (a?", "what is (a?", "and 'b?"]


def test_file_where_the_folder_should_be_is_one_line_and_nothing_is_lost(run: Any, project: Path) -> None:
    (project / ".mewcode").write_text("in the way")
    for cell in ("%agent hello", "%remember the API is v2"):
        ran = run(cell)
        assert isinstance(ran.error, StorageError)
        assert ran.text.splitlines()[-1].startswith("StorageError: cannot ")
    (project / ".mewcode").unlink()
    assert run("%agent hello again").error is None
    assert prompts(project)[-1] == "hello again"


# What is remembered of a turn


def test_what_was_remembered_is_told_below_the_answer_with_how_to_undo_it(run: Any) -> None:
    ran = run("%agent I prefer polars over pandas for all new code.")
    assert "Remembered: the user memory" in ran.text
    undo = ran.text.partition("undo: ")[2].partition("]")[0]
    assert "Deleted" in run(undo).text
    assert "Remembered" not in run("%agent what is the time?").text


def test_what_a_terminal_could_not_tell_in_time_is_told_by_the_next_cell(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    future: Future[Extraction] = Future()
    memory = Memory("tea", "when drinks are offered", "user", "Tea.", path=Path("tea.md"))
    screen = Screen(shell)
    screen.tell_late(TurnEnded("", "a-model", Usage(), 1.0, 1, "done", future))
    screen.catch_up()
    assert capsys.readouterr().out == ""
    future.set_result(Extraction(written=(Saved(memory, Path("tea.md"), "created"),)))
    screen.catch_up()
    assert "Remembered: the user memory 'tea' in tea.md; undo: %forget tea" in capsys.readouterr().out
    screen.catch_up()
    assert capsys.readouterr().out == ""
