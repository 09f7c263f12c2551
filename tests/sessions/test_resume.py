"""Resuming: what is replayed of files in every state, and that nothing more is lost by going on."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_files import ID, START, TYPED_ID, boundary, call, line, records, role, told, typed, write

from mewcode_magic.config import MewCode
from mewcode_magic.messages import Message
from mewcode_magic.sessions import History, SessionStore
from mewcode_magic.sessions.tail import BLOCK


def read(store: SessionStore, *lines: dict[str, Any] | bytes, name: str = ID) -> History:
    write(store, *lines, name=name)
    return store.read(name)


def test_conversation_is_replayed_as_it_was(store: SessionStore) -> None:
    history = read(
        store,
        role("user", "load it"),
        role("assistant", call("t1", "t2", say="reading")),
        role("tool_result", "a", tool_use_id="t1", variables=["df"]),
        role("tool_result", "b", tool_use_id="t2", is_error=True),
        role("assistant", "done"),
    )
    assert told(history.messages) == ["load it", "reading", "tool_result:t1,tool_result:t2", "done"]
    assert history.messages[2].content == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "a"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "b", "is_error": True},
    ]
    assert history.messages[2].variables == {"t1": ["df"]}
    assert (history.report.skipped_lines, history.report.dropped_messages) == (0, 0)
    assert not history.report.boundary


def test_typed_file_is_replayed_as_the_terminal_program_wrote_it(store: SessionStore) -> None:
    history = read(
        store,
        typed("system_prompt", "You are"),
        typed("user", "load it"),
        typed("assistant", call("t1")),
        typed("tool_result", "a", tool_use_id="t1", is_error=False),
        typed("assistant", [{"type": "text", "text": "done"}], "2026-06-18T09:15:09"),
        name=TYPED_ID,
    )
    assert told(history.messages) == ["load it", "tool_use:t1", "tool_result:t1", "done"]
    assert history.messages[3].ts == START + 9
    assert history.report.skipped_lines == 0


def test_dialects_may_change_within_a_file(store: SessionStore) -> None:
    history = read(
        store, role("user", "a"), typed("assistant", "b"), typed("user", "c"), role("assistant", "d")
    )
    assert told(history.messages) == ["a", "b", "c", "d"]


def test_older_summary_marker_is_a_user_message_that_says_so(store: SessionStore) -> None:
    history = read(store, role("compression", "We loaded data."), role("user", "a"), role("assistant", "b"))
    assert told(history.messages) == ["summary: We loaded data.", "a", "b"]


def test_markers_stand_beside_the_conversation(store: SessionStore) -> None:
    history = read(
        store,
        role("user", "a"),
        role("assistant", call("t1", "t2")),
        role("tool_result", "1", tool_use_id="t1"),
        role("title", "Sales"),
        b"torn\n",
        role("summary", "About sales."),
        role("trimmed", {"t1": "…"}),
        role("imported", {"from": "elsewhere"}),
        role("tool_result", "2", tool_use_id="t2"),
        role("assistant", "b"),
    )
    assert told(history.messages) == ["a", "tool_use:t1,tool_use:t2", "tool_result:t1,tool_result:t2", "b"]
    assert (history.report.skipped_lines, history.report.dropped_messages) == (1, 0)


def test_lines_that_cannot_be_read_are_counted_and_the_rest_loads(store: SessionStore) -> None:
    history = read(
        store,
        role("user", "a"),
        role("wizard", "x"),
        b"\xff\xfe\n",
        b"\0" * 512 + line(role("assistant", "b")),
        b'{"role":"user","content":"caf\xe9"}\n',
        line(role("user", "half"))[:20],
    )
    assert told(history.messages) == ["a", "b", "caf\N{REPLACEMENT CHARACTER}"]
    assert (history.report.skipped_lines, history.report.mended_lines) == (3, 2)


def test_line_of_12_mb_is_read(store: SessionStore) -> None:
    long = "x" * 12_000_000
    history = read(store, role("user", long), role("assistant", "b"))
    assert history.messages[0].content == long


# -- boundaries ----------------------------------------------------------------------------------------

KEPT = [{"role": "user", "content": "kept"}, {"role": "assistant", "content": "yes"}]


def test_replay_begins_at_the_boundary(store: SessionStore) -> None:
    keep = [
        {"role": "user", "content": "kept", "injected": [{"type": "text", "text": "note"}], "notebook": "n"},
        {"role": "assistant", "content": call("t1"), "model": "m"},
        {"role": "tool_result", "tool_use_id": "t1", "content": "out", "is_error": True, "variables": ["df"]},
        {"type": "assistant", "content": "typed"},
    ]
    history = read(store, role("user", "old"), boundary("We began.", keep), role("user", "new"))
    assert told(history.messages) == [
        "summary: We began.",
        "kept",
        "tool_use:t1",
        "tool_result:t1",
        "typed",
        "new",
    ]
    prompt, reply, results = history.messages[1:4]
    assert (prompt.injected, prompt.notebook) == ([{"type": "text", "text": "note"}], "n")
    assert reply.model == "m"
    assert results.tool_results()[0]["is_error"]
    assert results.variables == {"t1": ["df"]}
    assert history.report.boundary


def test_the_last_of_two_boundaries_counts(store: SessionStore) -> None:
    history = read(
        store, boundary("one", KEPT), role("user", "between"), boundary("two", []), role("user", "new")
    )
    assert told(history.messages) == ["summary: two", "new"]


def test_torn_boundary_falls_back_to_the_one_before(store: SessionStore) -> None:
    torn = line(boundary("two", KEPT * 2_000))[:120_000]
    history = read(store, boundary("one", KEPT), role("user", "between"), torn + b"\n", role("user", "new"))
    assert told(history.messages) == ["summary: one", "kept", "yes", "between", "new"]
    assert history.report.skipped_lines == 1
    at_the_end = read(store, boundary("one", KEPT), role("user", "between"), torn)
    assert told(at_the_end.messages) == ["summary: one", "kept", "yes", "between"]


def test_boundary_of_the_wrong_form_is_none(store: SessionStore) -> None:
    history = read(store, role("user", "a"), role("compact_boundary", "text"), role("assistant", "b"))
    assert told(history.messages) == ["a", "b"]
    assert (history.report.boundary, history.report.skipped_lines) == (False, 1)


DECOYS = [
    role("user", 'what is a "compact_boundary"?'),
    role(
        "assistant",
        [{"type": "tool_use", "id": "x", "name": "n", "input": {"role": "compact_boundary", "keep": []}}],
    ),
    role("tool_result", line(boundary("decoy", [])).decode(), tool_use_id="x"),
    role("assistant", "compact_boundary"),
    {"note": "compact_boundary", "role": "user", "content": "decoy"},
]


def test_text_that_mentions_a_boundary_is_none(store: SessionStore) -> None:
    history = read(store, role("user", "old"), boundary("real", []), *DECOYS)
    assert told(history.messages)[0] == "summary: real"
    assert len(history.messages) == 6
    without = read(store, role("user", "old"), *DECOYS)
    assert told(without.messages)[0] == "old"


@pytest.mark.parametrize("shift", [-25, -19, -18, -17, -10, -1, 0, 1, 25])
def test_boundary_across_the_blocks_that_are_read_is_found(store: SessionStore, shift: int) -> None:
    marker = line(boundary("real", KEPT))
    after = line(role("user", "x"))
    place = marker.index(b'"compact_boundary"')
    # The kind of the marker begins `shift` bytes from a block's beginning, counted from the file's end.
    fill = BLOCK - (len(marker) - place) - len(after) + shift
    padding = line(role("assistant", "y" * (fill - len(line(role("assistant", ""))))))
    history = read(store, role("user", "old"), marker, padding, after)
    assert told(history.messages)[0] == "summary: real"


def test_boundary_longer_than_a_block_is_found(store: SessionStore) -> None:
    keep = [{"role": "user", "content": "k" * BLOCK}] * 3
    history = read(store, role("user", "old"), boundary("real", keep), *[role("assistant", "z" * BLOCK)] * 3)
    assert len(history.messages) == 7
    assert told(history.messages)[0] == "summary: real"


def test_boundary_after_half_a_record_on_its_line_is_found(store: SessionStore) -> None:
    history = read(store, role("user", "old"), line(role("user", "half"))[:20] + line(boundary("real", KEPT)))
    assert told(history.messages) == ["summary: real", "kept", "yes"]
    assert history.report.skipped_lines == 1


def test_entries_that_a_boundary_cannot_keep_are_counted(store: SessionStore) -> None:
    history = read(store, boundary("s", [{"role": "wizard"}, "x", KEPT[0]]))
    assert told(history.messages) == ["summary: s", "kept"]
    assert history.report.skipped_lines == 2


def test_empty_summary_adds_no_message(store: SessionStore) -> None:
    assert told(read(store, boundary("", KEPT)).messages) == ["kept", "yes"]


def test_transcript_has_all_that_was_said_whatever_was_compacted(store: SessionStore) -> None:
    write(store, role("user", "old"), role("assistant", call("t1")), boundary("s", KEPT), role("user", "new"))
    assert told(store.transcript(ID)) == ["old", "tool_use:t1", "new"]


# -- the report ----------------------------------------------------------------------------------------


def test_gap_is_told_if_it_is_long(project: Path) -> None:
    store = SessionStore(project, settings=MewCode(time_gap_hours=24))
    history = read(store, role("user", "a", 1_000_000_000), role("title", "t"))
    assert history.last_active is not None
    assert history.last_active.timestamp() == 1_000_000_000
    assert history.report.gap is not None
    assert history.report.gap.days > 8_000
    session = store.resume(ID).session
    session.append(Message(role="user", content="b"))
    session.close()
    assert store.read(ID).report.gap is None


def test_gap_follows_the_setting(project: Path) -> None:
    settings = MewCode(time_gap_hours=1)
    store = SessionStore(project, settings=settings)
    write(store, role("user", "a", int(time.time()) - 7_200))
    assert store.read(ID).report.gap is not None
    settings.time_gap_hours = 3
    assert store.read(ID).report.gap is None


def test_session_without_any_time_has_no_gap(store: SessionStore) -> None:
    history = read(store, role("user", "a", None))
    assert (history.last_active, history.report.gap) == (None, None)


# -- going on ------------------------------------------------------------------------------------------


def test_session_goes_on_in_the_dialect_that_it_has(store: SessionStore) -> None:
    path = write(store, typed("user", "a"), typed("assistant", "b"), name="20260618-091500-ab12")
    resumed = store.resume(ID)
    resumed.session.append(Message(role="user", content="c"))
    resumed.session.rename("New")
    resumed.session.close()
    assert [record["type"] for record in records(path)] == ["user", "assistant", "user", "title"]


def test_torn_last_line_gets_its_end_before_the_next_record(store: SessionStore) -> None:
    path = write(store, role("user", "a"), line(role("assistant", "half"))[:25])
    resumed = store.resume(ID)
    resumed.session.append(Message(role="user", content="b"))
    resumed.session.close()
    assert path.read_bytes().count(b"\n") == 3
    assert told(store.read(ID).messages) == ["a", "b"]


def test_last_record_without_its_newline_is_whole(store: SessionStore) -> None:
    write(store, role("user", "a"), line(role("assistant", "b")).rstrip())
    resumed = store.resume(ID)
    resumed.session.append(Message(role="user", content="c"))
    resumed.session.close()
    assert told(store.read(ID).messages) == ["a", "b", "c"]


LINES = [
    role("user", "p1"),
    role("user", "p2", injected=[{"type": "text", "text": "note"}]),
    role("assistant", "said"),
    role("assistant", call("t1")),
    role("assistant", call("t1", "t2", say="two")),
    role("tool_result", "r", tool_use_id="t1"),
    role("tool_result", "r", tool_use_id="t2"),
    role("assistant", ""),
    role("title", "t"),
    typed("user", "p3"),
    typed("tool_result", "r", tool_use_id="t1", is_error=True),
    boundary("sum", KEPT),
    line(boundary("torn", KEPT))[:60] + b"\n",
    line(role("user", "lost"))[:22],
    b"\0\0\0",
    b"\0\0\n",
    b"\xff\n",
    b"\n",
]
TURNS = [
    Message(role="user", content="more"),
    Message(role="assistant", content=call("t1")),
    Message(role="user", content=[{"type": "tool_result", "tool_use_id": "t1", "content": "r"}]),
    Message(role="assistant", content="fine"),
]


@given(
    st.lists(st.sampled_from(LINES), max_size=12),
    st.lists(st.lists(st.sampled_from(TURNS), max_size=4), min_size=1, max_size=4),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_a_repair_nothing_further_is_lost_by_going_on(
    store: SessionStore, lines: list[dict[str, Any] | bytes], turns: list[list[Message]]
) -> None:
    """Continue, close, resume, any number of times: what was replayed once is replayed again, in order."""
    write(store, *lines)
    for turn in turns:
        resumed = store.resume(ID)
        before = list(resumed.messages)
        assert before == store.read(ID).messages
        session = resumed.session
        assert session.messages == before
        session.append(Message(role="user", content="next prompt"))
        for message in turn:
            session.append(message)
        session.close()
        after = store.read(ID).messages
        assert after[: len(before)] == before
        assert after[len(before)].content == "next prompt"
        assert store.read(ID).messages == after
