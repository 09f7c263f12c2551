"""`trimmed` records: what is sent in place of results and images, and what stays as it was said."""

from typing import Any

import pytest
from session_files import ID, START, TYPED_ID, boundary, call, line, records, role, typed, write

from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def one_call(name: str, said: Any = "whole") -> list[dict[str, Any]]:
    return [role("assistant", call(name)), role("tool_result", said, tool_use_id=name)]


def results(messages: list[Message]) -> dict[str, Any]:
    return {b["tool_use_id"]: b["content"] for m in messages for b in m.tool_results()}


def test_record_replaces_results_that_came_before_it(store: SessionStore) -> None:
    write(
        store,
        role("user", "a"),
        *one_call("t1"),
        *one_call("t2", [{"type": "text", "text": "plot"}, IMAGE]),
        *one_call("t3"),
        role("trimmed", {"t1": "first", "t2": "plot only"}),
        role("user", "b"),
        role("trimmed", {"t1": "less"}),
    )
    history = store.read(ID)
    assert results(history.messages) == {"t1": "less", "t2": "plot only", "t3": "whole"}
    assert (history.report.skipped_lines, history.report.dropped_messages) == (0, 0)


def test_typed_session_is_trimmed_in_its_dialect(store: SessionStore) -> None:
    reply = typed("assistant", call("t1"))
    path = write(
        store,
        typed("user", "a"),
        reply,
        typed("tool_result", "whole", tool_use_id="t1", is_error=True),
        name=TYPED_ID,
    )
    session = store.resume(TYPED_ID).session
    session.trim({"t1": "less"})
    session.append(Message(role="user", content="b"))
    session.close()
    last = records(path)[-2]
    assert (last["type"], last["content"]) == ("trimmed", {"t1": "less"})
    assert last["timestamp"].endswith("+00:00")
    (result,) = [b for m in store.read(TYPED_ID).messages for b in m.tool_results()]
    assert result == {"type": "tool_result", "tool_use_id": "t1", "content": "less", "is_error": True}


def test_images_in_front_of_prompts_are_replaced_by_the_number_of_the_prompt(store: SessionStore) -> None:
    text = {"type": "text", "text": "A figure:"}
    write(
        store,
        role("user", "a", injected=[text, IMAGE]),
        *one_call("t1"),
        role("user", "b", injected=[text, IMAGE]),
        role("trimmed", {"@1": "(gone)"}),
    )
    prompts = [m for m in store.read(ID).messages if m.is_prompt]
    assert [p.injected[1] for p in prompts] == [{"type": "text", "text": "(gone)"}, IMAGE]
    assert [p.text() for p in prompts] == ["a", "b"]


def test_records_before_a_boundary_are_over(store: SessionStore) -> None:
    kept = [{k: v for k, v in r.items() if k != "ts"} for r in one_call("t1")]
    write(store, role("user", "a"), *one_call("t1"), role("trimmed", {"t1": "less"}), boundary("s", kept))
    assert results(store.read(ID).messages) == {"t1": "whole"}


def test_boundary_that_shares_a_torn_line_with_a_record_ends_it(store: SessionStore) -> None:
    kept = [{k: v for k, v in r.items() if k != "ts"} for r in one_call("t1")]
    torn = line(role("trimmed", {"t1": "less"})).rstrip(b"\n")
    write(store, role("user", "a"), *one_call("t1"), torn + line(boundary("s", kept)))
    assert results(store.read(ID).messages) == {"t1": "whole"}


def test_transcript_and_search_have_the_whole(store: SessionStore) -> None:
    write(store, role("user", "a"), *one_call("t1", "heliotrope"), role("trimmed", {"t1": "mauve"}))
    assert results(store.transcript(ID)) == {"t1": "heliotrope"}
    assert [found.info.id for found in store.search("heliotrope")] == [ID]
    assert store.search("mauve") == []


@pytest.mark.parametrize(
    "content", [None, "text", [], {"t1": None}, {"t1": ["x"]}, {"t1": " "}, {"t9": "x"}, {}]
)
def test_record_that_makes_no_sense_changes_nothing(store: SessionStore, content: Any) -> None:
    write(store, role("user", "a"), *one_call("t1"), role("trimmed", content))
    assert results(store.read(ID).messages) == {"t1": "whole"}


def test_record_is_no_part_of_the_conversation_for_the_list(store: SessionStore) -> None:
    write(store, role("user", "a"), *one_call("t1"), role("trimmed", {"t1": "less"}, START + 999))
    store.fill_counts()
    (info,) = store.list()
    assert info.messages == 3
    assert info.last_active is not None
    assert info.last_active.timestamp() == START


def test_trimming_makes_another_list_and_each_message_counts_once(store: SessionStore) -> None:
    session = store.create()
    before = session.messages
    session.append(Message(role="user", content="a"))
    session.append(Message(role="assistant", content=call("t1")))
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "whole"}
    session.append(Message(role="user", content=[result]))
    session.append(Message(role="user", content="b"))
    session.trim({"t1": "less"})
    session.append(Message(role="user", content="c"))
    session.end_turn()
    assert results(before) == {"t1": "whole"}
    assert results(session.messages) == {"t1": "less"}
    assert [m.text() for m in session.messages if m.is_prompt] == ["a", "b", "c"]
    assert [info.messages for info in store.list()] == [5]
    session.close()


def test_what_was_trimmed_stays_so_when_another_program_appends(store: SessionStore) -> None:
    path = write(store, role("user", "a"), *one_call("t1"))
    session = store.resume(ID).session
    session.trim({"t1": "less"})
    with path.open("ab") as file:
        file.write(line(role("user", "from elsewhere")))
    assert [m.text() for m in session.refresh()] == ["from elsewhere"]
    assert results(session.messages) == {"t1": "less"}
    session.close()
