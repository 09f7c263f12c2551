"""The stop button in a real kernel, whatever the agent is at: what was said stays, the next turn works."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from live_kernel import LiveKernel, Seen, live_kernel

from mewcode_magic.sessions import SessionStore


def tool(name: str, **arguments: Any) -> list[dict[str, Any]]:
    """Return a reply that says something and calls a tool."""
    return [
        {"type": "text", "text": "I will look."},
        {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments},
    ]


@pytest.fixture
def kernel(project: Path, home: Path, server: ApiServer) -> Iterator[LiveKernel]:
    """A kernel whose agent asks the server."""
    with live_kernel(project) as running:
        running.run("%config MewCode.extract = 'off'")
        yield running


def stop(kernel: LiveKernel, sign: str) -> Seen:
    """Ask, and press the stop button once a sign is seen; the cell ends, and fails without a traceback."""
    kernel.run("%config MewCode.permission_mode = 'auto'")
    pressed: list[float] = []

    def is_seen(seen: Seen) -> bool:
        if sign in seen.plain() + seen.text():
            pressed.append(time.monotonic())
        return bool(pressed)

    seen = kernel.run("%agent go", interrupt_when=is_seen)
    assert time.monotonic() - pressed[0] < 20
    assert [error["traceback"] for error in seen.of("error")] == [["Stopped."]]
    assert "stopped · " in seen.plain()
    return seen


def goes_on(kernel: LiveKernel, server: ApiServer, project: Path) -> list[dict[str, Any]]:
    """Check that the session's file is whole and the next turn works; return what was recorded as stopped."""
    store = SessionStore(project)
    (info,) = store.list()
    history = store.read(info.id)
    assert (history.report.skipped_lines, history.report.dropped_messages) == (0, 0)
    kernel.run("%config MewCode.permission_mode = 'ask'")
    server.reply("Now I know.")
    seen = kernel.run("%agent and now?")
    assert "Now I know." in seen.plain()
    assert "stopped" in str(server.requests[-1].body["messages"][-1]).casefold()
    return [message.to_dict() | {"interrupted": message.interrupted} for message in history.messages]


def test_stream_stays_as_far_as_it_came(kernel: LiveKernel, server: ApiServer, project: Path) -> None:
    server.reply("One word after another. " * 20, fault="stall")
    seen = stop(kernel, "One word")
    assert "One word after another." in seen.plain()
    assert server.hung_up.wait(10)
    answer = goes_on(kernel, server, project)[-1]
    assert answer["interrupted"]
    assert answer["content"][0]["text"].startswith("One word after another.")


def test_code_is_shown_with_what_it_put_out(kernel: LiveKernel, server: ApiServer, project: Path) -> None:
    server.reply(tool("RunPython", code="kept = 1\nprint('began')\nimport time\ntime.sleep(60)"))
    seen = stop(kernel, "began")
    assert "I will look." in seen.plain()
    assert seen.text() == "began\n"
    (line,) = [data["text/html"] for data in seen.shown() if "<b>RunPython</b>" in data.get("text/html", "")]
    assert ">stopped</span>" in line
    assert "time.sleep(60)" in line
    (result,) = goes_on(kernel, server, project)[-1]["content"]
    assert result["is_error"]
    assert result["content"].startswith("Stopped by the user. Up to then:\nbegan")
    assert kernel.value("kept") == 1


def test_command_is_ended_with_all_it_started(kernel: LiveKernel, server: ApiServer, project: Path) -> None:
    command = "echo began; (sleep 61; touch late) & touch started; sleep 61"
    server.reply(tool("Bash", command=command))
    kernel.run("%config MewCode.permission_mode = 'auto'")
    seen = kernel.run(
        "%agent go", interrupt_when=lambda seen: "Bash" in str(seen.shown()) and comes(project / "started")
    )
    assert [error["traceback"] for error in seen.of("error")] == [["Stopped."]]
    (line,) = [data["text/html"] for data in seen.shown() if "<b>Bash</b>" in data.get("text/html", "")]
    assert ">stopped</span>" in line
    assert "touch late" in line
    running = [path for path in Path("/proc").glob("[0-9]*/cmdline") if command_of(path) == "sleep 61"]
    assert running == []
    (result,) = goes_on(kernel, server, project)[-1]["content"]
    assert "began" in result["content"]


def comes(path: Path) -> bool:
    """Wait for a file."""
    while not path.exists():
        time.sleep(0.05)
    return True


def command_of(path: Path) -> str:
    try:
        return path.read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:  # it has ended
        return ""


def test_question_waits_no_longer(kernel: LiveKernel, server: ApiServer, project: Path) -> None:
    server.reply(tool("Bash", command="touch done"))

    def answers() -> Iterator[str]:
        kernel.interrupt()
        time.sleep(0.5)
        yield ""

    seen = kernel.run("%agent go", answers=answers())
    assert [error["traceback"] for error in seen.of("error")] == [["Stopped."]]
    assert "[Bash: not answered]" in seen.plain()
    assert "waits for you" not in seen.plain()
    assert not (project / "done").exists()
    goes_on(kernel, server, project)
