"""Ids: which session a text names, and what a new one is called."""

from pathlib import Path

import pytest
from session_files import ID, TYPED_ID, line, role, told, write

from mewcode_magic.config import MewCode
from mewcode_magic.errors import (
    SessionAmbiguous,
    SessionNotFound,
)
from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore

PROMPT = Message(role="user", content="load sales.csv")
BAD_NAMES = [
    "../outside",
    "..",
    ".",
    "/",
    "/etc/passwd",
    "a/b",
    "\0",
    f"{ID}\0",
    "x" * 300,
    "😀" * 80,
    "😀",
    "",
    " ",
    ".trash",
    "\ud800",
    "a\nb",
    ID + ".jsonl",
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_name_that_is_no_session_is_not_found_whatever_it_is(
    store: SessionStore, project: Path, name: str
) -> None:
    write(store, role("user", "a"))
    (project / ".mewcode" / "outside.jsonl").write_bytes(line(role("user", "secret")))
    for action in (
        store.read,
        store.resume,
        store.fork,
        store.delete,
        store.transcript,
        store.is_open_elsewhere,
    ):
        with pytest.raises(SessionNotFound) as caught:
            action(name)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600
    with pytest.raises(SessionNotFound):
        store.rename(name, "title")
    if name not in ("", " "):
        with pytest.raises(SessionNotFound):
            store.find(name)
    assert [info.id for info in store.list()] == [ID]


def test_name_is_found_by_a_beginning_that_only_it_has(store: SessionStore) -> None:
    for name in (ID, TYPED_ID, "20260618-091501-0000"):
        write(store, role("user", "a"), name=name)
    assert store.find("20260618-091500") == ID
    assert store.find("session") == TYPED_ID
    assert store.find(ID) == ID


def test_id_that_begins_another_names_itself(store: SessionStore) -> None:
    for name in ("chat", "chat-2"):
        write(store, role("user", "a"), name=name)
    assert store.find("chat") == "chat"


def test_beginning_that_several_have_names_them(store: SessionStore) -> None:
    names = [f"20260618-09150{n}-0000" for n in range(7)]
    for name in names:
        write(store, role("user", "a"), name=name)
    with pytest.raises(SessionAmbiguous) as caught:
        store.find("2026")
    assert str(caught.value).startswith(
        "7 sessions begin with '2026': 20260618-091506-0000, 20260618-091505-0000"
    )
    with pytest.raises(SessionNotFound):
        store.find("")


def test_name_that_is_not_found_names_near_ones(store: SessionStore) -> None:
    write(store, role("user", "a"))
    with pytest.raises(SessionNotFound, match=f"near it: {ID}"):
        store.find("20260618-091500-ab21")
    with pytest.raises(SessionNotFound, match="%sessions lists them"):
        store.find("zzz")


def test_name_with_emoji_or_blanks_is_a_name(store: SessionStore) -> None:
    for name in ("😀 my chat", "Sitzung Ä"):
        write(store, role("user", "a"), name=name)
        assert store.find(name[:1]) == name
        session = store.resume(name).session
        session.append(PROMPT)
        session.close()
        assert told(store.read(name).messages) == ["a", "load sales.csv"]


def test_new_ids_have_the_form_of_their_dialect(project: Path) -> None:
    settings = MewCode()
    store = SessionStore(str(project), settings=settings)
    opened = [store.create() for _ in range(2_000)]  # so many in a second meet the same four digits
    made = {session.id for session in opened}
    assert len(made) == len(opened)
    assert all(len(name) == 20 and name[8] == name[15] == "-" for name in made)
    settings.session_dialect = "typed"
    assert store.create().id[:8] == "session_"
    assert len(store.create().id) == 28
