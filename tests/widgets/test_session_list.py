"""The session list, driven as its user does, on real files."""

import json
import threading
import time
from pathlib import Path

import pytest

from mewcode_magic.errors import SessionInUse
from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions import Session, SessionStore
from mewcode_magic.widgets import session_list

EVIL = "<script>alert(1)</script> $x^2$ <img src=x onerror=alert(2)>"
HEADS = "TitleStartedLast activeMessagesTokensNotebook"


@pytest.fixture
def store(project: Path, home: Path) -> SessionStore:
    return SessionStore(project)


def talk(store: SessionStore, prompt: str, *, notebook: str | None = None) -> str:
    """Hold a conversation of one question and answer, and return its id."""
    session = store.create(notebook=notebook)
    say(session, prompt)
    session.close()
    return session.id


def say(session: Session, prompt: str) -> None:
    session.append(Message(role="user", content=prompt))
    session.append(Message(role="assistant", content=[{"type": "text", "text": f"You said: {prompt}"}]))
    session.end_turn()


def written(store: SessionStore, key: str, *prompts: str, ts: int) -> None:
    """Write a session's file as another program would."""
    store.folder.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps(record)
        for prompt in prompts
        for record in (
            {"role": "user", "content": prompt, "ts": ts},
            {"role": "assistant", "content": f"You said: {prompt}", "ts": ts},
        )
    ]
    (store.folder / f"{key}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def make(store, *, current="", resume=lambda _: None, preview=None):
    return session_list(store, current=lambda: current, resume=resume, preview=preview, hides="t1")


def test_no_sessions_says_how_to_begin(store, screen) -> None:
    sessions = screen(make(store))
    assert sessions.names() == []
    assert "%agent" in sessions.text()


def test_showing_writes_nothing(store, project) -> None:
    make(store)
    assert not (project / ".mewcode").exists()


def test_rows_show_title_times_counts_and_notebook(store, screen) -> None:
    talk(store, "load sales.csv", notebook="sales.ipynb")
    (row,) = screen(make(store)).rows()
    assert row[:3] == ["load sales.csv", "just now", "just now"]
    assert row[3] == "2"
    assert row[-1] == "sales.ipynb"


def test_latest_comes_first_and_the_open_one_is_marked(store, screen) -> None:
    written(store, "20260101-100000-aaaa", "older", ts=1_767_261_600)
    written(store, "20260301-100000-bbbb", "newer", ts=1_772_359_200)
    rows = screen(make(store, current="20260101-100000-aaaa")).rows()
    assert [row[0] for row in rows] == ["newer", "older"]
    assert ["open here" in row for row in rows] == [False, True]


def test_numbers_stand_before_the_titles_and_stay_with_their_sessions(store, screen) -> None:
    written(store, "20260101-100000-aaaa", "older", ts=1_767_261_600)
    written(store, "20260301-100000-bbbb", "newer", ts=1_772_359_200)
    numbered = [info.id for info in store.list()]
    widget = session_list(store, current=str, resume=lambda _: None, numbered=numbered, hides="t1")
    written(store, "20260401-100000-cccc", "latest", ts=1_775_037_600)
    widget.refresh()
    assert [row[0] for row in screen(widget).rows()] == ["latest", "1. newer", "2. older"]


def test_times_are_local_with_the_exact_one_on_hover(store, screen, monkeypatch) -> None:
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        # 04:00 UTC is the day before in Los Angeles.
        written(store, "20260101-200000-aaaa", "late", ts=1_767_326_400)
        widget = make(store)
        (row,) = [w for w in screen(widget).seen() if "mew-row" in w._dom_classes]
        assert "last active 2026-01-01 20:00:00" in row.children[0].tooltip.split("\n")
        assert screen(widget).rows()[0][2] == "2026-01-01"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_counts_are_blank_until_they_are_filled_behind(store, screen) -> None:
    written(store, "20260101-100000-aaaa", "one", "two", ts=1_767_261_600)
    widget = make(store)
    sessions = screen(widget)
    assert "4" not in sessions.rows()[0]

    def fill() -> None:
        store.fill_counts()
        widget.refresh()

    thread = threading.Thread(target=fill)
    thread.start()
    thread.join()
    assert "4" in sessions.rows()[0]


def test_filling_behind_leaves_an_opened_session_and_its_line_alone(store, screen) -> None:
    key = talk(store, "hello")
    widget = make(store)
    sessions = screen(widget)
    sessions.press("hello")
    sessions.field("Title").value = "greeting"
    sessions.press("Rename")
    said = sessions.said()
    store.rename(key, "changed elsewhere")
    widget.refresh()
    assert sessions.said() == said
    assert sessions.field("Title").value == "greeting"


@pytest.mark.parametrize(("words", "found"), [("SALES", 2), ("sales load", 1), ("b.ipynb", 1), ("zebra", 0)])
def test_search_looks_at_title_and_notebook(store, screen, words, found) -> None:
    talk(store, "load sales.csv", notebook="a.ipynb")
    talk(store, "plot the sales", notebook="b.ipynb")
    sessions = screen(make(store))
    sessions.field("Search sessions").value = words
    assert len(sessions.names()) == found
    assert ("Clear the search" in sessions.text()) == (found == 0)


def test_row_on_hover_and_opened_session_tell_the_tokens_in_parts(store, screen) -> None:
    session = store.create()
    session.append(Message(role="user", content="hello"))
    session.append(Message(role="assistant", content="hi", usage=Usage(5, 7, 300, 4_000)))
    session.close()
    told = "4,305 tokens in (4,000 from cache, 300 written to it) · 7 out"
    widget = make(store)
    (row,) = [w for w in screen(widget).seen() if "mew-row" in w._dom_classes]
    assert told in row.children[0].tooltip.split("\n")
    sessions = screen(widget)
    sessions.press("hello")
    assert told in sessions.text()


def test_opened_session_shows_its_conversation(store, screen) -> None:
    key = talk(store, "hello")

    def preview(key: str) -> str:
        return "\n".join(f"{m.role}: {m.text()}" for m in store.transcript(key))

    sessions = screen(make(store, preview=preview))
    sessions.press("hello")
    assert "user: hello\nassistant: You said: hello" in sessions.text()
    assert key in sessions.text()
    sessions.press("← All sessions")
    assert sessions.names() == ["hello"]


def test_long_conversation_is_shown_from_its_end(store, screen) -> None:
    talk(store, "hello")
    sessions = screen(make(store, preview=lambda _: "a" * 500_000 + "the end"))
    sessions.press("hello")
    assert len(sessions.text()) < 30_000
    assert "the end" in sessions.text()


def test_session_that_cannot_be_previewed_can_still_be_deleted(store, screen) -> None:
    key = talk(store, "hello")

    def preview(key: str) -> str:
        raise SessionInUse("it cannot be read now")

    sessions = screen(make(store, preview=preview))
    sessions.press("hello")
    assert sessions.failed()
    assert sessions.said() == "it cannot be read now"
    sessions.press("Delete…")
    sessions.press("Delete")
    assert not (store.folder / f"{key}.jsonl").exists()


def test_resume_calls_back_and_marks_the_session(store, screen) -> None:
    key = talk(store, "hello")
    open_ids = [""]

    def resume(key: str) -> None:
        open_ids[0] = key

    widget = session_list(store, current=lambda: open_ids[0], resume=resume, hides="t1")
    sessions = screen(widget)
    sessions.press("hello")
    sessions.press("Resume")
    assert open_ids == [key]
    assert "open here" in sessions.rows()[0]
    assert sessions.said() == "Resumed “hello”. Go on with %%agent."
    sessions.press("hello")
    assert sessions.button("Resume").disabled
    assert sessions.button("Delete…").disabled


def test_what_resume_returns_as_text_is_shown(store, screen) -> None:
    talk(store, "hello")
    sessions = screen(make(store, resume=lambda _: "2 messages are back"))
    sessions.press("hello")
    sessions.press("Resume")
    assert sessions.said() == "2 messages are back"


def test_resume_that_fails_says_why_inside_the_widget(store, screen) -> None:
    talk(store, "hello")
    other = store.create()
    say(other, "held")

    sessions = screen(make(store, resume=lambda key: SessionStore(store.folder.parents[1]).resume(key)))
    sessions.press("held")
    sessions.press("Resume")
    assert sessions.failed()
    assert other.id in sessions.said()
    assert sessions.button("Resume")
    other.close()


def test_fault_of_a_callback_is_shown_and_logged(store, screen, caplog) -> None:
    talk(store, "hello")
    sessions = screen(make(store, resume=lambda _: 1 / 0))
    sessions.press("hello")
    sessions.press("Resume")
    assert sessions.failed()
    assert sessions.said() == "ZeroDivisionError: division by zero"
    assert "Traceback" in caplog.text


def test_rename_goes_to_the_file(store, screen) -> None:
    key = talk(store, "hello")
    sessions = screen(make(store))
    sessions.press("hello")
    sessions.field("Title").value = "Greeting 👋"
    sessions.press("Rename")
    assert sessions.said() == "Renamed to “Greeting 👋”."
    assert "Greeting 👋" in (store.folder / f"{key}.jsonl").read_text(encoding="utf-8")
    sessions.press("← All sessions")
    assert sessions.names() == ["Greeting 👋"]


def test_rename_to_nothing_is_answered(store, screen) -> None:
    talk(store, "hello")
    sessions = screen(make(store))
    sessions.press("hello")
    sessions.field("Title").value = "  "
    sessions.press("Rename")
    assert sessions.said()
    sessions.press("← All sessions")
    assert sessions.names() == ["hello"]


def test_delete_asks_first_and_moves_the_file_to_the_trash(store, screen) -> None:
    key = talk(store, "hello")
    path = store.folder / f"{key}.jsonl"
    sessions = screen(make(store))
    sessions.press("hello")
    sessions.press("Delete…")
    assert path.exists()
    sessions.press("Keep")
    assert path.exists()
    sessions.press("Delete…")
    sessions.press("Delete")
    assert not path.exists()
    assert (store.folder / ".trash" / f"{key}.jsonl").exists()
    assert ".trash" in sessions.said()
    assert sessions.names() == []


def test_delete_of_a_session_open_elsewhere_is_refused(store, screen) -> None:
    other = store.create()
    say(other, "held")
    sessions = screen(make(store))
    sessions.press("held")
    sessions.press("Delete…")
    sessions.press("Delete")
    assert sessions.failed()
    assert other.path.exists()
    other.close()


def test_session_deleted_since_it_was_listed_is_said(store, screen) -> None:
    key = talk(store, "hello")
    sessions = screen(make(store, preview=lambda key: str(store.transcript(key))))
    store.delete(key)
    sessions.press("hello")
    assert sessions.failed()
    sessions.press("← All sessions")
    assert sessions.names() == []


def test_text_from_files_is_never_markup(store, screen) -> None:
    talk(store, EVIL[:40], notebook="<b>.ipynb")
    sessions = screen(make(store, preview=lambda _: f"</pre>{EVIL}"))
    plain = sessions.tags()
    assert sessions.names() == [EVIL[:40]]
    sessions.press(EVIL[:40])
    assert f"</pre>{EVIL}" in sessions.text()
    assert plain | sessions.tags() <= {"div", "span", "pre"}


def test_title_and_text_with_half_a_surrogate_pair_can_be_sent(store, screen) -> None:
    store.folder.mkdir(parents=True)
    record = '{"role":"user","content":"half \\ud83d","ts":1767261600}\n'
    (store.folder / "20260101-100000-aaaa.jsonl").write_text(record, encoding="utf-8")
    sessions = screen(make(store, preview=lambda _: "half \ud83d"))
    sessions.press(sessions.names()[0])
    for widget in sessions.seen():
        json.dumps(widget.get_state(), default=str, ensure_ascii=False).encode("utf-8")


def test_pages_hold_fifty(store, screen) -> None:
    for number in range(120):
        written(store, f"20260101-{number:06}-aaaa", f"talk {number:03}", ts=1_767_261_600 - number)
    sessions = screen(make(store))
    assert sessions.names() == [f"talk {n:03}" for n in range(50)]
    sessions.press("Next")
    sessions.press("Next")
    assert sessions.names() == [f"talk {n:03}" for n in range(100, 120)]
    sessions.press("Previous")
    assert sessions.names()[0] == "talk 050"


def test_damaged_files_are_listed_or_left_out_but_never_break_the_list(store, screen) -> None:
    talk(store, "good")
    (store.folder / "20260101-100000-aaaa.jsonl").write_bytes(b"\x00\xff{not json\n\n")
    (store.folder / "20260101-100000-bbbb.jsonl").mkdir()
    (store.folder / "20260101-100000-cccc.jsonl").symlink_to("nowhere")
    (store.folder / "20260101-100000-dddd.jsonl").touch()
    sessions = screen(make(store))
    assert "good" in sessions.names()
    assert not sessions.failed()


def test_folder_that_is_a_file_is_said_inside_the_widget(store, screen) -> None:
    store.folder.parent.mkdir()
    store.folder.write_text("a file", encoding="utf-8")
    sessions = screen(make(store))
    assert sessions.said()
