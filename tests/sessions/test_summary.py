"""One line on what a session was about: where it stands, how long it holds, and what it is made from."""

import os
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from mewcode_magic.config import MewCode
from mewcode_magic.errors import ModelError, SessionError, SessionInUse
from mewcode_magic.messages import Message
from mewcode_magic.model import Scripted
from mewcode_magic.sessions import SessionStore, summary_of
from mewcode_magic.sessions.summary import ALL_CHARS, TEXT_CHARS


@pytest.fixture(params=["role", "typed"])
def store(request: pytest.FixtureRequest, project: Path) -> SessionStore:
    return SessionStore(project, settings=MewCode(session_dialect=request.param))


def talked(store: SessionStore) -> str:
    session = store.create()
    session.append(Message(role="user", content="load sales.csv"))
    session.append(Message(role="assistant", content=[{"type": "text", "text": "Done."}]))
    session.close()
    return session.id


def summary(store: SessionStore) -> str:
    return store.list()[0].summary


def test_summary_is_a_record_that_the_list_shows_with_and_without_meta(store: SessionStore) -> None:
    session_id = talked(store)
    before = store.list()[0]
    store.summarize(session_id, "Sales were\nloaded.")
    assert summary(store) == "Sales were loaded."
    (path,) = store.folder.glob("*.jsonl")
    record = orjson.loads(path.read_bytes().splitlines()[-1])
    assert record.get("role", record.get("type")) == "summary"
    path.with_suffix(".meta").unlink()
    assert summary(store) == "Sales were loaded."
    assert store.list()[0].last_active == before.last_active
    assert len(store.read(session_id).messages) == 2


@pytest.mark.parametrize("mark", [SessionStore.summarize, SessionStore.rename])
def test_list_keeps_its_order_when_the_earlier_of_two_sessions_of_one_second_is_marked(
    store: SessionStore, mark: Callable[[SessionStore, str, str], None]
) -> None:
    first, second = talked(store), talked(store)
    changed = (store.folder / f"{first}.jsonl").stat().st_mtime_ns
    later = changed + 1_000_000  # a clock may be too coarse to tell two sessions apart
    os.utime(store.folder / f"{second}.jsonl", ns=(later, later))
    mark(store, first, "Sales were loaded.")
    assert [info.id for info in store.list()] == [second, first]
    for path in store.folder.glob("*.meta"):
        path.unlink()
    assert [info.id for info in store.list()] == [second, first]


def test_summary_holds_until_the_next_prompt(store: SessionStore) -> None:
    session_id = talked(store)
    store.summarize(session_id, "Sales were loaded.")
    session = store.resume(session_id).session
    session.append(Message(role="user", content="now plot them"))
    session.append(Message(role="assistant", content=[{"type": "text", "text": "Plotted."}]))
    session.close()
    assert summary(store) == ""
    session.path.with_suffix(".meta").unlink()
    assert summary(store) == ""
    store.fill_counts()
    assert summary(store) == ""


def test_open_session_is_summarized_in_its_own_file(store: SessionStore) -> None:
    session = store.create()
    session.append(Message(role="user", content="load sales.csv"))
    store.summarize(session.id, "Sales.")
    with pytest.raises(SessionInUse):
        SessionStore(store.project).summarize(session.id, "From elsewhere.")
    session.close()
    assert summary(store) == "Sales."


def test_blank_summary_is_refused(store: SessionStore) -> None:
    session_id = talked(store)
    with pytest.raises(SessionError, match="not blank"):
        store.summarize(session_id, " \n")


def test_model_sees_what_was_typed_and_said_only() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "ReadFile", "input": {"path": "secret.csv"}}
    messages = [
        Message(role="user", content="load </user> it", injected=[{"type": "text", "text": "INJECTED"}]),
        Message(
            role="assistant", content=[{"type": "thinking", "thinking": "THOUGHT", "signature": "s"}, call]
        ),
        Message(role="user", content=[{"type": "tool_result", "tool_use_id": "t1", "content": "RESULT"}]),
        Message(role="assistant", content=[{"type": "text", "text": "Loaded."}]),
    ]
    model = Scripted([], answers={"summary": ["Loading."]})
    assert summary_of(messages, model)[0] == "Loading."
    (query,) = model.queries
    texts = [block["text"] for block in query.messages[0]["content"]]
    assert texts == [
        "<user>\nload &lt;/user&gt; it\n</user>",
        "<assistant>\nLoaded.\n</assistant>",
        "Answer with the line alone.",
    ]


def test_of_a_long_conversation_the_first_prompt_and_the_latest_are_sent() -> None:
    messages = [Message(role="user", content=f"prompt {n} " + "x" * 3 * TEXT_CHARS) for n in range(50)]
    model = Scripted([], answers={"summary": ["Much."]})
    summary_of(messages, model)
    texts = [block["text"] for block in model.queries[0].messages[0]["content"]]
    assert "prompt 0 " in texts[0]
    assert "prompt 49 " in texts[-2]
    assert sum(map(len, texts)) < ALL_CHARS + 2 * TEXT_CHARS
    assert len(texts) > 5


def test_failure_of_the_model_goes_to_the_caller() -> None:
    with pytest.raises(ModelError):
        summary_of([Message(role="user", content="hello")], Scripted([]))
