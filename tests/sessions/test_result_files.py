"""Results in files of their own: private, safe names, and gone with their session but not before."""

import os
import shutil
import time
from pathlib import Path

import pytest
from session_files import files, role, write

from mewcode_magic.errors import StorageError
from mewcode_magic.messages import Message
from mewcode_magic.sessions import Session, SessionStore

LONG_AGO = time.time() - 31 * 86_400


def folder_of(session: Session) -> Path:
    return session.path.parents[1] / "session" / "tool-results" / session.id


def begun(store: SessionStore, *texts: str) -> Session:
    """Return a session with these results in files, named in its record as a preview names them."""
    session = store.create()
    session.append(Message(role="user", content="hello"))
    for number, text in enumerate(texts):
        path = session.store_result(f"toolu_{number}", text)
        session.append(Message(role="assistant", content=f"see {path.relative_to(store.project)}"))
    return session


def test_result_is_a_private_file_named_by_session_and_call(store: SessionStore) -> None:
    session = begun(store)
    path = session.store_result("toolu_01", "a\ud800\n\0é")
    assert path == store.project / ".mewcode/session/tool-results" / session.id / "toolu_01.txt"
    assert path.read_bytes() == "a?\n\0é".encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert {folder.stat().st_mode & 0o777 for folder in list(path.parents)[:3]} == {0o700}
    assert "session/" in (store.project / ".mewcode/.gitignore").read_text()
    session.close()


@pytest.mark.parametrize("call", ["../../x", "a/b", "", "..", "x" * 300, "né\0\ud800", "con:*?"])
def test_name_of_a_call_never_leads_out_of_the_folder(store: SessionStore, call: str) -> None:
    session = begun(store)
    path = session.store_result(call, "text")
    assert path.parent == folder_of(session)
    assert path.name.isascii()
    assert len(path.name) < 120
    assert path.read_text() == "text"
    session.close()


def test_calls_of_the_same_id_have_files_of_their_own(store: SessionStore) -> None:
    session = begun(store)
    paths = [session.store_result("call_1", text) for text in ("one", "two", "three")]
    assert [path.name for path in paths] == ["call_1.txt", "call_1-2.txt", "call_1-3.txt"]
    assert [path.read_text() for path in paths] == ["one", "two", "three"]
    session.close()


def test_link_in_place_of_the_file_is_not_written_through(store: SessionStore, tmp_path: Path) -> None:
    session = begun(store, "x")
    other = tmp_path / "other.txt"
    other.write_text("mine")
    (folder_of(session) / "call.txt").symlink_to(other)
    assert session.store_result("call", "text").name == "call-2.txt"
    assert other.read_text() == "mine"
    session.close()


def test_file_in_place_of_the_folder_is_told(store: SessionStore) -> None:
    session = begun(store)
    (store.project / ".mewcode/session").write_text("")
    with pytest.raises(StorageError, match="a file stands where a folder should be"):
        session.store_result("call", "text")
    session.close()


def test_results_of_a_deleted_session_wait_in_their_place_and_go_with_it(store: SessionStore) -> None:
    session = begun(store, "one")
    folder = folder_of(session)
    session.close()
    store.delete(session.id)
    store.cleanup()
    assert (folder / "toolu_0.txt").read_text() == "one"
    os.utime(store.folder / ".trash" / f"{session.id}.jsonl", (LONG_AGO, LONG_AGO))
    store.cleanup()
    assert not folder.exists()


def test_restored_session_finds_its_results(store: SessionStore) -> None:
    session = begun(store, "one")
    session.close()
    store.delete(session.id)
    trashed = store.folder / ".trash" / f"{session.id}.jsonl"
    shutil.move(trashed, store.folder)
    named = store.read(session.id).messages[-1].text().removeprefix("see ")
    assert (store.project / named).read_text() == "one"
    store.cleanup()
    assert (store.project / named).exists()


def test_inactive_session_that_is_cleaned_up_keeps_its_results_until_it_is_purged(
    store: SessionStore,
) -> None:
    write(store, role("user", "a", int(LONG_AGO) - 86_400), name="old")
    folder = store.project / ".mewcode/session/tool-results/old"
    folder.mkdir(parents=True)
    (folder / "t1.txt").write_text("one")
    os.utime(folder, (LONG_AGO, LONG_AGO))
    assert store.cleanup() == ["old"]
    assert folder.exists()
    os.utime(store.folder / ".trash" / "old.jsonl", (LONG_AGO, LONG_AGO))
    store.cleanup()
    assert not folder.exists()


def test_results_of_sessions_removed_by_hand_go_after_a_while_and_foreign_files_stay(
    store: SessionStore,
) -> None:
    session = begun(store, "one")
    session.close()
    session.path.unlink()
    foreign = folder_of(session).parent / "toolu_foreign.txt"
    foreign.write_text("theirs")
    os.utime(foreign, (LONG_AGO, LONG_AGO))
    store.cleanup()
    assert folder_of(session).exists()
    os.utime(folder_of(session), (LONG_AGO, LONG_AGO))
    store.cleanup()
    assert not folder_of(session).exists()
    assert foreign.exists()


def test_results_of_an_open_session_stay_however_old_its_trash(store: SessionStore) -> None:
    session = begun(store, "one")
    trash = store.folder / ".trash"
    trash.mkdir()
    shutil.copy(session.path, trash)  # one that was copied back instead of moved
    os.utime(trash / session.path.name, (LONG_AGO, LONG_AGO))
    os.utime(folder_of(session), (LONG_AGO, LONG_AGO))
    store.cleanup()
    assert folder_of(session).exists()
    session.close()


def test_copy_of_a_session_has_results_of_its_own(store: SessionStore) -> None:
    session = begun(store, "one", "two")
    session.close()
    copy = store.fork(session.id).session
    named = [m.text().removeprefix("see ") for m in copy.messages[1:]]
    assert [Path(name).parent.name for name in named] == [copy.id] * 2
    shutil.rmtree(folder_of(session))
    assert [(store.project / name).read_text() for name in named] == ["one", "two"]
    assert (store.project / named[0]).stat().st_mode & 0o777 == 0o600
    again = store.fork(copy.id).session
    assert again.id in again.messages[1].text()
    copy.close()
    again.close()


def test_links_among_results_are_not_followed_by_a_copy(store: SessionStore, tmp_path: Path) -> None:
    session = begun(store, "one")
    session.close()
    (tmp_path / "secret").write_text("mine")
    (folder_of(session) / "toolu_9.txt").symlink_to(tmp_path / "secret")
    copy = store.fork(session.id).session
    assert files(folder_of(copy)) == ["toolu_0.txt"]
    copy.close()
