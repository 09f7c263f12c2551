"""The stylesheet of outputs: which of its rules an output carries, and what a saved notebook holds."""

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mewcode_magic.render import Column, Table, quiet_line
from mewcode_magic.render.code import code_html
from mewcode_magic.render.style import rules_for

ANSWER = "\n\n".join(
    f"{n}. Revenue of *month {n}* was 1,234.50: `tents` sold well, as ever." for n in range(30)
)

TURN = """
from mewcode_magic.events import *
from mewcode_magic.messages import Usage
from mewcode_magic.render import show_turn
def turn():
    yield TextDelta({answer!r})
    for call in {calls}:
        yield ToolStarted(call, "ReadFile", {{"path": "a.csv"}})
        yield ToolEnded(call, "ReadFile", "one line\\n" * 40, False, 0.5)
    yield TurnEnded("", "a-model", Usage(1000, 50, 0, 200), 1.25, 1, "done")
show_turn(turn(), shell=get_ipython())
None
"""


def saved(cell: str, folder: Path) -> list[dict[str, object]]:
    """Return the outputs of a cell in a notebook that was run and saved with nobody there."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    nbformat.write(notebook, folder / "saved.ipynb")
    outputs: list[dict[str, object]] = json.loads((folder / "saved.ipynb").read_text())["cells"][0]["outputs"]
    return outputs


def test_output_carries_the_rules_of_its_own_classes_only() -> None:
    line = "".join(rules_for(quiet_line("hello").html))
    assert ".mew-line{" in line
    assert ".mew-code" not in line
    table = "".join(rules_for(Table([Column("a")], [], empty="none").html()))
    assert ".mew-table" in table
    assert ".mew-line" not in table


def test_rules_have_no_comments_and_lose_no_blank_that_means_something() -> None:
    rules = "".join(rules_for("mew-table"))
    assert "/*" not in rules
    assert ".mew-table table :is(th,td){" in rules


def test_lines_of_a_diff_are_told_apart_and_its_file_names_are_neither() -> None:
    html = code_html("--- a.sql\n+++ a.sql\n--- a remark\n+x = 2\n y", "diff")
    assert '--- a.sql\n+++ a.sql\n<span class="mew-removed">--- a remark</span>' in html
    assert '<span class="mew-added">+x = 2</span>\n y</pre>' in html


def test_saved_output_is_at_most_twice_its_text(tmp_path: Path) -> None:
    assert 1_900 < len(ANSWER) < 2_200
    assert len(json.dumps(saved(TURN.format(answer=ANSWER, calls=[]), tmp_path))) <= 2 * len(ANSWER)


def test_rules_stand_once_in_a_cell_however_many_calls_it_shows(tmp_path: Path) -> None:
    outputs = json.dumps(saved(TURN.format(answer=ANSWER, calls=["t1", "t2", "t3"]), tmp_path))
    assert outputs.count("one line") == 3 * 40
    assert outputs.count(".mew-code{") == 1
    assert len(outputs) <= 2 * (len(ANSWER) + 3 * 40 * len("one line\n"))


@pytest.mark.parametrize("calls", [[], ["t1", "t2"]])
def test_saved_output_is_the_same_each_time(tmp_path: Path, calls: list[str]) -> None:
    cell = TURN.format(answer=ANSWER, calls=calls)
    assert saved(cell, tmp_path) == saved(cell, tmp_path)
