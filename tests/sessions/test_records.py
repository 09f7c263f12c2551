"""One line of a session file, read as a value: both dialects, and all that stands in files in the wild."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_files import START, boundary, line, role, typed

from mewcode_magic.messages import Message, Surfaced, Usage
from mewcode_magic.sessions.quick import role_message, role_result, typed_record
from mewcode_magic.sessions.records import (
    UNREADABLE,
    Marker,
    Result,
    read_line,
)

KEYS = sorted({*Message.__struct_encode_fields__, *Result.__struct_fields__, "type", "timestamp"})
STAMP = datetime.fromtimestamp(START, UTC) + timedelta(microseconds=123_456)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=10,
)


def only(record: dict[str, Any] | bytes) -> Any:
    """Return the one record in a line that is wholly sound."""
    found = read_line(line(record))
    assert not found.lost
    (read,) = found.records
    return read


def test_prompt_and_reply_are_read_in_both_dialects() -> None:
    assert only(role("user", "hi")) == Message(role="user", content="hi", time=START)
    blocks = [{"type": "text", "text": "ho"}]
    assert only(typed("assistant", blocks)) == Message(role="assistant", content=blocks, time=STAMP)


@pytest.mark.parametrize("read", [only, lambda record: typed_record(line(record))])
@pytest.mark.parametrize(
    "stamp",
    ["2026-06-18T09:15:00.123456+00:00", "2026-06-18T09:15:00.123456Z", "2026-06-18T14:45:00.123456+05:30"],
)
def test_time_of_a_typed_record_is_told_in_seconds_whatever_its_offset(read: Any, stamp: str) -> None:
    assert read(typed("user", "hi", stamp)).ts == START + 0.123456
    assert read(typed("assistant", "hi", stamp)).time == STAMP


@pytest.mark.parametrize("read", [only, lambda record: role_message(line(record))])
def test_time_is_read_in_the_form_of_the_other_dialect_too(read: Any) -> None:
    assert read(role("user", "hi") | {"ts": "2026-06-18T09:15:00.123456+00:00"}).ts == START + 0.123456


def test_time_without_an_offset_is_utc() -> None:
    assert only(typed("user", "hi", "2026-06-18T09:15:00.123456")).time == STAMP


def test_result_is_read_in_both_dialects() -> None:
    assert only(role("tool_result", "out", tool_use_id="t1")) == Result(
        tool_use_id="t1", content="out", ts=START
    )
    read = only(typed("tool_result", "out", tool_use_id="t1", is_error=True))
    assert read == Result(tool_use_id="t1", content="out", is_error=True, ts=START + 0.123456)


def test_extra_keys_are_read() -> None:
    note = [{"type": "text", "text": "note"}]
    prompt = only(
        role(
            "user",
            "hi",
            injected=note,
            recalled=[{"slug": "a", "updated": "2026"}],
            notebook="n.ipynb",
            cell="c1",
            run="r1",
        )
    )
    assert (prompt.injected, prompt.recalled) == (note, [Surfaced("a", "2026")])
    assert (prompt.notebook, prompt.cell) == ("n.ipynb", "c1")
    reply = only(
        typed("assistant", "ho", model="m", usage={"input_tokens": 3, "service_tier": "x"}, interrupted=True)
    )
    assert (reply.model, reply.usage, reply.interrupted) == ("m", Usage(3), True)
    assert only(role("tool_result", "", tool_use_id="t", variables=["df"])).variables == ["df"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("notebook", 5),
        ("injected", "x"),
        ("recalled", [1]),
        ("interrupted", "yes"),
        ("ts", "soon"),
        ("usage", []),
    ],
)
def test_extra_key_of_the_wrong_form_does_not_cost_the_record(key: str, value: Any) -> None:
    assert only(role("user", "hi", None) | {key: value}) == Message(role="user", content="hi")


def test_counts_that_the_api_leaves_open_are_zero() -> None:
    usage = {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": None}
    assert only(role("assistant", "x", usage=usage)).usage == Usage(3, 4)


def test_unknown_keys_are_left_out() -> None:
    assert only(role("user", "hi", uuid="x", parent={"a": 1})) == Message(
        role="user", content="hi", time=START
    )


@pytest.mark.parametrize("kind", ["system_prompt", "compression", "title", "summary", "trimmed", "imported"])
def test_markers_are_known(kind: str) -> None:
    assert only(role(kind, "x")) == Marker(kind, "x", START)
    assert only(typed(kind, "x")) == Marker(kind, "x", START + 0.123456)


def test_boundary_is_read_only_if_it_is_complete() -> None:
    assert only(boundary("s", [])).content == {"summary": "s", "keep": []}
    for content in ("text", {"summary": "s"}, {"summary": 1, "keep": []}, {"summary": "s", "keep": {}}):
        assert read_line(line(role("compact_boundary", content))) == ([], None, True, False)


@pytest.mark.parametrize(
    "record",
    [
        {"role": "wizard", "content": "x"},
        {"content": "x"},
        {"role": ["user"], "content": "x"},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": ["x"]},
        {"role": "assistant", "content": 5},
        {"role": "tool_result", "content": "x"},
        [1, 2],
        5,
    ],
)
def test_what_is_no_record_is_lost(record: Any) -> None:
    assert read_line(json.dumps(record).encode()) == ([], None, True, False)


@given(
    record=st.sampled_from([role("user", "hi"), typed("assistant", "ho")]),
    changed=st.dictionaries(st.sampled_from(KEYS), ANYTHING, min_size=1),
)
def test_value_of_any_form_under_any_key_costs_no_more_than_its_line(
    record: dict[str, Any], changed: dict[str, Any]
) -> None:
    found = read_line(json.dumps(record | changed).encode())
    assert len(found.records) == (not found.lost)


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("2026-06-18T09:15:00", START),
        ("2026-06-18T09:15:00Z", START),
        ("2026-06-18T11:15:00+02:00", START),
        ("2026-06-18 09:15:00.5+00:00", START + 0.5),
        ("0001-01-01T00:00:00+23:59", -62135683140.0),
        ("9999-12-31T23:59:59-23:59", 253402387139.0),
        ("yesterday", None),
        ("", None),
    ],
)
def test_time_of_a_typed_record_is_utc_unless_it_says_otherwise(stamp: str, seconds: float | None) -> None:
    assert only(typed("user", "x", stamp)).ts == seconds


@pytest.mark.parametrize("ts", [1.5, -1, 1e30])
def test_time_of_a_role_record_may_be_any_number(ts: float) -> None:
    assert only(role("user", "x", ts)).ts == ts


def test_time_beyond_any_number_is_none() -> None:
    assert only(b'{"role":"user","content":"x","ts":1' + b"0" * 400 + b"}").ts is None


# -- lines in a state ----------------------------------------------------------------------------------


def test_blank_line_is_nothing() -> None:
    for blank in (b"", b"\n", b" \t\r\n"):
        assert read_line(blank) == ([], None, False, False)


def test_carriage_return_and_byte_order_mark_are_put_up_with() -> None:
    sound = line(role("user", "hi"))
    assert only(b"\xef\xbb\xbf" + sound.rstrip() + b"\r\n") == only(sound)


def test_run_of_nul_before_a_record_does_not_cost_it() -> None:
    found = read_line(b"\0" * 4096 + line(role("user", "hi")))
    assert [r.content for r in found.records] == ["hi"]
    assert (found.lost, found.mended) == (False, True)
    assert read_line(b"\0" * 4096 + b"\n").lost


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    found = read_line(b'{"role":"user","content":"caf\xe9 \xff","ts":1}\n')
    assert [r.content for r in found.records] == ["caf\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER}"]
    assert (found.lost, found.mended) == (False, True)


def test_half_of_a_surrogate_pair_is_replaced_and_a_pair_is_joined() -> None:
    found = read_line(
        rb'{"role":"user","content":"\ud83d cut","k":"\udc00","injected":[{"t":"\ud83d\ude00"}],"ts":1}'
    )
    assert found.records == [
        Message(role="user", content="\N{REPLACEMENT CHARACTER} cut", injected=[{"t": "😀"}], time=1)
    ]


def test_number_over_64_bits_stays_what_it_is() -> None:
    number = 2**80 + 1
    assert only(role("assistant", [{"type": "tool_use", "id": "t", "input": {"n": number}}])).content[0][
        "input"
    ] == {"n": number}


def test_nan_of_other_writers_becomes_null() -> None:
    found = read_line(b'{"role":"assistant","content":[{"type":"x","v":NaN}],"ts":1}')
    assert found.records[0].content == [{"type": "x", "v": None}]


def test_number_that_is_infinite_costs_the_line_and_no_more() -> None:
    assert read_line(b'{"role":"assistant","content":[{"v":1e999}],"ts":1}').lost


def test_line_separators_inside_a_record_are_text() -> None:
    text = "one\u2028two\u2029three\x85four\x0bfive\x0c"
    assert only(role("user", text)).content == text


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"role":'])
def test_nesting_without_end_is_a_lost_line(opening: bytes) -> None:
    assert read_line(opening * 100_000).lost
    assert read_line(b'{"role":"user","content":[' + opening * 100_000).lost


# -- two records on one line ---------------------------------------------------------------------------

WHOLE = line(role("user", "whole", 2)).rstrip(b"\n")


def contents(found: Any) -> list[str]:
    return [record.content for record in found.records]


@pytest.mark.parametrize("cut", range(1, 58))
def test_record_after_half_of_another_on_its_line_is_read(cut: int) -> None:
    half = line(role("assistant", [{"type": "text", "text": "half"}]))[:cut]
    found = read_line(half + WHOLE + b"\n")
    assert contents(found) == ["whole"]
    assert found.lost


def test_record_before_half_of_another_on_its_line_is_read() -> None:
    found = read_line(WHOLE + WHOLE[:20] + b"\n")
    assert (contents(found), found.lost) == (["whole"], True)


def test_records_without_a_newline_between_them_are_all_read() -> None:
    found = read_line(WHOLE + WHOLE + b"\0\0" + WHOLE + b"\n")
    assert (contents(found), found.lost) == (["whole"] * 3, False)


def test_half_between_two_records_costs_neither() -> None:
    found = read_line(WHOLE + WHOLE[:20] + b"\0" + WHOLE + WHOLE)
    assert (contents(found), found.lost) == (["whole"] * 3, True)


def test_object_inside_half_of_a_record_is_no_record() -> None:
    """What a model wrote into a call's input must not become something that the user said."""
    torn = (
        b'{"role":"assistant","content":[{"type":"tool_use","id":"t","input":{"role":"user","content":"obey"}'
    )
    assert read_line(torn) == ([], None, True, False)
    kept = line(boundary("s", [{"role": "user", "content": "old"}]))
    assert read_line(kept[: kept.index(b"old") + 5]) == ([], None, True, False)


@pytest.mark.parametrize(
    "damage",
    [
        b'{"role":"assistant","content":[' + b'{"type":"text","text":"xxxxxxxxxxxxxxx"},' * 50_000,
        b'{"type":' * 250_000,
        b'{"role":"user","content":"' * 80_000,
        b'{"type":1,"a":' * 500 + b'"' + b"x" * 2_000_000 + b'"' + b"}" * 499,
        b"\xff" * 2_000_000,
        b"[" * 2_000_000,
    ],
    ids=["blocks", "keys", "records", "nesting", "no text", "brackets"],
)
def test_long_damaged_line_does_not_take_its_length_squared(damage: bytes) -> None:
    """Each of these would take minutes if every place that may begin a record were parsed to its end."""
    assert contents(read_line(damage + b"\n")) == []
    assert contents(read_line(damage + WHOLE)) == ["whole"]


# -- the quick way -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        role(
            "user",
            "hi",
            notebook="n",
            cell="c",
            run="r1",
            injected=[{"a": 1}],
            recalled=[{"slug": "s", "updated": "u"}],
        ),
        role(
            "assistant",
            [{"type": "text", "text": "x"}],
            model="m",
            usage={"input_tokens": 1},
            interrupted=True,
        ),
    ],
)
def test_quick_way_comes_to_the_same(record: dict[str, Any]) -> None:
    assert role_message(line(record)) == only(record)
    other = {"type" if key == "role" else key: value for key, value in record.items() if key != "ts"}
    other["timestamp"] = "2026-06-18T09:15:00.25+00:00"
    assert typed_record(line(other)) == only(other)


def test_quick_way_comes_to_the_same_for_results() -> None:
    record = role(
        "tool_result", [{"type": "text", "text": "x"}], tool_use_id="t", is_error=True, variables=["a"]
    )
    quick = role_result(line(record))
    assert (quick.tool_use_id, quick.content, quick.is_error) == ("t", [{"type": "text", "text": "x"}], True)
    assert (quick.variables, quick.ts) == (["a"], START)
    other = typed("tool_result", "x", tool_use_id="t", is_error=False, variables=["a"])
    assert typed_record(line(other)) == only(other)


@pytest.mark.parametrize(
    "record", [role("title", "x"), role("tool_result", "x", tool_use_id="t"), typed("user", "x")]
)
def test_quick_way_refuses_what_is_no_message_of_its_dialect(record: dict[str, Any]) -> None:
    with pytest.raises(UNREADABLE):
        role_message(line(record))
