"""The scripted model: fixed replies, and a record of what was asked."""

import pytest

from mewcode_magic.errors import ModelError, Overloaded
from mewcode_magic.events import BlockEnded, ReplyEnded, Request, TextDelta, ThinkingDelta
from mewcode_magic.messages import Usage
from mewcode_magic.model import Scripted, ScriptedReply

HELLO = Request([], [{"role": "user", "content": "Hi"}], [], 100)
CALL = {"type": "tool_use", "id": "t1", "name": "Remember", "input": {"body": "x"}}


def test_text_streams_in_the_same_pieces_every_time() -> None:
    model = Scripted(["Hello there.", "Hello there."])
    first, second = list(model.stream(HELLO)), list(model.stream(HELLO))
    assert first == second
    assert first == [
        TextDelta("Hello th"),
        TextDelta("ere."),
        BlockEnded({"type": "text", "text": "Hello there."}),
        ReplyEnded("end_turn", Usage(input_tokens=12, output_tokens=10), "scripted"),
    ]


def test_blocks_are_given_as_they_are() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    events = list(Scripted([[thinking, "Saving.", CALL]]).stream(HELLO))
    blocks = [event.block for event in events if isinstance(event, BlockEnded)]
    assert blocks == [thinking, {"type": "text", "text": "Saving."}, CALL]
    assert events[0] == ThinkingDelta("Hm.")
    assert events[-1].stop_reason == "tool_use"


def test_exception_is_raised_at_its_place_in_the_stream() -> None:
    events = Scripted([["Whole.", "Half", Overloaded("busy")]]).stream(HELLO)
    seen = [next(events) for _ in range(3)]
    assert seen == [TextDelta("Whole."), BlockEnded({"type": "text", "text": "Whole."}), TextDelta("Half")]
    with pytest.raises(Overloaded, match="busy"):
        next(events)


def test_exception_alone_is_the_whole_reply() -> None:
    with pytest.raises(KeyboardInterrupt):
        next(Scripted([KeyboardInterrupt()]).stream(HELLO))


def test_stop_reason_and_usage_can_be_given() -> None:
    reply = ScriptedReply(["Cut"], stop_reason="max_tokens", usage=Usage(1, 2, 3, 4))
    assert list(Scripted([reply], name="test").stream(HELLO))[-1] == ReplyEnded(
        "max_tokens", Usage(1, 2, 3, 4), "test"
    )


def test_requests_are_kept_as_they_were_sent() -> None:
    model = Scripted(["One."])
    messages = [{"role": "user", "content": "Hi"}]
    list(model.stream(Request([], messages, [], 100)))
    messages.append({"role": "assistant", "content": "One."})
    assert model.requests[0].messages == [{"role": "user", "content": "Hi"}]


def test_script_that_is_used_up_says_so() -> None:
    model = Scripted(["One."])
    list(model.stream(HELLO))
    with pytest.raises(ModelError, match="has 1 replies and was asked for number 2"):
        next(model.stream(HELLO))
