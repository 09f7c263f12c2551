"""Whatever is written in either dialect reads back equal, and damage costs no more than what it hits."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mewcode_magic.messages import Message, Surfaced, Usage
from mewcode_magic.sessions.encode import entries_of, marker_entry
from mewcode_magic.sessions.records import Dialect
from mewcode_magic.sessions.replay import read_conversation

dialects = st.sampled_from(["role", "typed"])
any_text = st.text(max_size=40)
names = st.none() | any_text
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
texts = st.builds(lambda text: {"type": "text", "text": text}, any_text)
calls = st.builds(
    lambda name, value: {"type": "tool_use", "id": name, "name": "n", "input": {"value": value}},
    any_text,
    json_values,
)
thinking = st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": text}, any_text)
other_blocks = st.dictionaries(any_text, json_values, max_size=3)
blocks = texts | calls | thinking | other_blocks
times = st.none() | st.floats(min_value=0, max_value=4e9)


def results(
    call_ids: list[str], contents: list[Any], failed: list[bool], bound: list[list[str]], ts: Any
) -> Message:
    content: list[dict[str, Any]] = []
    variables: dict[str, list[str]] = {}
    for call, said, error, variable in zip(call_ids, contents, failed, bound, strict=False):
        content.append(
            {"type": "tool_result", "tool_use_id": call, "content": said}
            | ({"is_error": True} if error else {})
        )
        if variable:
            variables[call] = variable
    return Message(role="user", content=content, time=ts, variables=variables)


messages = st.one_of(
    st.builds(
        Message,
        role=st.just("user"),
        content=any_text,
        injected=st.lists(blocks, max_size=2),
        recalled=st.lists(st.builds(Surfaced, any_text, any_text), max_size=2),
        notebook=names,
        cell=names,
        time=times,
    ),
    st.builds(
        Message,
        role=st.just("assistant"),
        content=any_text | st.lists(blocks, max_size=4),
        model=names,
        usage=st.none() | st.builds(Usage, *[st.integers(0, 10**9)] * 4),
        interrupted=st.booleans(),
        time=times,
    ),
    st.builds(
        results,
        st.lists(any_text, min_size=1, max_size=3, unique=True),
        st.lists(any_text | st.lists(texts, max_size=2), min_size=3, max_size=3),
        st.lists(st.booleans(), min_size=3, max_size=3),
        st.lists(st.lists(any_text, max_size=2), min_size=3, max_size=3),
        times,
    ),
)
conversations = st.lists(messages, max_size=6)


def apart(conversation: list[Message]) -> list[Message]:
    """Return the conversation with something said between messages of results, as it always is."""
    spaced: list[Message] = []
    for message in conversation:
        if spaced and spaced[-1].tool_results() and message.tool_results():
            spaced.append(Message(role="assistant", content="between"))
        spaced.append(message)
    return spaced


def write(path: Path, conversation: list[Message], dialect: Dialect) -> tuple[list[bytes], list[Message]]:
    """Write a conversation; return its lines, and the messages that it was recorded as."""
    entries = [entry for message in conversation for entry in entries_of(message, dialect)]
    path.write_bytes(b"".join(line for line, _ in entries))
    return [line for line, _ in entries], [message for _, message in entries if message is not None]


@given(conversations, dialects)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_written_reads_back_equal(
    tmp_path: Path, conversation: list[Message], dialect: Dialect
) -> None:
    path = tmp_path / "x.jsonl"
    lines, recorded = write(path, apart(conversation), dialect)
    replay = read_conversation(path)
    assert replay.messages == recorded
    assert (replay.skipped, replay.mended, replay.torn) == (0, 0, False)
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)


@given(messages, dialects)
def test_what_is_recorded_is_the_message_with_its_time(message: Message, dialect: Dialect) -> None:
    recorded = entries_of(message, dialect)[-1][1]
    assert recorded is not None
    assert recorded.ts is not None
    if message.ts is not None:
        assert math.isclose(recorded.ts, message.ts, abs_tol=1 if dialect == "role" else 1e-6)
    for name in message.__struct_fields__:
        assert name == "time" or getattr(recorded, name) == getattr(message, name)


@given(messages)
def test_records_have_the_form_that_other_programs_read(message: Message) -> None:
    for line, _ in entries_of(message, "role"):
        record = json.loads(line)
        assert record["role"] in ("user", "assistant", "tool_result")
        assert isinstance(record["ts"], int)
        assert record["role"] == "assistant" or message.tool_results() or isinstance(record["content"], str)
    for line, _ in entries_of(message, "typed"):
        record = json.loads(line)
        assert list(record)[:2] == ["type", "content"]
        assert record["timestamp"].endswith("+00:00")
        assert ("is_error" in record) == ("tool_use_id" in record) == (record["type"] == "tool_result")
        assert record["type"] == "assistant" or message.tool_results() or isinstance(record["content"], str)


@given(conversations, dialects, st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cutting_a_file_anywhere_costs_only_the_line_that_is_cut(
    tmp_path: Path, conversation: list[Message], dialect: Dialect, data: st.DataObject
) -> None:
    path = tmp_path / "x.jsonl"
    lines, _ = write(path, apart(conversation), dialect)
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    ends = [sum(map(len, lines[: n + 1])) - 1 for n in range(len(lines))]
    sound = sum(end <= cut for end in ends)  # the newline itself may be missing
    expected = tmp_path / "y.jsonl"
    expected.write_bytes(b"".join(lines[:sound]))
    replay = read_conversation(path)
    assert replay.messages == read_conversation(expected).messages
    assert replay.torn == (cut > 0 and whole[cut - 1 : cut] != b"\n")


@given(conversations, dialects, st.binary(max_size=60), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noise_never_costs_a_line_before_or_after_it(
    tmp_path: Path, conversation: list[Message], dialect: Dialect, noise: bytes, data: st.DataObject
) -> None:
    path = tmp_path / "x.jsonl"
    lines, _ = write(path, conversation, dialect)
    place = data.draw(st.integers(0, len(lines)))
    noise_line = noise.replace(b"\n", b" ") + b"\n"
    path.write_bytes(b"".join([*lines[:place], noise_line, *lines[place:]]))
    expected = tmp_path / "y.jsonl"
    expected.write_bytes(b"".join(lines))
    assert read_conversation(path).messages == read_conversation(expected).messages


@given(conversations, dialects, st.binary(min_size=1, max_size=30), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_overwriting_anything_never_costs_a_line_before_it(
    tmp_path: Path, conversation: list[Message], dialect: Dialect, noise: bytes, data: st.DataObject
) -> None:
    path = tmp_path / "x.jsonl"
    lines, _ = write(path, apart(conversation), dialect)
    whole = b"".join(lines)
    place = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:place] + noise + whole[place + len(noise) :])
    before = tmp_path / "y.jsonl"
    before.write_bytes(whole[: whole.rfind(b"\n", 0, place) + 1])
    expected = read_conversation(before).messages
    read = read_conversation(path).messages
    # The results before the damage may be joined by one that stands behind it.
    assert read[: max(0, len(expected) - 1)] == expected[:-1]


# -- what is not written as it is ----------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_half_of_a_surrogate_pair_is_replaced_in_the_file_and_in_memory(
    tmp_path: Path, dialect: Dialect
) -> None:
    halves = [
        Message(role="user", content="cut \ud83d"),
        Message(role="assistant", content=[{"type": "text", "text": "\ud83d\ude00 \udc00"}]),
        Message(
            role="user",
            content=[{"type": "tool_result", "tool_use_id": "t", "content": "\ud83d"}],
            variables={"t": ["x"]},
        ),
    ]
    _, recorded = write(tmp_path / "x.jsonl", halves, dialect)
    replay = read_conversation(tmp_path / "x.jsonl")
    assert replay.messages == recorded
    assert (replay.skipped, replay.mended) == (0, 0)
    assert recorded[0].content == "cut \N{REPLACEMENT CHARACTER}"
    assert recorded[1].text() == "😀 \N{REPLACEMENT CHARACTER}"
    assert recorded[2].variables == {"t": ["x"]}


@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_content_of_a_prompt_is_always_a_string(dialect: Dialect) -> None:
    image = {"type": "image", "source": {"type": "url", "url": "x"}}
    content = [image, {"type": "text", "text": "what is"}, {"type": "text", "text": "this?"}]
    ((line, recorded),) = entries_of(Message(role="user", content=content, injected=[{"a": 1}]), dialect)
    assert json.loads(line)["content"] == "what is\n\nthis?"
    assert recorded is not None
    assert (recorded.content, recorded.injected) == ("what is\n\nthis?", [{"a": 1}, image])


@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_results_beside_other_blocks_become_two_messages(dialect: Dialect) -> None:
    content = [
        {"type": "text", "text": "and now"},
        {"type": "tool_result", "tool_use_id": "t", "content": None},
    ]
    (_, first), (_, second) = entries_of(Message(role="user", content=content, notebook="n"), dialect)
    assert first is not None
    assert second is not None
    assert first.content == [{"type": "tool_result", "tool_use_id": "t", "content": ""}]
    assert (second.content, second.notebook) == ("and now", "n")


@pytest.mark.parametrize("ts", [math.nan, math.inf, -1e300, 1e300])
@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_time_that_no_calendar_has_becomes_the_present(ts: float, dialect: Dialect) -> None:
    ((_, recorded),) = entries_of(Message(role="user", content="x", time=ts), dialect)
    assert recorded is not None
    assert recorded.ts is not None
    assert 1.7e9 < recorded.ts < 1e10


@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_marker_reads_back(tmp_path: Path, dialect: Dialect) -> None:
    line, message = marker_entry("title", "cut \ud83d", dialect)
    (tmp_path / "x.jsonl").write_bytes(line)
    assert message is None
    assert read_conversation(tmp_path / "x.jsonl").title == "cut \N{REPLACEMENT CHARACTER}"
