"""What the list learns of a session from its ends, however its lines are."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_files import ID, START, TYPED_ID, line, role, typed, write

from mewcode_magic.sessions import SessionInfo, SessionStore
from mewcode_magic.sessions.facts import survey

LONG = "x" * 12_000_000


def listed(store: SessionStore, *lines: dict[str, Any] | bytes, name: str = ID) -> SessionInfo:
    write(store, *lines, name=name)
    (info,) = [info for info in store.list() if info.id == name]
    return info


def seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("load sales.csv", "load sales.csv"),
        ("  two\n lines\t here ", "two lines here"),
        ("w" * 50, "w" * 50),
        ("w" * 51, "w" * 49 + "…"),
        ("\x1b[31mred\x00", "[31mred"),
        ("家族 👨‍👩‍👧", "家族 👨‍👩‍👧"),
        ("<system-reminder>\nbe kind\n</system-reminder>\n<relevant_memories>x</relevant_memories> hi", "hi"),
        ("<b>bold</b>", "<b>bold</b>"),
        (" " * 5_000 + "late", "late"),
    ],
)
def test_title_is_the_first_prompt_in_one_line(store: SessionStore, prompt: str, title: str) -> None:
    assert listed(store, role("user", prompt)).title == title


@pytest.mark.parametrize(
    "first",
    [
        role("user", "<system-reminder>the same in every session</system-reminder>"),
        role("user", "<system-reminder>without an end"),
        role("user", " \n"),
        role("user", [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]),
        role("system_prompt", "p" * 30_000),
        role("system_prompt", "p" * 300_000),
        role("compression", "a summary"),
        role("tool_result", "x", tool_use_id="t"),
        role("assistant", "hello"),
        {"version": 3},
        b"\xff\xff\n",
        b"\0" * 9_000 + b"\n",
        b"\n",
    ],
)
def test_title_is_the_first_real_prompt_however_the_file_begins(store: SessionStore, first: Any) -> None:
    info = listed(store, first, role("user", "real", START + 5))
    assert info.title == "real"
    assert seconds(info.last_active) == START + 5


def test_injected_blocks_are_no_part_of_the_title(store: SessionStore) -> None:
    note = [{"type": "text", "text": "the same in every session"}]
    assert listed(store, role("user", "mine", injected=note)).title == "mine"
    assert listed(store, role("user", [{"type": "text", "text": "list"}])).title == "list"


def test_title_of_a_prompt_of_12_mb_is_its_beginning(store: SessionStore) -> None:
    for prompt in (role("user", "größe 😀 " + LONG), typed("user", "größe 😀 " + LONG)):
        assert listed(store, prompt).title == ("größe 😀 " + "x" * 41 + "…")


@pytest.mark.parametrize("shift", range(12))
def test_title_of_a_prompt_that_is_cut_within_a_character(store: SessionStore, shift: int) -> None:
    for text in ("😀" * 500, "\\ud83d\\ude00" * 500, "\\n" * 900):
        head = b'{"role":"user","content":"' + b"a" * shift + text.encode()
        info = listed(store, head + b"z" * 2_000_000 + b'","ts":7}\n')
        assert info.title.startswith("a" * shift)
        assert info.title.encode().decode() == info.title
        assert seconds(info.last_active) == 7


def test_title_that_was_given_wins(store: SessionStore) -> None:
    info = listed(
        store, role("user", "prompt"), role("title", "One"), role("title", " Two\n"), role("summary", "Sum")
    )
    assert (info.title, info.summary) == ("Two", "Sum")


@pytest.mark.parametrize(
    ("last", "when"),
    [
        (role("user", "x", START + 7), START + 7),
        (role("tool_result", "x", START + 7, tool_use_id="t"), START + 7),
        (role("assistant", LONG, START + 7), START + 7),
        (
            role("assistant", [{"type": "text", "text": LONG}], START + 7, model="m", usage={"a": 1}),
            START + 7,
        ),
        (typed("assistant", LONG, "2026-06-18T09:15:07+00:00"), START + 7),
        (typed("tool_result", LONG, "2026-06-18T09:15:07", tool_use_id="t", is_error=False), START + 7),
        (
            {"role": "user", "content": LONG, "ts": START + 7, "recalled": [{"slug": "a", "updated": "b"}]},
            START + 7,
        ),
        (
            {
                "role": "assistant",
                "content": LONG,
                "ts": START + 7,
                "usage": {"input_tokens": 1},
                "model": "m",
            },
            START + 7,
        ),
        ({"role": "assistant", "content": [{"input": {"ts": 5}, "x": LONG}], "ts": START + 7}, START + 7),
        (line(role("user", "torn", START + 9))[:-9], START),
        (b"\0" * 3_000, START),
        (role("wizard", "x", START + 9), START),
    ],
)
def test_last_active_is_the_last_record_of_the_conversation(
    store: SessionStore, last: Any, when: float
) -> None:
    markers = [role("title", "t", START + 99), role("summary", "s", START + 99)]
    assert seconds(listed(store, role("user", "a"), last).last_active) == when
    if not isinstance(last, bytes):
        assert seconds(listed(store, role("user", "a"), last, *markers).last_active) == when


def test_file_of_noise_is_listed_without_facts(store: SessionStore) -> None:
    info = listed(store, b"\xff" * 3_000_000, name="noise")
    assert (info.title, info.created, info.last_active, info.messages) == ("", None, None, None)
    empty = listed(store, b"", name="empty")
    assert (empty.title, empty.last_active) == ("", None)


def test_time_that_no_calendar_has_is_none(store: SessionStore) -> None:
    assert listed(store, role("user", "a", 1e18)).last_active is None


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_day_of_a_session_is_right_in_every_zone(store: SessionStore, monkeypatch: Any, zone: str) -> None:
    """An id tells local time; records tell it with its offset, and win."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        told = listed(store, role("user", "a"), name="20260618-233000-0000").created
        assert told == datetime.fromtimestamp(START, UTC)
        local = listed(store, role("user", "a", None), name="20260618-233000-0001").created
        assert local is not None
        assert local.astimezone().strftime("%d %H:%M") == "18 23:30"
        typed_local = listed(store, typed("user", "a", ""), name=TYPED_ID).created
        assert typed_local is not None
        assert typed_local.astimezone().strftime("%d %H:%M") == "18 09:15"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_id_that_tells_no_date_is_no_obstacle(store: SessionStore) -> None:
    for name in ("20269999-999999-0000", "chat", "session_x"):
        assert listed(store, role("user", "a", None), name=name).created is None


KINDS = ["user", "assistant", "tool_result", "title", "summary", "system_prompt", "wizard", "torn", "typed"]


def made(kind: str, size: int, ts: int | None) -> dict[str, Any] | bytes:
    if kind == "torn":
        return b"torn" + b"\0" * size + b"\n"
    if kind == "typed":
        return typed("user", "t" * size)
    extra = {"tool_use_id": "t"} if kind == "tool_result" else {}
    return role(kind, "x" * size, ts, **extra)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(KINDS), st.sampled_from([0, 1, 3_000, 70_000]), st.none() | st.integers(1, 9)
        ),
        max_size=8,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ends_tell_the_same_as_a_look_at_every_record(
    store: SessionStore, shapes: list[tuple[str, int, int | None]]
) -> None:
    path = write(store, *(made(*shape) for shape in shapes))
    facts = survey(path)
    (info,) = store.list()
    assert seconds(info.last_active) == facts.last_active
    given_titles = {"x" * size for kind, size, _ in shapes if kind == "title" and size}
    assert info.title in given_titles | {facts.prompt or ""}
    if len(given_titles) <= 1 and info.title in given_titles:
        assert info.title == facts.title


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from([0, 30, 5_000]), st.none()), max_size=3),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=8)), max_size=4),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damage_whatever_keeps_a_session_from_being_listed_and_read(
    store: SessionStore, shapes: list[tuple[str, int, None]], damage: list[tuple[float, bytes]]
) -> None:
    path = write(store, *(made(*shape) for shape in shapes))
    data = bytearray(path.read_bytes())
    for place, noise in damage:
        start = int(place * len(data))
        data[start : start + len(noise) // 2] = noise
    path.write_bytes(data)
    (info,) = store.list()
    assert info.id == ID
    store.read(ID)
    store.transcript(ID)
    store.cleanup(1)
    assert store.fill_counts() <= 1


def test_beginning_that_is_no_json_has_no_title(store: SessionStore) -> None:
    assert listed(store, b'{"role":"user","content":"\\q' + b"x" * 2_000_000 + b"\n").title == ""
