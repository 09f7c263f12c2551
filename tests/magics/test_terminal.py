"""The magics in a terminal's IPython, typed line by line."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from api_server import ApiServer

from mewcode_magic.sessions import SessionStore

# A child in a terminal of its own is made by forking, of which newer Pythons warn where threads run.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


class Terminal:
    """IPython in a terminal of 100 columns."""

    def __init__(self, folder: Path, kind: str = "dumb") -> None:
        options = ["-m", "IPython", "--ext=mewcode", "--no-banner", "--simple-prompt", "--colors=NoColor"]
        options.append("--no-confirm-exit")
        self._child = pexpect.spawn(
            sys.executable,
            options,
            cwd=str(folder),
            env=os.environ | {"TERM": kind},
            encoding="utf-8",
            dimensions=(40, 100),
            timeout=60,
            echo=False,
        )
        self._number = 0
        self._prompt()

    def type(self, *lines: str) -> str:
        """Type lines and return what comes before the next prompt."""
        for line in lines:
            self._child.sendline(line)
        return self._prompt()

    def interrupt(self, line: str, *, after: str) -> str:
        """Type a line, press Ctrl-C when a text appears, and return what comes before the next prompt."""
        self._child.sendline(line)
        self._child.expect_exact(after)
        self._child.sendintr()
        return self._prompt()

    def leave(self) -> int:
        """Leave IPython, and return its exit code."""
        self._child.sendline("exit")
        self._child.expect(pexpect.EOF)
        self._child.close()
        return self._child.exitstatus

    def close(self) -> None:
        self._child.close(force=True)

    def _prompt(self) -> str:
        self._number += 1
        self._child.expect_exact(f"In [{self._number}]: ")
        return self._child.before.replace("\r\n", "\n")


@pytest.fixture
def terminal(project: Path, home: Path) -> Iterator[Terminal]:
    made = Terminal(project)
    yield made
    made.close()


def test_conversation_is_plain_text_and_outlives_the_process(terminal: Terminal, project: Path) -> None:
    answer = terminal.type("%agent what is {this}, and 'that?")
    assert "Offline" in answer
    assert "[offline · no tokens]" in answer
    assert "<" not in answer
    assert "what is" in terminal.type("%sessions")
    assert terminal.leave() == 0
    (info,) = SessionStore(project).list()
    assert info.messages == 2
    again = Terminal(project)
    assert f"Resumed {info.id}" in again.type("%resume")
    assert again.leave() == 0


def test_cell_magic_reads_on_until_an_empty_line(terminal: Terminal, project: Path) -> None:
    assert "Offline" in terminal.type("%%agent why is", "this so?", "", "")
    assert "Offline" in terminal.type("%%agent why?", "", "")
    store = SessionStore(project)
    asked = [m.text() for m in store.transcript(store.list()[0].id) if m.is_prompt]
    assert asked == ["why is\nthis so?", "why?"]


def test_lists_fit_the_terminal(terminal: Terminal) -> None:
    terminal.type("%remember I prefer " + "very " * 40 + "long lines")
    table, _, folders = terminal.type("%memory").strip().rpartition("\n")
    assert "i-prefer-very" in table
    assert max(len(line) for line in table.splitlines()) <= 100
    assert "1 in" in folders  # with their paths, however long those are


def test_errors_and_help_are_short(terminal: Terminal) -> None:
    assert terminal.type("%agent --verbose").strip().count("\n") == 0
    assert "Docstring:" in terminal.type("%agent?")


@pytest.fixture
def styled(project: Path, home: Path, server: ApiServer) -> Iterator[Terminal]:
    """A terminal that has styles, and a model that answers over the network."""
    made = Terminal(project, "xterm-256color")
    yield made
    made.close()


def test_terminal_with_styles_shows_markdown_and_tables(styled: Terminal, server: ApiServer) -> None:
    server.reply("It is **strong**.")
    answer = styled.type("%agent how is it?")
    assert "\x1b[1mstrong\x1b[0m." in answer
    assert "**" not in answer
    assert "\x1b[1m" in styled.type("%sessions")


def test_ctrl_c_keeps_what_was_said_and_the_next_prompt_works(
    styled: Terminal, server: ApiServer, project: Path
) -> None:
    server.reply("It stalls in the middle of this sentence.", fault="stall")
    server.reply("Again.")
    seen = styled.interrupt("%agent go", after="It stalls")
    assert "\x1b[?25h" in seen  # the cursor is back
    assert seen.rstrip().endswith("Stopped.")
    assert "Again." in styled.type("%agent go on")
    store = SessionStore(project)
    said = [m for m in store.transcript(store.list()[0].id) if m.role == "assistant"]
    assert "It stalls in the middle of this sentence.".startswith(said[0].text())
    assert [m.interrupted for m in said] == [True, False]
