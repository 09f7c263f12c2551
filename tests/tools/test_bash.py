"""`Bash` runs commands in the project, keeps what they print within bounds, and leaves nothing hanging."""

import _thread
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from credential_samples import UPPER, made
from tool_calls import run_tool

from mewcode_magic.events import Event, PermissionAsked
from mewcode_magic.tools import Bash, CallStopped, ToolContext, ToolResult

LINUX = sys.platform == "linux"


@pytest.fixture(autouse=True)
def _allowed(context: ToolContext) -> None:
    context.settings.permission_mode = "auto"


def bash(context: ToolContext, command: str, timeout: float | None = None) -> ToolResult:
    return run_tool(Bash(), context, command=command, timeout=timeout)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"


def wait_for(condition: Callable[[], object]) -> bool:
    """Whether a condition comes true within ten seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def pid_in(path: Path) -> int:
    assert wait_for(lambda: path.exists() and path.read_text(encoding="utf-8").strip())
    return int(path.read_text(encoding="utf-8"))


def interrupt_when(condition: Callable[[], object]) -> threading.Thread:
    """Interrupt the main thread, as the stop button does, once a condition is true."""

    def interrupt() -> None:
        wait_for(condition)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    return thread


def test_output_and_errors_come_in_their_order_from_the_project_folder(
    context: ToolContext, project: Path
) -> None:
    result = bash(context, "pwd; echo one; echo two >&2; echo three")
    assert (result.text, result.is_error) == (f"{project}\none\ntwo\nthree", False)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo a; exit 3", "exit status 3\na"),
        ("kill -9 $$", f"ended by signal 9 ({signal.strsignal(9)})\n(no output)"),
        ("exec 1>&- 2>&-; exit 4", "exit status 4\n(no output)"),
        ("exec false", "exit status 1\n(no output)"),
        ("no-such-command-here 2>/dev/null", "exit status 127\n(no output)"),
    ],
)
def test_command_that_fails_is_an_error_result_with_how_it_ended(
    context: ToolContext, command: str, text: str
) -> None:
    assert bash(context, command) == ToolResult(text, is_error=True, detail=command, language="bash")


def test_command_that_prints_nothing_says_so(context: ToolContext) -> None:
    assert bash(context, "true").text == "(no output)"


def test_input_is_empty(context: ToolContext) -> None:
    assert bash(context, "cat; read -r x || echo none").text == "none"


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        (r"\033[1;31mred\033[0m \033]0;title\007x", "red x"),
        (r"\033]8;;http://a\033\\link\033]8;;\033\\", "link"),
        (r" 10%%\r 20%%\r100%%\ndone", "100%\ndone"),
        (r"10%%\r20%%\r", "20%"),
        (r"a\r\nb\r\n", "a\nb"),
        (r"N\bNA\bAME", "NAME"),
        (r"a\000b\001c\377d", "abc\N{REPLACEMENT CHARACTER}d"),
        (r"\344\275\240\345\245\275", "你好"),
        (r"a\tb\n\n\n", "a\tb"),
    ],
)
def test_output_is_what_a_terminal_would_end_up_with(context: ToolContext, printed: str, text: str) -> None:
    assert bash(context, f"printf 'x\\n{printed}'").text == f"x\n{text}"


def test_character_that_arrives_in_two_pieces_is_whole(context: ToolContext) -> None:
    assert (
        bash(context, r"printf '\344\275'; sleep 0.1; printf '\240\r1'; sleep 0.1; printf '\r2\n'").text
        == "2"
    )


def test_ends_of_long_output_are_kept_and_the_rest_is_counted(context: ToolContext) -> None:
    context.settings.bash_output_chars = 2_000
    text = bash(context, "seq 1 100000").text
    assert len(text) < 2_100
    assert text.startswith("1\n2\n")
    assert text.endswith("\n99999\n100000")
    (note,) = (line for line in text.splitlines() if not line.isdigit())
    shown = sum(len(line) + 1 for line in text.splitlines() if line != note)
    assert note == f"[… {588_895 - shown:,} characters are left out here …]"


@pytest.mark.parametrize("printed", ["yes 0123456789", "tr '\\0' x </dev/zero", "tr '\\0' '\\r' </dev/zero"])
def test_endless_output_does_not_fill_the_memory(context: ToolContext, printed: str) -> None:
    bash(context, "echo warm")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = bash(context, f"{printed} | head -c 50000000").text
    assert len(text) < 41_000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000 * (1 if LINUX else 1_024)


def test_command_that_takes_too_long_is_ended_with_all_it_started(
    context: ToolContext, project: Path
) -> None:
    result = bash(context, "sleep 60 & echo $! >pid; echo begun; sleep 60; echo never", timeout=0.5)
    assert result.is_error
    assert result.text == "stopped after 0.5 seconds (give a longer timeout, or put & behind it)\nbegun"
    assert wait_for(lambda: not is_alive(pid_in(project / "pid")))


def test_setting_is_the_timeout_of_a_call_without_one(context: ToolContext) -> None:
    context.settings.bash_timeout_seconds = 0.3
    assert "stopped after 0.3 seconds" in bash(context, "sleep 60").text


def test_command_that_ignores_being_asked_is_ended_nevertheless(context: ToolContext, project: Path) -> None:
    command = "trap '' TERM; echo $$ >pid; echo here; while :; do sleep 0.05; done"
    assert bash(context, command, timeout=0.5).text.endswith("here")
    assert wait_for(lambda: not is_alive(pid_in(project / "pid")))


def test_command_that_is_asked_may_clean_up_and_say_so(context: ToolContext) -> None:
    command = "trap 'echo cleaned; exit' TERM; while :; do sleep 0.05; done"
    assert bash(context, command, timeout=0.5).text.endswith("cleaned")


def test_process_that_left_the_group_is_ended_too_on_linux(context: ToolContext, project: Path) -> None:
    leaves = "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    bash(context, f'("{sys.executable}" -c "{leaves}" &); sleep 60', timeout=2)
    pid = pid_in(project / "pid")
    if not LINUX:  # where no environment can be read
        os.kill(pid, signal.SIGKILL)
    assert wait_for(lambda: not is_alive(pid))


def test_user_who_stops_a_call_ends_it_and_keeps_what_was_printed(
    context: ToolContext, project: Path
) -> None:
    thread = interrupt_when((project / "pid").exists)
    with pytest.raises(CallStopped) as stopped:
        bash(context, "echo begun; sleep 60 & echo $! >pid; sleep 60")
    thread.join()
    assert stopped.value.result.is_error
    assert stopped.value.result.text.endswith("\nbegun")
    assert wait_for(lambda: not is_alive(pid_in(project / "pid")))


def test_process_in_the_background_keeps_nobody_waiting_and_goes_on(
    context: ToolContext, project: Path
) -> None:
    started = time.monotonic()
    command = "(echo $BASHPID >pid; while [ ! -e stop ]; do echo x; sleep 0.05; done; echo y >end) & echo hi"
    text = bash(context, command).text
    assert time.monotonic() - started < 10
    assert "hi" in text.split()
    pid = pid_in(project / "pid")
    time.sleep(0.3)  # it prints to a pipe that nobody but a thread reads any more
    assert is_alive(pid)
    (project / "stop").touch()
    assert wait_for((project / "end").exists)
    assert wait_for(lambda: not any(t.name == "mewcode-output" for t in threading.enumerate()))


def test_flood_from_the_background_does_not_hold_the_call(context: ToolContext, project: Path) -> None:
    text = bash(context, "yes & echo $! >pid; exit 0").text
    os.kill(pid_in(project / "pid"), signal.SIGKILL)
    assert len(text) < 41_000


def test_folder_that_the_command_deletes_hurts_nothing_and_is_missed_next_time(
    context: ToolContext, project: Path
) -> None:
    assert bash(context, 'rm -r "$PWD"; echo gone').text == "gone"
    result = bash(context, "echo here")
    assert result.is_error
    assert "is not there any more" in result.text


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("echo a\0b", "NUL"),
        ("echo \ud800", "half of a character"),
        ("true" + " " * 20_000 + "; rm x", "longer than 20,000 characters"),
    ],
    ids=["empty", "blank", "nul", "surrogate", "long"],
)
def test_text_that_is_no_command_is_an_error_result(context: ToolContext, command: str, why: str) -> None:
    result = bash(context, command)
    assert result.is_error
    assert why in result.text


@pytest.mark.parametrize("timeout", [0, -1, 1e9])
def test_timeout_out_of_bounds_is_an_error_result(context: ToolContext, timeout: float) -> None:
    assert "arguments do not fit" in bash(context, "true", timeout).text


def test_shell_that_is_missing_is_an_error_result(
    context: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert bash(context, "echo by sh").text == "by sh"
    (tmp_path / "bin" / "bash").write_text("no program", encoding="utf-8")
    (tmp_path / "bin" / "bash").chmod(0o700)
    assert bash(context, "echo").is_error


def test_command_does_not_get_the_key_and_no_output_shows_it(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-no-known-form")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-one")
    monkeypatch.setenv("MY_OWN", "passed on")
    (project / "notes").write_text("a-key-of-no-known-form and another-one", encoding="utf-8")
    text = bash(context, 'echo "[$ANTHROPIC_API_KEY$ANTHROPIC_AUTH_TOKEN]" "$MY_OWN"; cat notes').text
    assert text == "[] passed on\n[credential: API key] and [credential: API key]"


def test_credentials_in_output_are_masked(context: ToolContext) -> None:
    key = "AKIA" + made(UPPER, 16)
    assert bash(context, f"echo the key is {key}").text == "the key is [credential: AWS access key]"


def test_nobody_is_asked_for_pages_passwords_or_colours(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("PAGER", "less")
    text = bash(context, 'echo "$PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $NO_COLOR $TERM [$FORCE_COLOR]"').text
    assert text == "cat cat 0 1 dumb []"


def test_output_is_kept_back_where_values_are_not_shared(context: ToolContext) -> None:
    context.settings.share_values = False
    assert "secret" not in bash(context, "echo secret").text
    assert bash(context, "echo secret").text.startswith("exit status 0 ")
    failed = bash(context, "echo secret; exit 3")
    assert failed.is_error
    assert failed.text.startswith("exit status 3\n")
    assert "secret" not in failed.text


def test_question_shows_the_whole_command_and_offers_its_rule(context: ToolContext) -> None:
    context.settings.permission_mode = "ask"
    asked: list[Event] = []
    run_tool(Bash(), context, answer="no", asked=asked, command="git status --short")
    (event,) = asked
    assert isinstance(event, PermissionAsked)
    assert (event.detail, event.language) == ("git status --short", "bash")
    assert event.always == "Bash(git status *)"


def test_always_spares_the_question_for_the_like(context: ToolContext, project: Path) -> None:
    context.settings.permission_mode = "ask"
    shutil.rmtree(project / ".git")
    asked: list[Event] = []
    run_tool(Bash(), context, answer="always", asked=asked, command="git status")
    run_tool(Bash(), context, answer="no", asked=asked, command="git status --short")
    assert len(asked) == 1
    run_tool(Bash(), context, answer="no", asked=asked, command="git status; touch made")
    assert len(asked) == 2
    assert not (project / "made").exists()


def test_several_rules_together_allow_what_each_covers_in_part(context: ToolContext) -> None:
    context.settings.permission_mode = "ask"
    context.settings.allow = ["Bash(echo *)", "Bash(cat)"]
    assert bash(context, "echo a | cat && echo b").text == "a\nb"
    assert bash(context, "echo a | cat -n").is_error
    assert bash(context, "echo $(cat)").is_error


def test_deny_rule_holds_wherever_the_command_stands(context: ToolContext, project: Path) -> None:
    context.settings.deny = ["Bash(touch *)"]
    for command in (
        "touch a",
        "echo $(touch a)",
        "true; /usr/bin/touch a",
        "sh -c 'touch a'",
        "case a in a) touch a;; esac",
    ):
        assert "forbids it" in bash(context, command).text
    assert not (project / "a").exists()
    assert bash(context, "echo touch a").text == "touch a"


def test_read_only_runs_nothing(context: ToolContext) -> None:
    context.settings.permission_mode = "read-only"
    assert "read-only" in bash(context, "echo a").text
