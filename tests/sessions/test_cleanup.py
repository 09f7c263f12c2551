"""Old sessions go to the trash, and from there for good; what is still wanted never does."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from session_files import boundary, files, line, role, write

from mewcode_magic.config import MewCode
from mewcode_magic.sessions import SessionStore

NOW = time.time()
DAY = 86_400


def old(
    store: SessionStore, name: str, *more: dict[str, Any] | bytes, days: float = 40, **extra: Any
) -> Path:
    return write(store, role("user", name, int(NOW - days * DAY), **extra), *more, name=name)


def test_inactive_sessions_are_moved_by_their_last_record(store: SessionStore) -> None:
    old(store, "old")
    old(store, "young", days=10)
    recent = old(store, "recently-written")
    os.utime(recent, (NOW, NOW))
    aged = old(store, "active", days=1)
    os.utime(aged, (NOW - 90 * DAY, NOW - 90 * DAY))
    assert sorted(store.cleanup()) == ["old", "recently-written"]
    assert sorted(info.id for info in store.list()) == ["active", "young"]
    assert files(store.folder / ".trash") == ["old.jsonl", "recently-written.jsonl"]
    assert store.cleanup() == []


def test_age_is_a_setting_and_an_argument(project: Path) -> None:
    settings = MewCode(session_max_age_days=0)
    store = SessionStore(project, settings=settings)
    old(store, "a")
    old(store, "b", days=10)
    assert store.cleanup() == []
    assert store.cleanup(0) == []
    assert store.cleanup(20) == ["a"]
    settings.session_max_age_days = 5
    assert store.cleanup() == ["b"]


def test_trash_is_emptied_also_where_no_session_is_too_old(store: SessionStore) -> None:
    old(store, "a", days=1)
    store.delete("a")
    trashed = store.folder / ".trash" / "a.jsonl"
    os.utime(trashed, (NOW - 31 * DAY, NOW - 31 * DAY))
    assert store.cleanup(0) == []
    assert not trashed.exists()


def test_titles_and_boundaries_do_not_keep_a_session_young(store: SessionStore) -> None:
    old(store, "a", role("title", "t", NOW), boundary("s", [], NOW))
    assert store.cleanup() == ["a"]


@pytest.mark.parametrize("first", [True, False])
def test_imported_session_counts_from_its_import(store: SessionStore, first: bool) -> None:  # noqa: FBT001
    marker = role("imported", {}, NOW - 3 * DAY)
    said = role("user", "x", NOW - 90 * DAY)
    write(store, *([marker, said] if first else [said, marker]), name="a")
    assert store.cleanup() == []
    assert store.cleanup(2) == ["a"]


def test_open_session_stays(store: SessionStore, project: Path) -> None:
    old(store, "a")
    session = store.resume("a").session
    assert store.cleanup() == []
    assert SessionStore(project).cleanup() == []
    session.close()
    assert store.cleanup() == ["a"]


@pytest.mark.parametrize(
    "end",
    [b'{"role":"user","content":"torn', b"\0\0\0\0", b"garbage\n", b"\0" * 200_000],
)
def test_session_with_a_damaged_end_stays(store: SessionStore, end: bytes) -> None:
    old(store, "a", end)
    assert store.cleanup() == []


def test_session_without_any_time_stays(store: SessionStore) -> None:
    write(store, role("user", "x", None), name="a")
    write(store, b"", name="empty")
    assert store.cleanup() == []


def test_latest_session_of_a_notebook_stays(store: SessionStore) -> None:
    old(store, "a", days=60, notebook="n.ipynb")
    old(store, "b", days=50, notebook="n.ipynb")
    old(store, "c", days=70, notebook="m.ipynb")
    old(store, "d", days=45)
    assert sorted(store.cleanup()) == ["a", "d"]


def test_cache_that_claims_an_age_is_not_believed(store: SessionStore) -> None:
    path = old(store, "a", days=1)
    meta = path.with_suffix(".meta")
    meta.write_text('{"title": "x", "last_active": "2001-01-01T00:00:00+00:00", "message_count": 1}')
    assert store.cleanup() == []


def test_trash_is_emptied_after_its_days(project: Path) -> None:
    store = SessionStore(project, settings=MewCode(trash_days=7))
    old(store, "a")
    store.fill_counts()
    assert store.cleanup() == ["a"]
    trash = store.folder / ".trash"
    assert files(trash) == ["a.jsonl", "a.meta"]
    (trash / "folder").mkdir()
    store.cleanup()
    assert len(files(trash)) == 3
    for path in trash.iterdir():
        os.utime(path, (NOW - 8 * DAY, NOW - 8 * DAY))
    store.cleanup()
    assert files(trash) == ["folder"]


def test_long_last_line_is_no_obstacle(store: SessionStore) -> None:
    reply = line(
        role("assistant", "y" * 3_000_000, int(NOW - 39 * DAY), model="m", usage={"input_tokens": 1})
    )
    old(store, "a", reply)
    assert store.cleanup() == ["a"]
