"""A whole conversation with Claude over HTTP, on real files: the server refuses what the API would refuse."""

import itertools
import json
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from api_server import ApiServer
from histories import blocks_of, breakpoints_of

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.errors import ContextTooLong, MewCodeError, Overloaded, ReplyCutOff
from mewcode_magic.events import CompactionEnded, CompactionStarted, Request, TextDelta, ToolEnded, TurnEnded
from mewcode_magic.memory import MemoryStore
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


def test_each_request_repeats_the_one_before_over_calls_faults_recall_and_a_resume(
    server: ApiServer, project: Path, home: Path
) -> None:
    (project / "notes.txt").write_text("a line\n" * 300)
    settings = MewCode(extract="off", recall_seconds=0)
    mew = Mew(project, home, settings=settings)
    mew.remember("I prefer polars over pandas for dataframes")
    many = [
        {
            "type": "tool_use",
            "id": f"toolu_{n}",
            "name": "ReadFile",
            "input": {"path": "notes.txt", "limit": 2},
        }
        for n in range(60)
    ]
    server.reply(many)
    server.reply("Read.")
    list(mew.ask("read my notes"))
    server.refuse(400, "invalid_request_error", "no")
    with pytest.raises(MewCodeError):
        list(mew.ask("which dataframes library?"))
    server.reply([{"type": "text", "text": "a pause"}], stop_reason="pause_turn")
    server.reply("and an end.")
    list(mew.ask("and now?"))
    server.reply("half of an answer that is cut off", fault="cut")
    with pytest.raises(ReplyCutOff):
        list(mew.ask("more"))
    session_id = mew.session.id
    mew.close()
    mew = Mew(project, home, settings=settings)
    mew.resume(session_id)
    server.reply("Still here.")
    list(mew.ask("still there?"))
    mew.close()

    sent = [Request(seen.body["system"], seen.body["messages"], [], 1) for seen in server.requests]
    assert len(sent) == 7
    assert len({json.dumps(seen.body["tools"]) for seen in server.requests}) == 1
    for earlier, later in itertools.pairwise(sent):
        assert blocks_of(later)[: len(blocks_of(earlier))] == blocks_of(earlier)
        assert any(0 <= place - len(blocks_of(earlier)) + 1 <= 20 for place in breakpoints_of(later))


def memory_call(number: int, command: str, **arguments: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "memory",
        "input": {"command": command, **arguments},
    }


def test_model_creates_views_edits_and_deletes_memories_with_the_official_tool(
    server: ApiServer, project: Path, home: Path
) -> None:
    mew = Mew(project, home, settings=MewCode(memory_tool="anthropic"))
    path, file = "/memories/user/metric_units.md", home / "memory" / "metric_units.md"
    text = "---\nname: units\ndescription: when units matter\ntype: user\n---\n\nMetric, never imperial.\n"
    server.reply([memory_call(1, "view", path="/memories")])
    server.reply([memory_call(2, "create", path=path, file_text=text)])
    server.reply([memory_call(3, "view", path=path)])
    server.reply("Noted.")
    ended = [e for e in mew.ask("remember that I like metric units") if isinstance(e, ToolEnded)]
    assert [e.is_error for e in ended] == [False] * 3
    assert ended[1].result == f"File created successfully at: {path}"
    assert "Metric, never imperial." in ended[2].result
    assert "(metric_units.md) - when units matter" in (home / "memory" / "MEMORY.md").read_text("utf-8")

    server.reply([memory_call(4, "str_replace", path=path, old_str="Metric,", new_str="SI units,")])
    server.reply("Changed.")
    list(mew.ask("SI, to be exact"))
    assert "SI units, never imperial." in file.read_text("utf-8")

    other = MemoryStore(project, home)
    other.save(replace(other.list()[0], body="Imperial after all."))
    server.reply([memory_call(5, "delete", path=path)])
    server.reply("Forgotten.")
    list(mew.ask("forget that"))
    assert not file.exists()
    server.reply("Nothing.")
    list(mew.ask("what do you know?"))
    mew.close()

    tools = [seen.body["tools"] for seen in server.requests]
    assert tools[0][0] == {"type": "memory_20250818", "name": "memory"}
    assert all(sent == tools[0] for sent in tools)
    assert "anthropic-beta" not in server.requests[0].headers
    system = server.requests[0].body["system"][0]["text"]
    assert "/memories/user" in system
    assert "Remember saves" not in system
    # What the agent did itself is no news to it; what another process did is.
    news = [str(m) for m in server.requests[-1].body["messages"] if "Changed user memory" in str(m)]
    assert len(news) == 1
    assert "forget that" in news[0]
    assert "is gone" not in str(server.requests[-1].body["messages"])
    # It saved in the first three turns, so they are not searched for memories; the fourth is.
    assert len(server.queries["extract"]) == 1


def test_tools_and_system_prompt_stay_for_a_session_whatever_the_setting_becomes(
    server: ApiServer, project: Path, home: Path
) -> None:
    settings = MewCode(memory_tool="anthropic")
    mew = Mew(project, home, settings=settings)
    for _ in range(3):
        server.reply("ok")
    list(mew.ask("hello"))
    settings.memory_tool = "mewcode"
    list(mew.ask("still there?"))
    mew.new()
    list(mew.ask("hello again"))
    mew.close()
    names = [[tool["name"] for tool in seen.body["tools"]] for seen in server.requests]
    assert [name[0] for name in names] == ["memory", "memory", "Remember"]
    assert names[0][1:] == names[1][1:] == names[2][1:]
    systems = [seen.body["system"] for seen in server.requests]
    assert systems[0] == systems[1] != systems[2]


def test_refused_command_is_a_result_that_the_model_can_act_on(
    server: ApiServer, project: Path, home: Path
) -> None:
    mew = Mew(project, home, settings=MewCode(memory_tool="anthropic"))
    server.reply([memory_call(1, "view", path="/memories/%2e%2e%2fsecret.md")])
    server.reply(
        [memory_call(2, "create", path="/memories/user/a.md", file_text="---\ntype: project\n---\nx")]
    )
    server.reply([memory_call(3, "shred", path="/memories")])
    server.reply("I cannot.")
    assert list(mew.ask("try"))[-1].text == "I cannot."
    mew.close()
    results = [
        block
        for message in server.requests[-1].body["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert all(result["is_error"] for result in results)
    for result, said in zip(results, ("would escape", "put it there", "do not fit"), strict=True):
        assert said in result["content"]


def test_offline_answers_save_with_the_official_tool_where_it_is_the_one(project: Path, home: Path) -> None:
    mew = Mew(project, home, model="offline", settings=MewCode(memory_tool="anthropic", extract="off"))
    prompts = (
        "remember that we deploy to production every Tuesday",
        "remember that we deploy to production every Tuesday at noon",
        "remember: I prefer tea",
        "remember: I prefer tea",
    )
    ended = [e for prompt in prompts for e in mew.ask(prompt) if isinstance(e, ToolEnded)]
    assert [(e.name, e.is_error) for e in ended] == [("memory", False)] * 3 + [("memory", True)]
    assert "says this already" in ended[-1].result
    assert {(m.type, m.body) for m in mew.memory.list()} == {
        ("project", "we deploy to production every Tuesday"),
        ("project", "we deploy to production every Tuesday at noon"),
        ("user", "I prefer tea"),
    }
    assert "I prefer tea" in list(mew.ask("what do you remember?"))[-1].text
    mew.close()


def test_request_that_the_server_finds_too_long_is_compacted_and_sent_again(
    server: ApiServer, project: Path, home: Path
) -> None:
    mew = Mew(project, home, settings=MewCode(recall=False, extract="off"))
    for number in range(8):
        server.reply(f"answer {number} " + "words " * 2_000)
        list(mew.ask(f"prompt {number}"))
    too_long = "prompt is too long: 208310 tokens > 200000 maximum"
    server.refuse(400, "invalid_request_error", too_long)
    server.refuse(413, "request_too_large", "Request exceeds the maximum size", to="compact")
    server.reply("The word is plinth.", to="compact")
    server.reply("Plinth.")
    events = list(mew.ask("which word?"))
    assert events[-1].text == "Plinth."
    assert [e.failure for e in events if isinstance(e, CompactionEnded)] == [""]
    first, second = server.queries["compact"]
    assert len(str(second.body)) < len(str(first.body))
    sent = str(server.requests[-1].body["messages"])
    assert ("The word is plinth." in sent, "prompt 0" in sent, "which word?" in sent) == (True, False, True)

    server.refuse(400, "invalid_request_error", too_long)
    with pytest.raises(ContextTooLong, match="%compact"):
        list(mew.ask("and again?"))
    mew.close()


def test_interrupt_in_a_stalled_summary_leaves_the_conversation_and_the_connection_usable(
    server: ApiServer, project: Path, home: Path
) -> None:
    mew = Mew(project, home, settings=MewCode(recall=False, extract="off"))
    for number in range(8):
        server.reply(f"answer {number} " + "words " * 2_000)
        list(mew.ask(f"prompt {number}"))
    before = list(mew.session.messages)
    server.reply("A summary that never", fault="stall", to="compact")
    events = mew.compact("numbers")
    assert isinstance(next(events), CompactionStarted)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(events)
    assert server.hung_up.wait(5)
    assert mew.session.messages == before
    assert not mew.sessions.read(mew.session.id).report.boundary
    server.reply("The word is plinth.", to="compact")
    assert [type(event) for event in mew.compact()] == [CompactionStarted, CompactionEnded]
    mew.close()
