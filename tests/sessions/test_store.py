"""The store: which sessions there are, copies, titles, and the trash."""

import json
import os
from pathlib import Path

import pytest
from session_files import ID, START, TYPED_ID, call, files, line, records, role, told, typed, write

from mewcode_magic.errors import (
    SessionError,
    SessionInUse,
    SessionNotFound,
    StorageError,
)
from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions import SessionStore

PROMPT = Message(role="user", content="load sales.csv")


def ids(store: SessionStore) -> list[str]:
    return [info.id for info in store.list()]


# -- list ----------------------------------------------------------------------------------------------


def test_list_of_no_folder_is_empty_and_makes_none(store: SessionStore, project: Path) -> None:
    assert store.list() == []
    assert store.fill_counts() == 0
    assert store.cleanup() == []
    assert files(project) == [".git"]


def test_list_is_in_the_order_of_the_last_records(store: SessionStore) -> None:
    write(store, role("user", "a", 100), role("title", "t", 900), name="one")
    write(store, role("user", "b", 300), role("summary", "s", 310), name="two")
    write(store, typed("user", "c", "1970-01-01T00:03:20+00:00"), name="three")
    write(store, role("user", "d", None), name="four")
    assert ids(store) == ["two", "three", "one", "four"]


def test_opening_a_session_does_not_reorder_the_list(store: SessionStore) -> None:
    write(store, role("user", "a", 100), name="one")
    write(store, role("user", "b", 300), name="two")
    resumed = store.resume("one")
    resumed.session.refresh()
    resumed.session.end_turn()
    resumed.session.rename("Opened")
    resumed.session.close()
    assert ids(store) == ["two", "one"]


def test_session_is_listed_with_what_its_ends_tell(store: SessionStore) -> None:
    path = write(
        store,
        role("user", "load sales.csv", notebook="n.ipynb"),
        role("assistant", call("t1"), START + 5),
        role("tool_result", "x", START + 9, tool_use_id="t1"),
    )
    (info,) = store.list()
    assert (info.id, info.path, info.title, info.notebook) == (ID, path, "load sales.csv", "n.ipynb")
    assert info.created is not None
    assert info.last_active is not None
    assert (info.created.timestamp(), info.last_active.timestamp()) == (START, START + 9)
    assert info.created.utcoffset() is not None
    assert (info.messages, info.tokens, info.dialect) == (None, None, "role")


def test_counts_are_filled_in_behind(store: SessionStore) -> None:
    write(
        store,
        role("user", "a"),
        role("assistant", call("t1", "t2"), usage={"input_tokens": 5, "output_tokens": 6}),
        role("tool_result", "x", tool_use_id="t1"),
        role("title", "Sales"),
        role("tool_result", "y", tool_use_id="t2"),
        {"role": "compact_boundary", "content": {"summary": "", "keep": []}, "ts": START},
        role("assistant", "b", usage={"cache_read_input_tokens": 9}),
        b"torn",
    )
    write(store, role("user", "b", 1), name="other")
    assert store.fill_counts() == 2
    info, other = store.list()
    assert (info.title, info.messages, info.tokens) == ("Sales", 4, 20)
    assert (other.title, other.messages, other.tokens) == ("b", 1, 0)
    assert (info.usage, other.usage) == (Usage(5, 6, 0, 9), Usage())
    assert store.fill_counts() == 0


def test_what_is_no_session_file_is_not_listed(store: SessionStore) -> None:
    write(store, role("user", "a"))
    (store.folder / "folder.jsonl").mkdir()
    (store.folder / "broken.jsonl").symlink_to("nowhere")
    (store.folder / "outside.jsonl").symlink_to("/etc/passwd")
    (store.folder / "notes.txt").write_text("x")
    (store.folder / ".hidden.jsonl").write_bytes(line(role("user", "a")))
    (store.folder / ".jsonl").write_bytes(line(role("user", "a")))
    os.mkfifo(store.folder / "pipe.jsonl")
    os.close(os.open(os.fsencode(store.folder) + b"/no\xffutf8.jsonl", os.O_CREAT))
    assert ids(store) == [ID]
    assert store.fill_counts() == 1
    assert store.cleanup(1) == [ID]
    for name in ("folder", "broken", "outside", "pipe"):
        with pytest.raises(SessionNotFound):
            store.resume(name)


def test_file_where_the_folder_should_be_is_one_clear_error(store: SessionStore) -> None:
    store.folder.parent.mkdir()
    store.folder.write_text("x")
    for action in (store.list, store.fill_counts, store.cleanup):
        with pytest.raises(StorageError, match="a file stands where a folder should be"):
            action()
    with pytest.raises(StorageError, match="a file stands"):
        store.read(ID)


# -- locks ---------------------------------------------------------------------------------------------


def test_session_that_is_open_is_not_opened_again(store: SessionStore, project: Path) -> None:
    write(store, role("user", "a"))
    resumed = store.resume(ID)
    other = SessionStore(project)
    for opening in (store, other):
        with pytest.raises(SessionInUse, match=f"process {os.getpid()} on .*%resume {ID} --fork"):
            opening.resume(ID)
    assert other.is_open_elsewhere(ID)
    assert not store.is_open_elsewhere(ID)
    assert told(other.read(ID).messages) == ["a"]
    resumed.session.close()
    assert not other.is_open_elsewhere(ID)
    other.resume(ID).session.close()


def test_looking_leaves_no_lock_file(store: SessionStore) -> None:
    write(store, role("user", "a"))
    assert not store.is_open_elsewhere(ID)
    store.read(ID)
    store.transcript(ID)
    assert files(store.folder) == [f"{ID}.jsonl"]


# -- copies --------------------------------------------------------------------------------------------


def test_copy_goes_on_while_the_original_is_open(store: SessionStore, project: Path) -> None:
    path = write(store, role("user", "a", 100), role("assistant", "b", 200), b'{"unknown": 1}\n')
    original = store.resume(ID)
    fork = SessionStore(project).fork(ID)
    assert fork.session.id != ID
    assert told(fork.messages) == ["a", "b"]
    assert fork.session.title == "a (fork)"
    fork.session.append(PROMPT)
    fork.session.close()
    original.session.close()
    assert fork.session.path.read_bytes().startswith(path.read_bytes())
    assert told(store.read(ID).messages) == ["a", "b"]
    again = store.fork(fork.session.id)
    assert again.session.title == "a (fork)"
    again.session.close()


def test_copy_has_the_dialect_and_the_torn_end_of_the_original(store: SessionStore) -> None:
    write(store, typed("user", "a"), line(typed("assistant", "half"))[:30], name=TYPED_ID)
    fork = store.fork(TYPED_ID)
    fork.session.append(PROMPT)
    fork.session.close()
    assert fork.session.id.startswith("session_")
    assert told(store.read(fork.session.id).messages) == ["a", "load sales.csv"]


# -- titles --------------------------------------------------------------------------------------------


def test_title_stands_in_the_file_and_in_the_list_at_once(store: SessionStore) -> None:
    path = write(store, role("user", "a"), line(role("user", "half"))[:20])
    store.rename(ID, "  My\n title ")
    assert store.list()[0].title == "My title"
    path.with_suffix(".meta").unlink()
    assert store.list()[0].title == "My title"
    assert told(store.read(ID).messages) == ["a"]
    assert not SessionStore(store.project).is_open_elsewhere(ID)
    with pytest.raises(SessionError, match="blank"):
        store.rename(ID, " ")


def test_title_of_an_open_session_is_changed_through_it_only_here(store: SessionStore, project: Path) -> None:
    session = store.create()
    session.append(PROMPT)
    store.rename(session.id, "Here")
    assert session.title == "Here"
    with pytest.raises(SessionInUse):
        SessionStore(project).rename(session.id, "Elsewhere")
    session.close()
    assert records(session.path)[-1]["content"] == "Here"


# -- delete --------------------------------------------------------------------------------------------


def test_deleted_session_is_in_the_trash(store: SessionStore) -> None:
    write(store, role("user", "a"))
    store.fill_counts()
    store.delete(ID)
    assert store.list() == []
    assert files(store.folder) == [".trash"]
    assert files(store.folder / ".trash") == [f"{ID}.jsonl", f"{ID}.meta"]
    with pytest.raises(SessionNotFound):
        store.resume(ID)


def test_open_session_is_not_deleted(store: SessionStore, project: Path) -> None:
    write(store, role("user", "a"))
    resumed = store.resume(ID)
    with pytest.raises(SessionInUse, match="open here"):
        store.delete(ID)
    with pytest.raises(SessionInUse, match="open in process"):
        SessionStore(project).delete(ID)
    resumed.session.append(PROMPT)
    resumed.session.close()
    store.delete(ID)
    assert store.list() == []


# -- .meta ---------------------------------------------------------------------------------------------


def meta(store: SessionStore, text: str | bytes, name: str = ID, *, age: float = -10) -> Path:
    """Write a `.meta` that is `age` seconds older than its JSONL."""
    path = store.folder / f"{name}.meta"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    written = (store.folder / f"{name}.jsonl").stat().st_mtime - age
    os.utime(path, (written, written))
    return path


TERMINAL = {
    "id": TYPED_ID,
    "title": "From the terminal",
    "summary": "short",
    "message_count": 12,
    "total_tokens": 3400,
    "created_at": "2026-06-18T09:15:00+00:00",
    "last_active": "2026-06-18T10:00:00",
    "model": "theirs",
}


def test_cache_of_the_terminal_program_is_used_and_its_other_keys_are_kept(store: SessionStore) -> None:
    write(store, typed("user", "a"), name=TYPED_ID)
    path = meta(store, json.dumps(TERMINAL), TYPED_ID)
    (info,) = store.list()
    assert (info.title, info.summary, info.messages, info.tokens) == ("From the terminal", "short", 12, 3400)
    assert info.usage is None, "of which nothing but the sum is known"
    assert info.last_active is not None
    assert info.last_active.isoformat() == "2026-06-18T10:00:00+00:00"
    assert info.dialect == "typed"
    session = store.resume(TYPED_ID).session
    session.append(PROMPT)
    session.close()
    written = json.loads(path.read_text())
    assert (written["model"], written["message_count"], written["total_tokens"]) == ("theirs", 13, 3400)
    assert written["title"] == "From the terminal"


def test_cache_that_is_older_than_its_file_is_rebuilt(store: SessionStore) -> None:
    write(store, role("user", "a"))
    meta(store, json.dumps({**TERMINAL, "title": "stale"}), age=10)
    (info,) = store.list()
    assert (info.title, info.messages) == ("a", None)
    assert store.fill_counts(store.list()) == 1
    assert store.list()[0].messages == 1


def test_append_in_the_moment_of_the_cache_makes_it_stale(store: SessionStore) -> None:
    path = write(store, role("user", "a"))
    store.fill_counts()
    stamp = path.stat()
    with path.open("ab") as file:
        file.write(line(role("assistant", "b")))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # a clock too coarse to tell
    assert store.list()[0].messages is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff\xfe",
        b"\0" * 100,
        '{"title": 5}',
        '{"message_count": "many"}',
        '{"created_at": "soon"}',
        '{"created_at": "0001-01-01T00:00:00+23:59"}' * 2,
        "[" * 100_000,
    ],
)
def test_corrupt_cache_is_none(store: SessionStore, text: str | bytes) -> None:
    write(store, role("user", "a"))
    meta(store, text)
    (info,) = store.list()
    assert (info.title, info.messages) == ("a", None)
    assert store.fill_counts() == 1
    assert store.list()[0].messages == 1
    resumed = store.resume(ID)
    resumed.session.append(PROMPT)
    resumed.session.close()
    assert store.list()[0].messages == 2


def test_cache_that_is_a_folder_is_none(store: SessionStore) -> None:
    write(store, role("user", "a"))
    (store.folder / f"{ID}.meta").mkdir()
    assert store.list()[0].title == "a"
    assert store.fill_counts() == 0
    session = store.resume(ID).session
    session.append(PROMPT)
    session.end_turn()
    session.close()
    assert told(store.read(ID).messages) == ["a", "load sales.csv"]


def test_counts_go_on_from_where_the_cache_was(store: SessionStore) -> None:
    write(
        store,
        role("user", "old"),
        {"role": "compact_boundary", "content": {"summary": "s", "keep": []}, "ts": 1},
    )
    for expected in (2, 3, 4):
        session = store.resume(ID).session
        session.append(PROMPT)
        session.close()
        assert store.list()[0].messages == expected
