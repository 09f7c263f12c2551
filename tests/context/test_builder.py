"""Requests of one conversation, one after the other: the same bytes again, and the cache always found."""

import dataclasses
import itertools
from typing import Any

import pytest
from histories import any_history, blocks_of, breakpoints_of, prompt_of, said_in, turns
from hypothesis import given, settings
from request_rules import broken_rules

from mewcode_magic.context import RequestBuilder
from mewcode_magic.events import Request
from mewcode_magic.messages import Message
from mewcode_magic.sessions import repair_chain

LOOK_BACK = 20
"""Blocks before a breakpoint among which the provider looks for what it has stored."""


def new_builder() -> RequestBuilder:
    return RequestBuilder(system="You are here.", tools=[])


def build(builder: RequestBuilder, messages: list[Message], reminder: str = "<r>") -> Request:
    return builder.build(messages, reminder=reminder, max_tokens=100)


def requests_of(drawn: Any) -> list[tuple[Request, list[Message]]]:
    """Return the requests of turns, in their order, each with the messages that it was built from.

    Nothing tells of a request that went on with a paused reply and failed: it is left out.
    """
    builder, messages, sent = new_builder(), list[Message](), []
    for number, (blocks, rounds) in enumerate(drawn):
        messages.append(prompt_of(number, blocks))
        for count, round_ in enumerate(rounds):
            if round_.end == "failed" and messages[-1].role == "assistant":
                break
            sent.append((build(builder, messages), list(messages)))
            messages += said_in(round_, f"{number}_{count}")
            if round_.end != "goes-on":
                break
    return sent


@settings(max_examples=50)
@given(turns)
def test_each_request_repeats_the_one_before_byte_for_byte(drawn: Any) -> None:
    sent = [blocks_of(request) for request, _ in requests_of(drawn)]
    for earlier, later in itertools.pairwise(sent):
        assert later[: len(earlier)] == earlier


@settings(max_examples=50)
@given(turns)
def test_each_request_finds_what_the_last_one_wrote_into_the_cache(drawn: Any) -> None:
    sent = [request for request, _ in requests_of(drawn)]
    for earlier, later in itertools.pairwise(sent):
        written = breakpoints_of(earlier)[-1]
        assert written == len(blocks_of(earlier)) - 1, "all of a request is written"
        assert any(0 <= place - written <= LOOK_BACK for place in breakpoints_of(later))
        # Also what only system prompt and tools share, as after a change of what stands in front.
        assert any(0 <= place <= LOOK_BACK for place in breakpoints_of(later))


@settings(max_examples=50)
@given(turns)
def test_requests_of_turns_obey_every_rule_and_are_the_same_after_a_resume(drawn: Any) -> None:
    for request, messages in requests_of(drawn):
        assert broken_rules(dataclasses.asdict(request)) == []
        resumed, _ = repair_chain(messages)
        assert build(new_builder(), resumed) == request


@given(any_history)
def test_requests_that_grow_with_any_history_are_those_built_at_once(history: list[Message]) -> None:
    builder, grown = new_builder(), list[Message]()
    for message in history:
        grown.append(message)
        assert build(builder, grown) == build(new_builder(), grown)


def test_request_stays_as_it_was_when_the_next_one_is_built() -> None:
    builder, messages = new_builder(), [prompt_of(0, 0)]
    first = build(builder, messages)
    before = dataclasses.asdict(first)
    messages.append(prompt_of(1, 1))
    build(builder, messages)
    assert dataclasses.asdict(first) == before


@pytest.mark.parametrize("change", ["another list", "one shorter", "another message"])
def test_builder_begins_anew_when_the_messages_were_replaced(change: str) -> None:
    builder, messages = new_builder(), [prompt_of(n, 0) for n in range(3)]
    build(builder, messages)
    match change:
        case "another list":
            messages = [prompt_of(7, 0), *messages[1:]]
        case "one shorter":
            del messages[0]
        case _:
            messages[-1] = prompt_of(7, 0)
    assert build(builder, messages) == build(new_builder(), messages)


def test_builder_begins_anew_when_what_stands_in_front_has_changed() -> None:
    builder, messages = new_builder(), [prompt_of(0, 0)]
    build(builder, messages)
    assert build(builder, messages, "<other>") == build(new_builder(), messages, "<other>")


def test_calls_whose_results_come_later_are_sent_with_them() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    builder, messages = new_builder(), [prompt_of(0, 0), Message(role="assistant", content=[call])]
    assert "tool_use" not in str(build(builder, messages).messages)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    messages.append(Message(role="user", content=[result]))
    assert [m["role"] for m in build(builder, messages).messages] == ["user", "assistant", "user"]


def test_breakpoints_stand_on_system_reminder_and_the_ends_of_the_last_two_requests() -> None:
    history = [
        prompt_of(1, 0),
        Message(role="assistant", content="a"),
        prompt_of(2, 0),
        Message(role="assistant", content="b"),
        prompt_of(3, 0),
    ]
    request = build(new_builder(), history)
    assert "cache_control" in request.system[-1]
    marked = [b["text"] for m in request.messages for b in m["content"] if "cache_control" in b]
    assert marked == ["<r>", "prompt 2", "prompt 3"]


def test_breakpoint_of_the_system_prompt_makes_room_where_a_request_failed() -> None:
    history = [prompt_of(1, 0), Message(role="assistant", content="a"), prompt_of(2, 0), prompt_of(3, 0)]
    request = build(new_builder(), history)
    assert "cache_control" not in request.system[-1]
    marked = [b["text"] for m in request.messages for b in m["content"] if "cache_control" in b]
    assert marked == ["<r>", "prompt 1", "prompt 2", "prompt 3"]


def test_reply_that_pauses_is_gone_on_with_in_the_same_words() -> None:
    builder, messages = new_builder(), [prompt_of(0, 0), Message(role="assistant", content="half")]
    paused = blocks_of(build(builder, messages))
    assert "no further text" in paused[-1]
    messages.append(Message(role="assistant", content="the rest"))
    assert blocks_of(build(builder, messages))[: len(paused)] == paused
