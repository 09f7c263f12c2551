"""Turns in a terminal: plain text as it comes, and nothing that the terminal would obey."""

import io
import os
import subprocess
import sys

import pytest

from mewcode_magic.errors import Overloaded, SessionInUse
from mewcode_magic.events import (
    CompactionEnded,
    CompactionStarted,
    Notice,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from mewcode_magic.messages import Usage
from mewcode_magic.render import Stopped, View, output_for, show_compaction, show_turn
from mewcode_magic.render.lines import called

ENDED = TurnEnded("", "offline", Usage(), 0.1, 1, "done")


def test_text_is_printed_as_it_comes(capsys) -> None:
    def turn():
        yield TextDelta("\n\nHello **wor")
        assert capsys.readouterr().out == "Hello **wor"
        yield TextDelta("ld**")
        assert capsys.readouterr().out == "ld**"
        yield ToolStarted("t1", "ReadFile", {"path": "a.csv"})
        assert capsys.readouterr().out == "\n[ReadFile: a.csv]\n"
        yield ToolEnded("t1", "ReadFile", "1,2", is_error=False, seconds=0.1)
        assert capsys.readouterr().out == ""
        yield ToolStarted("t2", "ReadFile", {"path": "b.csv"})
        yield ToolEnded("t2", "ReadFile", "it is not there\nmore", is_error=True, seconds=0.1)
        yield Notice("a notice")
        yield TextDelta("Done.\n")
        yield ENDED

    assert show_turn(turn(), shell=None) is ENDED
    assert capsys.readouterr().out.split("\n") == [
        *("[ReadFile: b.csv]", "[ReadFile: b.csv - failed: it is not there]", "[a notice]"),
        *("Done.", "[offline · no tokens]", ""),
    ]


def test_compaction_is_told_while_it_runs_and_when_it_has_ended(capsys) -> None:
    def turn():
        yield CompactionStarted(168_100)
        assert capsys.readouterr().out == "[Compacting the conversation…]\n"
        yield CompactionEnded(168_100, 12_345, 14.24, Usage(150_000, 900))
        yield CompactionEnded(168_100, 168_100, 1.0, failure="the server\nis busy")
        yield TextDelta("Done.")
        yield ENDED

    show_turn(turn(), shell=None)
    assert capsys.readouterr().out.split("\n")[:3] == [
        "[Compacted the conversation: 168,100 → 12,345 tokens in 14.2 s]",
        "[The conversation could not be compacted and is as it was: the server is busy]",
        "Done.",
    ]


def test_compaction_that_is_stopped_says_so(capsys) -> None:
    def events():
        yield CompactionStarted(1_000)
        raise KeyboardInterrupt

    with pytest.raises(Stopped):
        show_compaction(events(), shell=None)
    assert capsys.readouterr().out.split("\n")[1] == (
        "[The conversation was not compacted; it is as it was.]"
    )


def test_control_characters_are_shown_and_not_obeyed(capsys) -> None:
    def turn():
        yield TextDelta("\x1b[2J\x07a\rb\x9b1m\ud800")
        yield ToolStarted("t1", "X\x1b", {"a": "\x1b]0;x\x07 \u202eb"})
        yield ENDED

    show_turn(turn(), shell=None)
    out = capsys.readouterr().out
    unknown = "\N{REPLACEMENT CHARACTER}"
    assert out.startswith(f"␛[2J␇a\nb{unknown}1m{unknown}\n[X␛: ␛]0;x␇ {unknown}b]\n")
    assert not any(c < " " and c != "\n" for c in out)


def test_an_error_leaves_the_next_line_free(capsys) -> None:
    def turn():
        yield TextDelta("half")
        raise Overloaded("busy")

    with pytest.raises(Overloaded):
        show_turn(turn(), shell=None)
    assert capsys.readouterr().out == "half\n"


def test_a_stopped_turn_says_so(capsys) -> None:
    def turn():
        yield TextDelta("half")
        yield TurnEnded("half", "a-model", Usage(), 0.1, 1, "interrupted")
        raise KeyboardInterrupt

    with pytest.raises(Stopped):
        show_turn(turn(), shell=None)
    assert capsys.readouterr().out == "half\n[stopped · a-model]\n"


def test_a_turn_that_another_prompt_has_ended_says_so(capsys) -> None:
    def turn():
        yield TextDelta("half")

    with pytest.raises(SessionInUse, match="another prompt"):
        show_turn(turn(), shell=None)
    assert capsys.readouterr().out == "half\n"


def test_a_turn_that_nobody_listens_to_any_more_is_closed(capsys) -> None:
    closed = []

    def turn():
        try:
            yield TextDelta("a")
            yield "no event that is known"
            yield ToolEnded("never started", "X", "", is_error=False, seconds=0)
        finally:
            closed.append(True)

    with pytest.raises(KeyError):
        show_turn(turn(), shell=None)
    assert closed == [True]


def test_a_terminal_without_the_characters_gets_others(monkeypatch) -> None:
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    output_for(None).open().show(View("a · 日本"))
    screen.flush()
    assert screen.buffer.getvalue() == b"a ? ??\n"


def test_ipython_shows_no_reprs_of_displays(tmp_path) -> None:
    code = (
        "from mewcode_magic.events import *; from mewcode_magic.messages import Usage; "
        "from mewcode_magic.render import show_turn; "
        "e = TurnEnded('', 'offline', Usage(), 1.0, 1, 'done'); "
        "_ = show_turn((x for x in [TextDelta('# Title'), e]), shell=get_ipython())"
    )
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", code],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONUTF8": "1"}, check=True,
    )  # fmt: skip
    assert done.stdout == "# Title\n[offline · no tokens]\n"


@pytest.mark.parametrize(
    ("name", "arguments", "shown"),
    [
        ("Inspect", {}, "Inspect"),
        ("Inspect", {"names": []}, "Inspect"),
        ("Inspect", {"names": ["df", "x"], "deep": {"a": 1}}, "Inspect: df, x"),
        ("ReadFile", {"path": "a.csv", "offset": 20}, "ReadFile: a.csv, 20"),
        ("EditFile", {"path": "a.py", "old": "x = 1", "new": "x", "replace_all": True}, "EditFile: a.py"),
        ("WriteFile", {"path": "a.py", "content": "x = 1\n"}, "WriteFile: a.py"),
        ("ProposeCell", {"code": "import a\n\na.b()", "title": ""}, "ProposeCell: import a …"),
        ("Bash", {"command": "\ngit diff\n"}, "Bash: git diff"),
        (
            "memory",
            {"command": "create", "path": "/memories/a.md", "file_text": "x"},
            "memory: create, /memories/a.md",
        ),
        ("X", {"names": ["x" * 90] * 90}, "X: " + "x" * 90 + ", " + "x" * 7 + "…"),
    ],
)
def test_a_call_is_one_short_line_without_the_texts_that_it_writes(name, arguments, shown) -> None:
    assert called(name, arguments) == shown
