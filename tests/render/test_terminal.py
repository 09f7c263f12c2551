"""What a terminal's screen shows, with styles where it has them."""

import os
import pty
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest

from mewcode_magic.events import PermissionAsked, ToolEnded, ToolStarted
from mewcode_magic.render.lines import call_line, joined_view, quiet_line
from mewcode_magic.render.question import ask
from mewcode_magic.render.table import Cell, Column, Table
from mewcode_magic.render.terminal import terminal_output

COLUMNS, LINES = 60, 12
MARK = "\x0f"
"""A control character without effect: once it has arrived, so has all that was written before it."""

ANSWER = """# By month

The **March** value is `null`; see [docs](https://example.com/a) and <b>tags</b>.

- one
- two, 三月的数据
  1. nested

```python
total = sum(
    revenue)
```

| month | revenue |
|---|---:|
| Jan | 1,200 |

The end, $a_1 * b_2 * c$."""


class Screen:
    """A terminal that standard output is connected to; what it shows is known once all was taken in."""

    def __init__(self, patch: pytest.MonkeyPatch, kind: str, encoding: str) -> None:
        self.screen = pyte.HistoryScreen(COLUMNS, LINES, history=10_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._marks = 0
        master, slave = pty.openpty()
        self._master = master
        file = os.fdopen(slave, "w", encoding=encoding)
        patch.setattr(sys, "stdout", file)
        patch.setenv("TERM", kind)
        patch.setenv("COLUMNS", str(COLUMNS))
        patch.setenv("LINES", str(LINES))
        for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
            patch.delenv(name, raising=False)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._file = file

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65_536)
            except OSError:  # the other end is closed
                return
            self._stream.feed(data)
            self.raw += data

    def rows(self) -> list[str]:
        """Return all lines, those that have left the screen too."""
        self._file.write(MARK)
        self._file.flush()
        self._marks += 1
        while self.raw.count(MARK.encode()) < self._marks:
            time.sleep(0.01)
        gone = ["".join(row[x].data for x in range(COLUMNS)) for row in self.screen.history.top]
        return [row.rstrip() for row in (*gone, *self.screen.display)]

    def text(self) -> str:
        return "\n".join(self.rows()).strip("\n")

    def wait_for(self, text: str) -> None:
        limit = time.monotonic() + 10
        while text not in self.text():
            assert time.monotonic() < limit, f"never shown: {text}"

    def style(self, text: str) -> pyte.screens.Char:
        """Return how the first character of a text on the screen looks."""
        self.text()
        for y, row in enumerate(self.screen.display):
            if text in row:
                return self.screen.buffer[y][row.index(text)]
        raise AssertionError(f"not on the screen: {text}")

    def type(self, echo: str) -> None:
        """Have the terminal print what is typed into it."""
        self._file.write(echo)
        self.text()

    def close(self) -> None:
        self._file.close()
        self._reader.join()
        os.close(self._master)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Screen]]:
    made: list[Screen] = []

    def make(kind: str = "xterm-256color", encoding: str = "utf-8") -> Screen:
        made.append(Screen(monkeypatch, kind, encoding))
        return made[-1]

    yield make
    for screen in made:
        screen.close()


def stream(text: str, size: int, pause: float = 0) -> None:
    stretch = terminal_output().stretch()
    for start in range(0, len(text), size):
        stretch.add(text[start : start + size])
        time.sleep(pause)
    stretch.end()


def test_answer_is_laid_out_as_markdown(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    stream(ANSWER, 8)
    text = screen.text()
    assert "The March value is null; see docs (https://example.com/a)" in text
    assert " • two, 三月的数据" in text.replace("三 月 的 数 据 ", "三月的数据")
    assert "Jan      1,200" in text
    assert "**" not in text
    assert "```" not in text
    assert "$a_1 * b_2 * c$" in text
    assert "\n\n\n" not in text


def test_strong_and_code_stand_out(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    stream("The **March** value of `revenue`", 8)
    assert screen.style("March").bold
    assert screen.style("revenue") != screen.style("value")


@pytest.mark.parametrize("size", [1, 3, 50, 10_000])
def test_answer_looks_the_same_however_it_arrived(terminal: Callable[..., Screen], size: int) -> None:
    whole = terminal()
    stream(ANSWER, len(ANSWER))
    expected = whole.text()
    in_pieces = terminal()
    stream(ANSWER, size)
    assert in_pieces.text() == expected


def test_text_grows_before_its_block_is_whole(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    stretch = terminal_output().stretch()
    stretch.add("It begins ")
    screen.wait_for("It begins")
    stretch.add("and goes on")
    screen.wait_for("and goes on")
    stretch.end()
    assert screen.text() == "It begins and goes on"


@pytest.mark.parametrize("fence", ["", "```"])
def test_block_longer_than_the_screen_is_there_whole_and_once(
    terminal: Callable[..., Screen], fence: str
) -> None:
    screen = terminal()
    rows = [f"line{number:03}" for number in range(200)]
    stream("\n".join([fence, *rows, fence]) if fence else "\n\n".join(rows), 100, pause=0.002)
    shown = [row.strip() for row in screen.rows() if row.strip()]
    assert shown == rows


def test_answer_that_breaks_off_stays_and_the_cursor_comes_back(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    stretch = terminal_output().stretch()
    stretch.add("```python\nvalue = (1,")
    stretch.end()
    assert screen.text() == " value = (1,"
    assert not screen.screen.cursor.hidden


@pytest.mark.parametrize("size", [5, *range(COLUMNS - 4, COLUMNS + 3), 3 * COLUMNS])
def test_ctrl_c_that_the_terminal_prints_leaves_the_answer_there_once(
    terminal: Callable[..., Screen], size: int
) -> None:
    screen = terminal()
    stretch = terminal_output().stretch()
    stretch.add("x" * size)
    screen.wait_for("x")
    screen.type("^C")
    stretch.end()
    assert screen.text().count("x") == size
    assert "^C" not in screen.text()


@pytest.mark.parametrize("text", ["\x1b[2J\x1b]0;title\x07", "```\n\x1b[2J\n```", "a\rb\x9b31m", "`\x1b[1m`"])
def test_escape_sequences_of_a_model_are_shown_not_obeyed(terminal: Callable[..., Screen], text: str) -> None:
    screen = terminal()
    terminal_output().open().show(quiet_line("before"))
    stream(f"{text} end", 3)
    assert screen.rows()[0] == "before"
    assert "end" in screen.text()
    assert b"\x1b[2J" not in screen.raw
    assert b"\x1b]" not in screen.raw


@pytest.mark.parametrize("text", ["[bold]no[/bold]", "[link=https://e.example]x[/link]", ":smile:", "[/]"])
def test_markup_of_the_terminal_is_text(terminal: Callable[..., Screen], text: str) -> None:
    screen = terminal()
    output = terminal_output()
    output.open().show(quiet_line(text))
    output.open().show(Table([Column("title")], [[Cell(text)]]).view())
    stream(f"`{text}`", 5)
    assert screen.text().count(text) == 3


def test_diff_of_a_call_is_coloured_below_its_line(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    handle = terminal_output().open()
    started = ToolStarted("t", "EditFile", {"path": "a.py"})
    handle.show(call_line(started), final=False)
    diff = "--- a.py\n+++ a.py\n-old\n+new"
    handle.show(call_line(started, ToolEnded("t", "EditFile", "done", False, 0.1, diff, "diff")))
    assert screen.text().startswith("EditFile a.py\n    --- a.py")
    assert screen.text().count("EditFile") == 1
    assert (screen.style("+new").fg, screen.style("-old").fg) == ("brightgreen", "brightred")


def test_failed_call_says_so_on_a_line_of_its_own(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    handle = terminal_output().open()
    started = ToolStarted("t", "ReadFile", {"path": "a.py"})
    handle.show(call_line(started), final=False)
    handle.show(call_line(started, ToolEnded("t", "ReadFile", "no such file", True, 0.1)))
    assert screen.text() == "ReadFile a.py\nReadFile a.py · failed: no such file"
    assert screen.style("failed").fg == "red"


def test_question_shows_the_code_and_reads_the_answer(
    terminal: Callable[..., Screen], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = terminal()
    monkeypatch.setattr("builtins.input", lambda _: "yes")
    event = PermissionAsked("RunPython", "Run this?", "for x in y:\n    print(x)", "python")
    ask(event, terminal_output())
    assert event.answer == "yes"
    assert "RunPython waits for you: Run this?\n    for x in y:\n        print(x)" in screen.text()


def test_table_has_its_heading_set_off(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    table = Table([Column("name"), Column("size", right=True)], [[Cell("x"), Cell("12")]], notes=["a note"])
    terminal_output().open().show(table.view(width=COLUMNS))
    assert screen.text() == table.text(COLUMNS)
    assert screen.style("name").bold
    assert not screen.style("x").bold


def test_views_below_one_another_are_all_shown(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    terminal_output().open().show(joined_view([quiet_line("one"), quiet_line("two")]))
    assert screen.text() == "one\ntwo"


def test_waiting_is_shown_until_something_else_is(terminal: Callable[..., Screen]) -> None:
    screen = terminal()
    output = terminal_output()
    output.wait()
    output.wait()
    screen.wait_for("⠋")
    output.open().show(quiet_line("here"))
    assert screen.text() == "here"
    output.wait()
    output.rest()
    assert screen.text() == "here"
    assert not screen.screen.cursor.hidden


@pytest.mark.parametrize("kind", ["dumb", "unknown", "DUMB"])
def test_dumb_terminal_gets_no_escape_codes(terminal: Callable[..., Screen], kind: str) -> None:
    screen = terminal(kind)
    output = terminal_output()
    output.wait()
    output.open().show(quiet_line("a line"))
    output.open().show(Table([Column("name")], [[Cell("x")]]).view())
    stream(ANSWER, 5)
    output.rest()
    assert b"\x1b" not in screen.raw
    assert "[a line]" in screen.text()
    assert "**March**" in screen.text()


def test_redirected_output_gets_no_escape_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    with (tmp_path / "out").open("w+", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdout", file)
        stream(ANSWER, 5)
        file.seek(0)
        assert file.read() == ANSWER + "\n"


def test_terminal_without_unicode_gets_what_it_has(terminal: Callable[..., Screen]) -> None:
    screen = terminal(encoding="ascii")
    output = terminal_output()
    output.wait()
    output.open().show(quiet_line("café 三月"))
    stream("- naïve", 3)
    assert "caf? ??" in screen.text()
    assert "na?ve" in screen.text()


def test_colours_can_be_turned_off(terminal: Callable[..., Screen], monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal()
    monkeypatch.setenv("NO_COLOR", "1")
    handle = terminal_output().open()
    started = ToolStarted("t", "ReadFile", {"path": "a.py"})
    handle.show(call_line(started, ToolEnded("t", "ReadFile", "no such file", True, 0.1)))
    assert screen.style("failed").fg == "default"
