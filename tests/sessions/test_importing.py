import time
from pathlib import Path

import pytest
from claude_transcripts import ClaudeTranscript, said, session_with_tools
from session_files import ID, TYPED_ID, boundary, call, files, records, role, told, typed, write

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SessionError, StorageError
from mewcode_magic.sessions import SessionStore
from mewcode_magic.sessions.importing import import_sessions

DAY = 86_400


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return session_with_tools().write(tmp_path / "claude" / "5a3c.jsonl")


@pytest.fixture
def elsewhere(tmp_path: Path) -> SessionStore:
    """The sessions of another project."""
    return SessionStore(tmp_path / "elsewhere")


def test_transcript_becomes_a_session_that_can_be_resumed(store: SessionStore, transcript: Path) -> None:
    (done,) = import_sessions(store, transcript)
    assert (done.title, done.messages, done.skipped_lines) == ("why does the parser fail?", 4, 0)
    resumed = store.resume(done.session_id)
    assert told(resumed.messages) == [
        "why does the parser fail?",
        "thinking:None,tool_use:t1,tool_use:t2",
        "tool_result:t1,tool_result:t2",
        "It has no body.",
    ]
    assert (resumed.report.skipped_lines, resumed.report.dropped_messages) == (0, 0)
    resumed.session.close()


def test_imported_session_is_private_and_complete(store: SessionStore, transcript: Path) -> None:
    (done,) = import_sessions(store, transcript)
    assert files(store.folder) == [f"{done.session_id}.jsonl", f"{done.session_id}.meta"]
    assert store.list()[0].messages == 4
    assert "sessions/" in (store.folder.parent / ".gitignore").read_text("utf-8")
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in store.folder.iterdir())


def test_records_are_in_the_dialect_of_new_sessions(project: Path, transcript: Path) -> None:
    store = SessionStore(project, settings=MewCode(session_dialect="typed"))
    (done,) = import_sessions(store, transcript)
    assert done.session_id.startswith("session_")
    first, *others = records(store.folder / f"{done.session_id}.jsonl")
    assert first["type"] == "imported"
    assert first["content"]["from"] == str(transcript)
    assert [r["type"] for r in others] == ["user", "assistant", "tool_result", "tool_result", "assistant"]
    assert others[2]["tool_use_id"] == "t1"
    assert others[3]["is_error"] is True


def test_title_and_summary_of_a_compacted_transcript_are_kept(store: SessionStore, tmp_path: Path) -> None:
    t = ClaudeTranscript()
    t.user("u1", "first")
    t.reply("a1", said("one"))
    t.add("system", "c1", parent=None, logicalParentUuid="a1", subtype="compact_boundary", content="…")
    t.user("k1", "About parsers.", isCompactSummary=True)
    t.user("u2", "second")
    t.reply("a2", said("two"))
    t.beside({"type": "custom-title", "customTitle": "Parsers\n"})
    (done,) = import_sessions(store, t.write(tmp_path / "t.jsonl"))
    assert [info.title for info in store.list()] == ["Parsers"]
    history = store.read(done.session_id)
    assert history.report.boundary
    assert told(history.messages)[0].endswith("About parsers.")
    assert told(history.messages)[1:] == ["second", "two"]
    assert told(store.transcript(done.session_id)) == ["first", "one", "second", "two"]


@pytest.mark.parametrize("name", [ID, TYPED_ID])
def test_session_file_of_another_project_is_taken_over_as_it_is(
    store: SessionStore, elsewhere: SessionStore, name: str
) -> None:
    record = typed if name == TYPED_ID else role
    content = {"summary": "s", "keep": []}
    path = write(
        elsewhere,
        record("user", "a", mood="good"),
        record("compact_boundary", content),
        record("user", "b", injected=[{"type": "text", "text": "note"}]),
        record("title", "Parsers"),
        name=name,
    )
    (done,) = import_sessions(store, path)
    assert done.session_id != name
    assert done.session_id.startswith("session_") is (name == TYPED_ID)
    made = (store.folder / f"{done.session_id}.jsonl").read_bytes()
    assert made.partition(b"\n")[2] == path.read_bytes()
    assert done.title == "Parsers"
    assert files(elsewhere.folder) == [path.name]


def test_damaged_lines_are_counted_and_the_rest_is_imported(
    store: SessionStore, elsewhere: SessionStore, tmp_path: Path
) -> None:
    own = write(elsewhere, role("user", "a"), b'{"role":"assi\n', role("assistant", "b"), b'{"role":"us')
    (done,) = import_sessions(store, own)
    assert (done.messages, done.skipped_lines) == (2, 2)
    t = session_with_tools()
    t.beside(b'{"parentUuid":"a4","type":"user","mess')
    (done,) = import_sessions(store, t.write(tmp_path / "t.jsonl"))
    assert (done.messages, done.skipped_lines) == (4, 1)


def test_same_file_is_not_imported_twice_unless_again(store: SessionStore, transcript: Path) -> None:
    (first,) = import_sessions(store, transcript)
    moved = transcript.rename(transcript.with_name("moved.jsonl"))
    (second,) = import_sessions(store, moved)
    assert second.session_id == first.session_id
    assert "imported already" in second.left_out
    assert len(store.list()) == 1
    (third,) = import_sessions(store, moved, again=True)
    assert (third.left_out, third.session_id == first.session_id) == ("", False)
    assert len(store.list()) == 2


def test_file_that_has_grown_since_its_import_says_so(store: SessionStore, transcript: Path) -> None:
    (first,) = import_sessions(store, transcript)
    t = session_with_tools()
    t.user("u2", "and the lexer?")
    t.write(transcript)
    (second,) = import_sessions(store, transcript)
    assert second.session_id == first.session_id
    assert "has changed since" in second.left_out
    assert len(store.list()) == 1


def test_session_that_was_gone_on_with_is_still_known_as_imported(
    store: SessionStore, transcript: Path
) -> None:
    (first,) = import_sessions(store, transcript)
    store.rename(first.session_id, "Parsers")
    assert import_sessions(store, transcript)[0].session_id == first.session_id
    store.delete(first.session_id)
    assert import_sessions(store, transcript)[0].left_out == ""


def test_folder_imports_what_it_holds_and_says_why_not_the_rest(store: SessionStore, tmp_path: Path) -> None:
    folder = tmp_path / "claude"
    session_with_tools().write(folder / "a.jsonl")
    agent = ClaudeTranscript()
    agent.user("s1", "you are a sub-agent", isSidechain=True)
    agent.write(folder / "agent-1.jsonl")
    (folder / "broken.jsonl").write_bytes(b"\x00\xff{]\n")
    (folder / "notes.txt").write_text("no session")
    session_with_tools().write(folder / "sub" / "c.jsonl")
    done = import_sessions(store, folder)
    assert [(one.path.name, bool(one.session_id)) for one in done] == [
        ("a.jsonl", True),
        ("agent-1.jsonl", False),
        ("broken.jsonl", False),
    ]
    assert all("no conversation" in one.left_out for one in done[1:])
    assert len(store.list()) == 1


def test_what_holds_no_session_is_refused_and_leaves_nothing(
    store: SessionStore, project: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text.jsonl"
    text.write_text('{"type": "summary", "summary": "x"}\nhello\n')
    (tmp_path / "empty").mkdir()
    for path, error in [
        (text, SessionError),
        (tmp_path / "empty", SessionError),
        (tmp_path / "nowhere", StorageError),
    ]:
        with pytest.raises(error, match=path.name):
            import_sessions(store, path)
    assert not (project / ".mewcode").exists()


def test_session_of_this_project_is_not_imported(store: SessionStore) -> None:
    path = write(store, role("user", "a"))
    (done,) = import_sessions(store, path)
    assert (done.session_id, "of this project" in done.left_out) == (ID, True)
    assert files(store.folder) == [path.name]


def test_cleanup_counts_from_the_import(store: SessionStore, elsewhere: SessionStore) -> None:
    old = time.time() - 90 * DAY
    path = write(
        elsewhere, role("user", "a", old), role("assistant", call("t1"), old), boundary("s", [], old)
    )
    (done,) = import_sessions(store, path)
    assert store.list()[0].last_active == elsewhere.list()[0].last_active
    assert store.cleanup(30) == []
    assert [info.id for info in store.list()] == [done.session_id]
