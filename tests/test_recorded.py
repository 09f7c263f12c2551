"""Which recorded turn a cell has, and what is shown of it; sessions are real files, written by this store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session_files import ID, TYPED_ID, boundary, role, typed, write

from mewcode_magic.events import Replayed, TextDelta, ToolEnded, ToolStarted, TurnEnded, VariablesMissing
from mewcode_magic.kernel.place import Place
from mewcode_magic.messages import Message
from mewcode_magic.recorded import RecordedTurns, replay
from mewcode_magic.sessions import SessionStore, Turn, turns_of

HERE = "work.ipynb"


def turn(
    text: str, answer: str, cell: str | None = None, run: str | None = "r1", **extra: Any
) -> list[Message]:
    """Return the messages of a turn without calls."""
    prompt = Message(role="user", content=text, **{"notebook": HERE, "cell": cell, "run": run} | extra)
    return [prompt, Message(role="assistant", content=answer, model="claude-test")]


class Kernel:
    """A kernel that resumes the project's one session; the next one is another object."""

    def __init__(self, project: Path) -> None:
        self.store = SessionStore(project)
        self.turns = RecordedTurns(self.store)
        self.resumed = self.store.resume(self.store.list()[0].id)
        self.turns.open(self.resumed)

    def run(self, text: str, cell: str | None = None, run: str | None = "r1", notebook: str = HERE) -> str:
        """Return what the cell shows of the record, "" for nothing."""
        found = self.turns.take(text, Place(notebook, cell, run))
        return found.text if found else ""

    def ask(self, text: str, cell: str | None = None) -> None:
        """Ask the model for a turn, and record it."""
        for message in turn(text, "of this kernel", cell):
            self.resumed.session.append(message)
        self.turns.asked += 1


@pytest.fixture
def kernels(project: Path) -> Iterator[Any]:
    """Return a function that records turns and returns the next kernel."""
    made: list[Kernel] = []

    def kernel(*turns: list[Message]) -> Kernel:
        session = SessionStore(project).create(notebook=HERE)
        for message in (message for one in turns for message in one):
            session.append(message)
        session.close()
        made.append(Kernel(project))
        return made[-1]

    yield kernel
    for one in made:
        one.resumed.session.close()


def test_cell_is_told_by_its_id_whatever_the_order(kernels: Any) -> None:
    kernel = kernels(turn("go on", "first", "a"), turn("go on", "second", "b"))
    assert kernel.run("go on", "b") == "second"
    assert kernel.run("go on", "a") == "first"
    assert kernel.run("go on", "c") == ""


def test_cell_that_ran_in_this_kernel_asks_again(kernels: Any) -> None:
    kernel = kernels(turn("why?", "old", "a", "r1"), turn("why?", "new", "a", "r2"))
    assert kernel.run("why?", "a", "r1") == "new"
    assert kernel.run("why?", "a", "r2") == ""


def test_edited_cell_asks_and_the_cells_after_it_do_not(kernels: Any) -> None:
    kernel = kernels(turn("one", "1", "a"), turn("two", "2", "b"))
    assert kernel.run("one!", "a") == ""
    assert kernel.run("two", "b") == "2"


def test_turns_of_a_loop_are_all_shown_and_no_earlier_run(kernels: Any) -> None:
    kernel = kernels(
        turn("roll", "1", "a", "r4"),
        turn("roll", "2", "a", "r4"),
        turn("roll", "3", "a", "r5"),
        turn("roll", "4", "a", "r5"),
    )
    assert [kernel.run("roll", "a", "r7") for _ in range(3)] == ["3", "4", ""]


def test_loop_that_ran_in_this_kernel_asks_again_whatever_of_it_is_left(kernels: Any) -> None:
    kernel = kernels(turn("roll", "1", "a", "r4"), turn("roll", "2", "a", "r4"))
    assert kernel.run("roll", "a", "r7") == "1"
    assert kernel.run("roll", "a", "r8") == ""


def test_turns_of_one_text_are_taken_once_in_order_without_ids(kernels: Any) -> None:
    kernel = kernels(
        turn("roll", "1", None, "r1"), turn("other", "x", None, "r2"), turn("roll", "2", None, "r3")
    )
    assert [kernel.run(text) for text in ("roll", "roll", "roll", "other")] == ["1", "2", "", "x"]


def test_notebook_with_ids_runs_in_a_front_end_without_and_the_reverse(kernels: Any) -> None:
    kernel = kernels(
        turn("x", "a1", "a", "r1"),
        turn("x", "b1", "b", "r2"),
        turn("x", "a2", "a", "r3"),
        turn("y", "no id", None),
    )
    assert [kernel.run("x"), kernel.run("x"), kernel.run("x")] == ["a2", "b1", ""]
    assert kernel.run("y", "d") == "no id"


def test_copied_notebook_and_a_script_have_nothing_recorded(kernels: Any) -> None:
    kernel = kernels(turn("x", "1", "a"), turn("y", "2", None, notebook=None))
    assert kernel.run("x", "a", notebook="copy.ipynb") == ""
    assert kernel.run("y") == ""


def test_turn_that_did_not_end_is_not_shown(kernels: Any) -> None:
    def call(name: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": name, "name": "RunPython", "input": {"code": "1"}}

    def result(name: str) -> Message:
        return Message(role="user", content=[{"type": "tool_result", "tool_use_id": name, "content": "1"}])

    (failed, _), (stopped, answer) = turn("failed", "", "a"), turn("stopped", "half of", "b")
    limit, _ = turn("limit", "", "c")
    kernel = kernels(
        [failed],
        [stopped, Message(role="assistant", content=answer.content, interrupted=True)],
        [limit, Message(role="assistant", content=[call("t1")]), result("t1")],
        turn("twice", "whole", "d", "r1"),
        [turn("twice", "", "d", "r2")[0], Message(role="assistant", content="ha", interrupted=True)],
        turn("whole", "all", "e"),
    )
    assert [kernel.run(t, c) for t, c in (("failed", "a"), ("stopped", "b"), ("limit", "c"))] == ["", "", ""]
    assert kernel.run("twice", "d") == "whole"
    assert kernel.run("whole", "e") == "all"


@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_turn_before_a_compaction_is_found_in_the_file(project: Path, dialect: str) -> None:
    make, name = (role, ID) if dialect == "role" else (typed, TYPED_ID)
    say: dict[str, Any] = {"notebook": HERE, "cell": "a", "run": "r3"}
    kept = [
        {k: v for k, v in make("user", "kept", **say | {"cell": "b"}).items() if k not in ("ts", "timestamp")}
    ]
    path = write(
        SessionStore(project),
        make("user", "early", **say),
        make("assistant", "told early", model="claude-test"),
        make("user", "kept", **say | {"cell": "b"}),
        make("assistant", "told later"),
        boundary("what was said", kept) if dialect == "role" else typed_boundary(kept),
        make("user", "late", **say | {"cell": "c"}),
        make("assistant", "told late"),
        name=name,
    )
    kernel = Kernel(project)
    assert kernel.resumed.report.boundary
    kernel.ask("own", "d")
    found = kernel.turns.take("early", Place(HERE, "a", "r9"))
    assert found is not None
    assert (found.text, found.model, found.prompt.ts) == ("told early", "claude-test", found.answers[0].ts)
    assert found.prompt.run == "r3"
    assert [kernel.run("kept", "b"), kernel.run("late", "c"), kernel.run("own", "d")] == [
        "told later", "told late", "",
    ]  # fmt: skip
    kernel.resumed.session.close()
    assert path.is_file()


def typed_boundary(keep: list[dict[str, Any]]) -> dict[str, Any]:
    return typed("compact_boundary", {"summary": "what was said", "keep": keep})


def test_what_was_compacted_is_not_read_before_a_cell_asks(project: Path) -> None:
    path = write(
        SessionStore(project),
        role("user", "early", notebook=HERE),
        role("assistant", "told early"),
        boundary("said", []),
        role("user", "late", notebook=HERE),
        role("assistant", "told late"),
    )
    kernel = Kernel(project)
    path.write_bytes(path.read_bytes().replace(b"told early", b"read later"))
    assert kernel.run("early") == "read later"
    kernel.resumed.session.close()


def test_session_left_and_taken_up_again_remembers_what_this_kernel_came_past(kernels: Any) -> None:
    kernel = kernels(turn("x", "1"), turn("y", "2"), turn("x", "3"))
    assert kernel.run("x") == "1"
    kernel.ask("z")
    kernel.turns.close()
    kernel.resumed.session.close()
    kernel.resumed = kernel.store.resume(kernel.resumed.session.id)
    kernel.turns.open(kernel.resumed)
    assert [kernel.run(text) for text in ("x", "x", "y", "z")] == ["3", "", "2", ""]


def test_typed_session_keeps_its_dialect_and_loses_nothing(project: Path) -> None:
    store = SessionStore(project)
    path = write(
        store,
        typed("user", "x", notebook=HERE, cell="a", run="r2", unknown=1),
        typed("assistant", "told"),
        name=TYPED_ID,
    )
    before = path.read_bytes()
    kernel = Kernel(project)
    assert kernel.run("x", "a") == "told"
    kernel.resumed.session.close()
    assert path.read_bytes() == before


# What is shown


def with_calls(*calls: tuple[str, dict[str, Any], str, list[str]]) -> Turn:
    """Return a turn with one call a reply: name, input, result ("!" in front: it failed), names bound."""
    messages = [Message(role="user", content="go", time=1_800_000_000)]
    for number, (name, arguments, said, names) in enumerate(calls):
        call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": said.removeprefix("!")}
        failed = {"is_error": True} if said.startswith("!") else {}
        messages += [
            Message(role="assistant", content=[{"type": "text", "text": f"Step {number}."}, call]),
            Message(role="user", content=[result | failed], variables={f"t{number}": names} if names else {}),
        ]
    messages.append(Message(role="assistant", content="Done.", model="claude-test"))
    return turns_of(messages)[0]


def shown(recorded: Turn, **options: Any) -> list[Any]:
    return list(replay(recorded, **{"asked": 0, "shell": None, "notebook": None} | options))


def test_answer_and_calls_are_told_in_their_order_and_nothing_is_run() -> None:
    made = with_calls(
        ("RunPython", {"code": "raise SystemExit"}, "ran", []), ("Grep", {"pattern": "x"}, "!no", [])
    )
    assert shown(made, asked=2) == [
        Replayed(1_800_000_000.0, "claude-test", 2),
        TextDelta("Step 0."),
        ToolStarted("t0", "RunPython", {"code": "raise SystemExit"}),
        ToolEnded("t0", "RunPython", "ran", False, 0.0, "raise SystemExit", "python"),
        TextDelta("Step 1."),
        ToolStarted("t1", "Grep", {"pattern": "x"}),
        ToolEnded("t1", "Grep", "no", True, 0.0, "", "python"),
        TextDelta("Done."),
        shown(made)[-1],
    ]
    ended = shown(made)[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.text, ended.model, ended.rounds, ended.stop) == ("Done.", "claude-test", 3, "done")
    assert ended.usage.prompt_tokens == ended.usage.output_tokens == 0


def test_missing_variables_come_with_the_code_of_all_calls_that_did_something() -> None:
    made = with_calls(
        ("RunPython", {"code": "df = 1\ndf.x"}, "!AttributeError", ["df"]),
        ("RunPython", {"code": "1 / 0"}, "!ZeroDivisionError", []),
        ("Inspect", {"code": "no code of RunPython"}, "x", []),
        ("RunPython", {"code": "print(df)"}, "1", []),
        ("RunPython", {"code": "total = 2"}, "ok", ["total", "df"]),
    )
    (missing,) = (event for event in shown(made) if isinstance(event, VariablesMissing))
    code = "# This did not run to its end:\ndf = 1\ndf.x\n\nprint(df)\n\ntotal = 2"
    assert missing == VariablesMissing(("df", "total"), code, "nowhere")


def test_figures_of_calls_come_back() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    made = with_calls(("RunPython", {"code": "plot()"}, "", []))
    result = {"type": "tool_result", "tool_use_id": "t0", "content": [{"type": "text", "text": "ok"}, image]}
    made.answers[1] = Message(role="user", content=[result])
    (ended,) = (event for event in shown(made) if isinstance(event, ToolEnded))
    assert (ended.result, ended.images) == ("ok", (image,))


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"cells": [{"source": 5, "cell_type": "code"}]}'])
def test_notebook_that_cannot_be_read_has_no_cell_with_the_code(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "work.ipynb"
    path.write_text(broken, encoding="utf-8")
    made = with_calls(("RunPython", {"code": "x = 1"}, "", ["x"]))
    for notebook in (path, tmp_path / "none.ipynb"):
        (missing,) = (e for e in shown(made, notebook=notebook) if isinstance(e, VariablesMissing))
        assert missing.offered == "nowhere"


def test_code_that_stands_in_the_notebook_is_not_offered_again(tmp_path: Path) -> None:
    path = tmp_path / "work.ipynb"
    made = with_calls(("RunPython", {"code": "x = 1\ny = 2"}, "", ["x", "y"]))
    for kind, first, offered in (
        ("code", "x = 1", "notebook"), ("markdown", "x = 1", "nowhere"), ("code", "max = 1", "nowhere")
    ):  # fmt: skip
        cell = f'{{"cell_type": "{kind}", "source": ["{first}\\n", "y = 2"]}}'
        path.write_text(f'{{"cells": [{cell}]}}', encoding="utf-8")
        (missing,) = (e for e in shown(made, notebook=path) if isinstance(e, VariablesMissing))
        assert missing.offered == offered
