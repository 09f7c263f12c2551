"""Every request that is built satisfies the Messages API, whatever the history holds."""

import dataclasses
import json
from typing import Any

from histories import any_history
from hypothesis import given
from request_rules import broken_rules

from mewcode_magic.context import RequestBuilder
from mewcode_magic.events import Request
from mewcode_magic.messages import Message


def request_of(messages: list[Message]) -> Request:
    builder = RequestBuilder(system="You are here.", tools=[])
    return builder.build(messages, reminder="<r>context</r>", max_tokens=100)


def body_of(request: Request) -> dict[str, Any]:
    return dataclasses.asdict(request)


def user(content: Any, **kwargs: Any) -> Message:
    return Message(role="user", content=content, **kwargs)


def assistant(content: Any, **kwargs: Any) -> Message:
    return Message(role="assistant", content=content, **kwargs)


def call(name: str = "t1") -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "ReadFile", "input": {"path": "x"}}


def result(name: str = "t1", content: Any = "ok", **kwargs: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **kwargs}


@given(any_history)
def test_request_obeys_every_rule_for_any_history(history: list[Message]) -> None:
    assert broken_rules(body_of(request_of(history))) == []


@given(any_history)
def test_request_keeps_every_prompt_of_any_history(history: list[Message]) -> None:
    prompts = [
        m.content
        for m in history
        if m.role == "user" and isinstance(m.content, str) and m.content.strip() and m.content.isprintable()
    ]
    spoken = [m for m in request_of(history).messages if m["role"] == "user"]
    sent = [b["text"] for m in spoken for b in m["content"] if "text" in b]
    for prompt in prompts:
        assert prompt in sent


def test_request_without_history_holds_the_reminder_alone() -> None:
    request = request_of([])
    assert [m["role"] for m in request.messages] == ["user"]
    assert request.messages[0]["content"][0]["text"] == "<r>context</r>"


def test_injected_blocks_stand_before_what_was_typed() -> None:
    request = request_of([user("hello", injected=[{"type": "text", "text": "notice"}])])
    assert [b["text"] for b in request.messages[0]["content"]] == ["<r>context</r>", "notice", "hello"]


def test_history_that_begins_with_the_assistant_follows_the_reminder() -> None:
    request = request_of([assistant("hello"), user("hi")])
    assert [m["role"] for m in request.messages] == ["user", "assistant", "user"]


def test_signed_thinking_goes_back_unmodified_also_when_it_is_empty() -> None:
    block = {"type": "thinking", "thinking": "", "signature": "abc"}
    request = request_of([user("a"), assistant([block, call()]), user([result()])])
    assert request.messages[1]["content"][0] == block


def test_signed_thinking_that_cannot_be_sent_as_it_is_stays_behind() -> None:
    block = {"type": "thinking", "thinking": "half \ud83d", "signature": "abc"}
    request = request_of([user("a"), assistant([block, call()]), user([result()])])
    assert [b["type"] for b in request.messages[1]["content"]] == ["tool_use"]


def test_repeated_call_ids_are_told_apart_and_results_follow_their_calls() -> None:
    history = [user("a"), assistant([call()]), user([result(content="one")])]
    history += [assistant([call()]), user([result(content="two")])]
    body = body_of(request_of(history))
    assert broken_rules(body) == []
    assert "one" in json.dumps(body)
    assert "two" in json.dumps(body)


def test_empty_result_of_a_failed_call_says_that_it_is_empty() -> None:
    request = request_of([user("a"), assistant([call()]), user([result(content="", is_error=True)])])
    assert request.messages[2]["content"][0]["content"] == "(no output)"


def test_marker_of_an_earlier_request_is_taken_off_every_block() -> None:
    marker = {"cache_control": {"type": "ephemeral"}}
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    blocks = [{"type": "image", "source": source, **marker}, {"type": "text", "text": "look", **marker}]
    request = request_of([user(blocks), assistant([{"type": "text", "text": "1", **marker}]), user("two")])
    marked = [b for m in request.messages for b in m["content"] if "cache_control" in b]
    assert [b["text"] for b in marked] == ["<r>context</r>", "look", "two"]


def test_own_marker_key_inside_a_calls_input_is_kept() -> None:
    tool_use = {**call(), "input": {"cache_control": "no-store"}}
    request = request_of([user("a"), assistant([tool_use]), user([result()])])
    assert request.messages[1]["content"][0]["input"] == {"cache_control": "no-store"}
