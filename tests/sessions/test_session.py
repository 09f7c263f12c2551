"""One open session: file first, then memory; what others do to the file meanwhile."""

import json
import stat
from pathlib import Path

import pytest
from session_files import ID, call, files, line, records, role, told, write

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SessionError, StorageError
from mewcode_magic.messages import Message, Surfaced, Usage
from mewcode_magic.sessions import Session, SessionStore

PROMPT = Message(role="user", content="load sales.csv")
REPLY = Message(
    role="assistant", content=[{"type": "text", "text": "done"}], model="m", usage=Usage(5, 7, 0, 9)
)


def append_as_another_program(session: Session, *lines: bytes) -> None:
    with session.path.open("ab") as file:
        file.write(b"".join(lines))


def test_nothing_is_left_behind_without_a_record(store: SessionStore, project: Path) -> None:
    session = store.create()
    assert session.messages == []
    session.end_turn()
    session.close()
    assert files(project) == [".git"]


def test_first_record_makes_the_file_and_private_folders(store: SessionStore, project: Path) -> None:
    session = store.create()
    session.append(PROMPT)
    session.close()
    assert [record["role"] for record in records(session.path)] == ["user"]
    assert session.path == project / ".mewcode" / "sessions" / f"{session.id}.jsonl"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (project / ".mewcode").rglob("*")}
    assert modes.pop(project / ".mewcode" / ".gitignore")
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
    assert "sessions/" in (project / ".mewcode" / ".gitignore").read_text().splitlines()


def test_gitignore_that_stands_is_left_alone(store: SessionStore, project: Path) -> None:
    (project / ".mewcode").mkdir()
    (project / ".mewcode" / ".gitignore").write_text("mine\n")
    session = store.create()
    session.append(PROMPT)
    session.close()
    assert (project / ".mewcode" / ".gitignore").read_text() == "mine\n"


def test_append_returns_and_remembers_the_message_as_it_is_recorded(store: SessionStore) -> None:
    session = store.create()
    prompt = Message(
        role="user",
        content="hi {there} $x",
        injected=[{"type": "text", "text": "note"}],
        recalled=[Surfaced("slug", "2026-01-01")],
        notebook="n.ipynb",
        cell="c1",
        run="r1",
    )
    recorded = session.append(prompt)
    assert recorded.ts is not None
    assert session.messages == [recorded]
    (record,) = records(session.path)
    assert record == {
        "role": "user",
        "content": "hi {there} $x",
        "injected": [{"type": "text", "text": "note"}],
        "ts": recorded.ts,
        "recalled": [{"slug": "slug", "updated": "2026-01-01"}],
        "notebook": "n.ipynb",
        "cell": "c1",
        "run": "r1",
    }
    session.close()


def test_results_of_one_message_are_one_record_each(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    session.append(Message(role="assistant", content=call("t1", "t2")))
    content = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "a"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "b", "is_error": True},
    ]
    session.append(Message(role="user", content=content, variables={"t1": ["df"]}))
    session.close()
    last = [{k: v for k, v in record.items() if k != "ts"} for record in records(session.path)[2:]]
    assert last == [
        {"role": "tool_result", "tool_use_id": "t1", "content": "a", "variables": ["df"]},
        {"role": "tool_result", "tool_use_id": "t2", "content": "b", "is_error": True},
    ]
    assert store.read(session.id).messages == session.messages


def test_typed_dialect_is_written_if_it_is_set(project: Path) -> None:
    store = SessionStore(project, settings=MewCode(session_dialect="typed"))
    session = store.create()
    session.append(PROMPT)
    session.append(Message(role="assistant", content=call("t1")))
    session.append(
        Message(role="user", content=[{"type": "tool_result", "tool_use_id": "t1", "content": "a"}])
    )
    session.close()
    assert session.id.startswith("session_2")
    found = records(session.path)
    assert [list(record) for record in found] == [
        ["type", "content", "timestamp"],
        ["type", "content", "timestamp"],
        ["type", "content", "timestamp", "tool_use_id", "is_error"],
    ]
    assert store.read(session.id).messages == session.messages


def test_each_record_is_one_line_whatever_is_in_it(store: SessionStore) -> None:
    session = store.create()
    session.append(Message(role="user", content="one\ntwo\r\nthree\u2028four\u2029five\x85six"))
    session.close()
    assert session.path.read_bytes().count(b"\n") == 1
    assert store.read(session.id).messages == session.messages


def test_title_is_the_first_prompt_until_it_is_renamed(store: SessionStore) -> None:
    session = store.create()
    assert session.title == ""
    session.append(
        Message(role="user", content="  load\n sales.csv  ", injected=[{"type": "text", "text": "note"}])
    )
    session.append(Message(role="user", content="another"))
    assert session.title == "load sales.csv"
    session.rename("Sales\nof 2026")
    assert session.title == "Sales of 2026"
    session.close()
    assert store.resume(session.id).session.title == "Sales of 2026"


def test_blank_title_is_refused(store: SessionStore) -> None:
    session = store.create()
    with pytest.raises(SessionError, match="blank"):
        session.rename(" \n")
    session.close()


def test_names_that_are_no_utf8_are_shown_without_what_is_no_character(store: SessionStore) -> None:
    session = store.create(notebook="caf\udce9.ipynb")
    session.append(PROMPT)
    session.rename("half \ud83d of it\x1b[0m")
    session.close()
    (info,) = store.list()
    assert (info.title, info.notebook) == ("half of it [0m", "caf .ipynb")


def test_notebook_is_that_of_the_last_prompt(store: SessionStore) -> None:
    session = store.create(notebook="a.ipynb")
    assert session.notebook == "a.ipynb"
    session.append(Message(role="user", content="x", notebook="b.ipynb"))
    session.append(REPLY)
    assert session.notebook == "b.ipynb"
    session.close()


def test_end_of_a_turn_writes_the_cache_of_the_list(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    reply = session.append(REPLY)
    session.end_turn()
    meta = json.loads(session.path.with_suffix(".meta").read_text())
    assert reply.ts is not None
    assert (meta["id"], meta["title"]) == (session.id, "load sales.csv")
    assert (meta["message_count"], meta["total_tokens"]) == (2, 21)
    assert meta["token_usage"] == {
        "input_tokens": 5,
        "output_tokens": 7,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 9,
    }
    assert meta["last_active"].endswith("+00:00")
    session.close()


def test_usage_adds_up_over_kernels(store: SessionStore) -> None:
    session = store.create()
    assert session.usage == Usage()
    for _ in range(2):
        session.append(PROMPT)
        session.append(REPLY)
        assert session.usage is not None
        session.close()
        session = store.resume(session.id).session
    session.append(REPLY)
    assert session.usage == Usage(15, 21, 0, 27)
    session.end_turn()
    assert [info.usage for info in store.list()] == [Usage(15, 21, 0, 27)]
    session.close()


def test_closed_session_takes_nothing_and_closing_again_is_harmless(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    session.close()
    session.close()
    with pytest.raises(SessionError, match=f"%resume {session.id}"):
        session.append(REPLY)
    with pytest.raises(SessionError, match="closed"):
        session.rename("x")
    assert len(records(session.path)) == 1


def test_session_that_nobody_closed_gives_its_descriptor_back(store: SessionStore) -> None:
    before = set(files(Path("/proc/self/fd")))
    session = store.create()
    session.append(PROMPT)
    del session
    assert set(files(Path("/proc/self/fd"))) <= before


# -- other writers -------------------------------------------------------------------------------------


def test_records_of_another_program_are_noticed(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    assert session.refresh() == []
    append_as_another_program(
        session, line(role("assistant", "from elsewhere", 5)), line(role("title", "Theirs"))
    )
    new = session.refresh()
    assert told(new) == ["from elsewhere"]
    session.append(Message(role="user", content="next"))
    session.end_turn()
    assert told(session.messages) == ["load sales.csv", "from elsewhere", "next"]
    assert session.title == "Theirs"
    assert json.loads(session.path.with_suffix(".meta").read_text())["message_count"] == 3
    assert session.refresh() == []
    session.close()
    assert store.read(session.id).messages == session.messages


def test_records_of_another_program_before_own_ones_take_their_place(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    append_as_another_program(session, line(role("assistant", "theirs", 5)))
    session.append(Message(role="user", content="mine"))
    assert told(session.refresh()) == ["theirs"]
    assert told(session.messages) == ["load sales.csv", "theirs", "mine"]
    session.close()


def test_half_a_record_of_another_program_is_ended_before_the_next(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    append_as_another_program(session, line(role("assistant", "half"))[:20])
    assert session.refresh() == []
    session.append(Message(role="user", content="next"))
    session.close()
    assert told(store.read(session.id).messages) == ["load sales.csv", "next"]


def test_half_a_record_that_was_not_noticed_costs_no_other(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    append_as_another_program(session, line(role("assistant", "half"))[:20])
    session.append(Message(role="user", content="next"))
    session.close()
    history = store.read(session.id)
    assert told(history.messages) == ["load sales.csv", "next"]
    assert history.report.skipped_lines == 1


def test_file_that_an_editor_replaced_is_read_anew(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    session.append(REPLY)
    edited = session.path.with_suffix(".new")
    edited.write_bytes(line(role("user", "edited", 5)))
    edited.replace(session.path)
    session.refresh()
    session.append(Message(role="user", content="next"))
    session.close()
    assert told(store.read(session.id).messages) == ["edited", "next"]


def test_file_that_was_deleted_is_written_once_more(store: SessionStore) -> None:
    session = store.create()
    session.append(PROMPT)
    session.append(REPLY)
    session.rename("Sales")
    for path in store.folder.iterdir():
        path.unlink()
    store.folder.rmdir()
    assert session.refresh() == []
    session.append(Message(role="user", content="next"))
    session.close()
    assert told(store.read(session.id).messages) == ["load sales.csv", "done", "next"]
    assert store.list()[0].title == "Sales"


# -- writes that fail ----------------------------------------------------------------------------------


def test_record_is_kept_until_the_folder_can_be_made(store: SessionStore, project: Path) -> None:
    blocking = project / ".mewcode"
    blocking.write_text("a file")
    session = store.create()
    with pytest.raises(StorageError, match="a file stands where a folder should be"):
        session.append(PROMPT)
    with pytest.raises(StorageError):
        session.append(REPLY)
    assert session.messages == []
    blocking.unlink()
    session.append(Message(role="user", content="third"))
    assert told(session.messages) == ["load sales.csv", "done", "third"]
    session.close()
    assert store.read(session.id).messages == session.messages


def test_closing_tells_of_records_that_could_not_be_written(store: SessionStore, project: Path) -> None:
    (project / ".mewcode").write_text("a file")
    session = store.create()
    with pytest.raises(StorageError):
        session.append(PROMPT)
    with pytest.raises(StorageError):
        session.close()
    session.close()


@pytest.mark.parametrize("name", ["sessions", ".mewcode"])
def test_broken_link_where_a_folder_should_be_is_one_clear_error(
    store: SessionStore, project: Path, name: str
) -> None:
    link = project / ".mewcode" if name == ".mewcode" else project / ".mewcode" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(project / "nowhere")
    session = store.create()
    with pytest.raises(StorageError, match="cannot"):
        session.append(PROMPT)
    assert store.list() == []
    link.unlink()
    session.append(REPLY)
    session.close()
    assert told(store.read(session.id).messages) == ["load sales.csv", "done"]


def test_link_in_place_of_the_cache_is_not_followed(store: SessionStore, project: Path) -> None:
    target = project / "precious"
    target.write_text("keep me")
    write(store, role("user", "a"))
    (store.folder / f"{ID}.meta").symlink_to(target)
    session = store.resume(ID).session
    session.append(REPLY)
    session.close()
    assert target.read_text() == "keep me"
    assert json.loads((store.folder / f"{ID}.meta").read_text())["title"] == "a"
