"""A save to a path that is given: the memory stands there, and no other is touched."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from memory_files import FISCAL, POLARS, index_lines, names, write

from mewcode_magic.errors import InvalidMemory, MemoryChanged, StorageError
from mewcode_magic.memory import MemoryStore


def test_a_new_memory_stands_at_the_path_that_is_given(store: MemoryStore) -> None:
    saved = store.save(FISCAL, at="finance/year_ends")
    assert saved.path == store.folder("project") / "finance/year_ends.md"
    assert index_lines(store, "project") == [
        "- [fiscal-year](finance/year_ends.md) - how quarters are counted"
    ]


def test_an_update_at_its_own_path_stays_there_under_another_name(store: MemoryStore) -> None:
    saved = store.save(FISCAL, at="year_ends")
    store.save(replace(saved.memory, name="quarters"), at="year_ends", if_unchanged=saved.memory)
    assert [(m.name, m.slug) for m in store.list()] == [("quarters", "year_ends")]


def test_a_memory_moves_to_the_path_that_is_given_and_grows_no_younger(store: MemoryStore) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    saved = store.save(replace(FISCAL, updated=long_ago))
    moved = store.save(saved.memory, at="archive/fiscal", if_unchanged=saved.memory)
    assert (moved.action, moved.memory.updated) == ("moved", long_ago)
    assert not saved.path.exists()
    assert index_lines(store, "project") == ["- [fiscal-year](archive/fiscal.md) - how quarters are counted"]


def test_a_memory_that_moves_with_a_new_body_is_as_old_as_that(store: MemoryStore) -> None:
    saved = store.save(replace(FISCAL, updated=datetime(2020, 1, 1, tzinfo=UTC)))
    moved = store.save(replace(saved.memory, body="It starts in May."), at="archive/fiscal")
    assert moved.action == "moved"
    assert moved.memory.updated is not None
    assert moved.memory.updated.year > 2020


@pytest.mark.parametrize("at", ["fiscal-year", "other"])
def test_a_memory_that_has_the_name_is_not_replaced(store: MemoryStore, at: str) -> None:
    store.save(FISCAL)
    with pytest.raises(InvalidMemory, match=r"memory 'fiscal-year' already, in fiscal-year\.md"):
        store.save(replace(FISCAL, body="Something else."), at=at)
    assert [m.body for m in store.list()] == [FISCAL.body]


def test_what_stands_at_the_path_is_not_overwritten(store: MemoryStore, home: Path) -> None:
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "taken.md").symlink_to("nowhere")
    with pytest.raises(InvalidMemory, match="something stands at"):
        store.save(POLARS, at="taken")
    assert names(store) == []


def test_a_link_on_the_way_is_not_followed(store: MemoryStore, home: Path, tmp_path: Path) -> None:
    (home / "memory").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (home / "memory" / "team").symlink_to(tmp_path / "outside")
    for at in ("team/note", "team/deeper/note"):
        with pytest.raises(StorageError, match="is a link"):
            store.save(POLARS, at=at)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize(
    "at",
    [
        "",
        "/a",
        "a//b",
        "../a",
        "a/../b",
        ".trash/a",
        "a/.b",
        "MEMORY",
        "memory",
        "a/con",
        "aux.x",
        "a\0b",
        "a\nb",
        "a\\b",
        "a:b",
        " a",
        "a /b",
        "a./b",
        "x" * 253,
        "记" * 100,
        "/".join(["part"] * 300),
    ],
)
def test_path_that_cannot_be_a_memorys_everywhere_is_refused_and_leaves_nothing(
    store: MemoryStore, home: Path, at: str
) -> None:
    with pytest.raises(InvalidMemory):
        store.save(POLARS, at=at)
    assert not home.exists()


def test_a_file_with_an_odd_path_of_its_own_can_be_changed_there(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory" / "a:b?.md", "By hand.")
    (memory,) = store.list()
    store.save(replace(memory, body="Changed."), at=memory.slug, if_unchanged=memory)
    assert [(m.path, m.body) for m in store.list()] == [(path, "Changed.")]


def test_delete_of_a_memory_as_it_was_read_takes_its_own_file(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory" / "ci.md", "---\nname: builds\n---\nOne.")
    named_so = write(home / "memory" / "x.md", "---\nname: ci\n---\nTwo.")
    memory = next(m for m in store.list() if m.path == path)
    write(path, "Changed.")
    with pytest.raises(MemoryChanged):
        store.delete(memory.slug, if_unchanged=memory)
    store.delete(memory.slug, if_unchanged=next(m for m in store.list() if m.path == path))
    assert [m.path for m in store.list()] == [named_so]


def test_text_of_a_file_has_unix_line_ends_and_no_bom(store: MemoryStore, home: Path) -> None:
    write(home / "memory" / "a.md", b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert store.text(store.list()[0]) == "one\ntwo\n"
