"""Code that the agent runs and proposes in a terminal's IPython."""

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from live_kernel import call

from mewcode_magic.sessions import SessionStore

# A child in a terminal of its own is made by forking, of which newer Pythons warn where threads run.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


class Terminal:
    """IPython in a terminal, with the extension and `scripted_agent` loaded."""

    def __init__(self, folder: Path, *options: str, kind: str = "dumb") -> None:
        self.child = pexpect.spawn(
            sys.executable,
            [
                "-m",
                "IPython",
                "--ext=mewcode",
                "--no-banner",
                "--colors=NoColor",
                "--no-confirm-exit",
                *options,
            ],
            cwd=str(folder),
            env=os.environ
            | {
                "TERM": kind,
                "PROMPT_TOOLKIT_NO_CPR": "1",
                # The package that is tested, and the tests' own modules.
                "PYTHONPATH": os.pathsep.join(
                    map(str, (Path(__file__).parents[2], Path(__file__).parents[1]))
                ),
                "MEWCODE_PERMISSION_MODE": "auto",
            },
            encoding="utf-8",
            dimensions=(40, 200),
            timeout=30,
            echo=False,
        )
        self.number = 0
        self.prompt()
        self.type("import scripted_agent")

    def type(self, line: str) -> str:
        """Type a line and return what comes before the next prompt."""
        self.child.sendline(line)
        return self.prompt()

    def prompt(self) -> str:
        """Return what comes before the next prompt."""
        self.number += 1
        self.child.expect_exact(f"In [{self.number}]:")
        return re.sub("\r+\n", "\n", self.child.before)

    def script(self, *replies: str) -> None:
        """Script the agent's replies: literals."""
        self.type(f"scripted_agent.script({', '.join(replies)})")


@pytest.fixture
def terminal(project: Path, home: Path) -> Iterator[Terminal]:
    made = Terminal(project, "--simple-prompt")
    yield made
    made.child.close(force=True)


def test_output_and_errors_are_seen_and_told_and_the_books_stay(terminal: Terminal) -> None:
    terminal.type("'mine'")
    code = "print('printed')\n!echo from a command\nfor _ in range(2): pass\nvalue = 5\nvalue + 1"
    terminal.script(call("RunPython", code=code), call("RunPython", code="1 / 0"), "'That was it.'")
    seen = terminal.type("%agent go")
    assert "printed\nfrom a command\n6\n" in seen
    assert seen.count("ZeroDivisionError: division by zero") == 1
    assert "That was it." in seen
    assert "'mine'" in terminal.type("_")
    assert "division by zero" in terminal.type("print(scripted_agent.told()[0]['content'])")
    told = "scripted_agent._MODELS[-1].requests[1].messages[-1]['content'][0]['content']"
    assert "printed\nfrom a command\nresult:\n6\nBound: value (int)" in terminal.type(f"print({told})")


def test_exit_in_the_agents_code_leaves_the_terminal_open(terminal: Terminal) -> None:
    terminal.script(
        call("RunPython", code="exit()"), call("RunPython", code="import os; os.close(1)"), "'Done.'"
    )
    assert "Done." in terminal.type("%agent go")
    assert "still here" in terminal.type("print('still here')")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("RunPython", {"code": "open('began', 'w').close()\nimport time\ntime.sleep(64)"}),
        ("Bash", {"command": "touch began; sleep 64"}),
    ],
)
def test_interrupt_ends_code_and_commands_and_the_next_turn_works(
    terminal: Terminal, project: Path, tool: str, arguments: dict[str, str]
) -> None:
    terminal.script(call(tool, **arguments), "'That was it.'")
    terminal.child.sendline("%agent go")
    while not (project / "began").exists():
        time.sleep(0.05)
    terminal.child.sendintr()
    seen = terminal.prompt()
    assert " - stopped]" in seen
    assert "[stopped · scripted" in seen
    assert seen.rstrip().endswith("Stopped.")
    assert "Traceback" not in seen
    assert "That was it." in terminal.type("%agent and now?")
    (info,) = SessionStore(project).list()
    assert SessionStore(project).read(info.id).report.dropped_messages == 0


@pytest.mark.parametrize(("mode", "asks"), [("ask", True), ("auto", False)])
def test_diff_is_printed_once_asked_about_or_not(
    terminal: Terminal, project: Path, mode: str, *, asks: bool
) -> None:
    terminal.type(f"%config MewCode.permission_mode = '{mode}'")
    terminal.script(call("WriteFile", path="a.py", content="value = 1\n"), "'Written.'")
    terminal.child.sendline("%agent go")
    seen = ""
    if asks:
        terminal.child.expect_exact("or what to do instead: ")
        seen = terminal.child.before
        terminal.child.sendline("yes")
    seen += terminal.prompt()
    assert seen.count("+value = 1") == 1
    assert "Written." in seen
    assert (project / "a.py").exists()


@pytest.mark.parametrize("options", [["--simple-prompt"], []], ids=["simple", "dumb"])
def test_prompt_that_shows_no_text_of_ours_is_given_none(
    project: Path, home: Path, options: list[str]
) -> None:
    terminal = Terminal(project, *options)
    try:
        terminal.script(call("ProposeCell", code="x = 6 * 7"), "'That was it.'")
        assert "```python\nx = 6 * 7\n```\n" in terminal.type("%agent go")
        terminal.child.sendline("")
        terminal.child.sendline("'x' in globals()")
        terminal.child.expect_exact("False")
    finally:
        terminal.child.close(force=True)


def test_proposal_is_the_text_of_the_next_prompt(project: Path, home: Path) -> None:
    terminal = Terminal(project, kind="xterm")
    try:
        terminal.script(
            call("ProposeCell", code="x = 6 * 7"), call("ProposeCell", code="x"), "'That was it.'"
        )
        terminal.type("%agent go")
        terminal.child.expect_exact("x = 6 * 7")
        terminal.child.send("\x1b\r")  # Escape, Enter: run all lines
        terminal.child.expect_exact("42")
    finally:
        terminal.child.close(force=True)
