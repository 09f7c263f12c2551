"""A whole conversation with Claude over HTTP, on real files: the server refuses what the API would refuse."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from api_server import ApiServer

from mewcode_magic.app import Mew
from mewcode_magic.errors import Overloaded, ReplyCutOff
from mewcode_magic.events import TextDelta, ToolEnded, TurnEnded
from mewcode_magic.messages import Usage


def call(**arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": "Remember", "input": arguments}


def test_conversation_with_tools_faults_and_a_resume_is_accepted_throughout(
    server: ApiServer, project: Path, home: Path
) -> None:
    mew = Mew(project, home)
    note = call(action="save", type="user", name="units", description="when units matter", body="Metric.")
    server.reply([note])
    server.reply("Noted.")
    events = list(mew.ask("remember that I like metric units"))
    assert [e.is_error for e in events if isinstance(e, ToolEnded)] == [False]
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Noted."
    assert (home / "memory" / "units.md").is_file()

    server.reply("half of an answer that is cut off", fault="cut")
    with pytest.raises(ReplyCutOff):
        list(mew.ask("and now?"))
    assert mew.session.messages[-1].interrupted

    session_id = mew.session.id
    mew.close()
    mew = Mew(project, home)
    mew.resume(session_id)
    server.reply("Metric.")
    assert list(mew.ask("which units do I like?"))[-1].text == "Metric."
    last = server.requests[-1].body["messages"]
    assert [m["role"] for m in last] == ["user", "assistant"] * 3 + ["user"]
    assert "stopped before its end" in str(last[-1])
    mew.close()


def test_cached_tokens_are_reported(server: ApiServer, project: Path, home: Path) -> None:
    mew = Mew(project, home)
    usage = Usage(12, 3, 200, 4_000)
    server.reply("ok", usage=msgspec.to_builtins(usage))
    ended = list(mew.ask("hello"))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.usage == usage
    assert mew.session.messages[-1].usage == usage
    mew.close()


def test_error_of_the_server_leaves_the_prompt_recorded(server: ApiServer, project: Path, home: Path) -> None:
    mew = Mew(project, home)
    server.reply("partly", fault="error")
    with pytest.raises(Overloaded):
        list(mew.ask("hello"))
    server.reply("ok")
    assert list(mew.ask("again"))[-1].text == "ok"
    mew.close()


def test_key_stands_in_no_file(server: ApiServer, project: Path, home: Path) -> None:
    mew = Mew(project, home)
    server.reply("ok")
    list(mew.ask("hello"))
    mew.close()
    files = [p for folder in (project, home) for p in folder.rglob("*") if p.is_file()]
    assert files
    assert not any(b"sk-test" in p.read_bytes() for p in files)
