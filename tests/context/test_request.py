"""Every request that is built satisfies the Messages API, whatever the history holds."""

import dataclasses
import functools
import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
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


texts = st.text(st.characters(), max_size=12) | st.sampled_from(["", " ", "\ud83d", "a\0b", "ok"])
ids = st.sampled_from(["t1", "t2", "t3", "call 4!"])
names = st.sampled_from(["ReadFile", "bad name", "x" * 70, ""])
text_blocks = st.builds(lambda t: {"type": "text", "text": t}, texts)
images = st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "aGk="}},
        {"type": "image"},
    ]
)
thinking = st.sampled_from(
    [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "half \ud83d", "signature": "s"},
        {"type": "thinking", "thinking": "a\0b", "signature": "s"},
        {"type": "redacted_thinking", "data": "xyz"},
    ]
)
deep: Any = functools.reduce(lambda inner, _: {"a": [inner]}, range(400), "x")
values = texts | st.just(deep) | st.sampled_from([math.inf, -math.inf, math.nan, 10**30])
calls = st.builds(
    lambda i, n, v: {"type": "tool_use", "id": i, "name": n, "input": {"a": v}}, ids, names, values
)
results = st.builds(
    lambda i, c, e: {"type": "tool_result", "tool_use_id": i, "content": c, "is_error": e},
    ids,
    texts | st.lists(text_blocks | images, max_size=2) | st.none(),
    st.booleans(),
)
any_block = text_blocks | images | thinking | calls | results
messages = st.builds(
    lambda role, content, injected: Message(role=role, content=content, injected=injected),
    st.sampled_from(["user", "assistant"]),
    texts | st.lists(any_block, max_size=4),
    st.just([]) | st.lists(text_blocks, max_size=1),
)


@given(st.lists(messages, max_size=9))
def test_request_obeys_every_rule_for_any_history(history: list[Message]) -> None:
    assert broken_rules(body_of(request_of(history))) == []


@given(st.lists(messages, max_size=9))
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


def test_prefix_stays_the_same_bytes_from_one_request_to_the_next() -> None:
    history = [user("one"), assistant([call()]), user([result()]), assistant("done"), user("two")]

    def unmarked(request: Request, count: int) -> str:
        return json.dumps(request.messages[:count]).replace(', "cache_control": {"type": "ephemeral"}', "")

    for length in (1, 3, 5):
        shorter, longer = request_of(history[:length]), request_of([*history, assistant("x"), user("three")])
        assert unmarked(shorter, length) == unmarked(longer, length)


def test_breakpoints_stand_on_system_reminder_and_the_last_two_user_messages() -> None:
    history = [user("one"), assistant("1"), user("two"), assistant("2"), user("three")]
    request = request_of(history)
    assert "cache_control" in request.system[-1]
    marked = [b["text"] for m in request.messages for b in m["content"] if "cache_control" in b]
    assert marked == ["<r>context</r>", "two", "three"]


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
