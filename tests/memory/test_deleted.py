import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from memory_files import FISCAL, POLARS, index_lines, names, write

from mewcode_magic.config import MewCode
from mewcode_magic.errors import MemoryNotFound, StorageError
from mewcode_magic.memory import MemoryStore


def trash(store: MemoryStore) -> list[str]:
    """Return the files in the user's trash, below the folder of their moment."""
    folder = store.folder("user") / ".trash"
    return sorted(str(Path(*path.relative_to(folder).parts[1:])) for path in folder.rglob("*.md"))


def test_a_deleted_memory_is_gone_and_comes_back_as_it_was(store: MemoryStore) -> None:
    saved = store.save(POLARS).memory
    store.save(replace(POLARS, name="other", body="Other."))
    assert store.delete("prefers-polars") == saved
    assert names(store) == ["other"]
    assert len(index_lines(store, "user")) == 1
    assert [item.memory.name for item in store.deleted()] == ["prefers-polars"]
    assert datetime.now(UTC) - store.deleted()[0].when < timedelta(minutes=1)

    restored = store.restore("prefers-polars")
    assert restored == saved
    assert (restored.path, restored.modified) == (saved.path, saved.modified)
    assert names(store) == ["other", "prefers-polars"]
    assert len(index_lines(store, "user")) == 2
    assert store.deleted() == []
    assert trash(store) == []


def test_a_memory_is_deleted_and_restored_by_slug(store: MemoryStore) -> None:
    store.save(replace(POLARS, name="提交信息"))
    (slug,) = [memory.slug for memory in store.list()]
    assert store.delete(slug).name == "提交信息"
    assert store.restore(slug).name == "提交信息"


def test_deleting_what_is_not_there_names_what_is_near(store: MemoryStore) -> None:
    store.save(POLARS)
    with pytest.raises(MemoryNotFound, match=r"'polars'; did you mean 'prefers-polars'\?"):
        store.delete("polars")
    with pytest.raises(MemoryNotFound, match=r"'zzz'; %memory lists what there is$"):
        store.delete("zzz")
    store.delete("prefers-polars")
    with pytest.raises(MemoryNotFound, match="deleted already; it can be restored"):
        store.delete("prefers-polars")
    with pytest.raises(MemoryNotFound, match="in the trash; did you mean 'prefers-polars'"):
        store.restore("polars")


def test_what_an_update_replaced_can_be_restored_and_again(store: MemoryStore) -> None:
    store.save(POLARS)
    store.save(replace(POLARS, body="New."))
    assert store.deleted() == []
    assert store.restore("prefers-polars").body == "No pandas."
    assert store.restore("prefers-polars").body == "New."
    assert names(store) == ["prefers-polars"]
    assert trash(store) == ["prefers-polars.md"]


def test_the_latest_deletion_is_restored(store: MemoryStore) -> None:
    for body in ("First.", "Second."):
        store.save(replace(POLARS, body=body))
        store.delete("prefers-polars")
    assert [item.memory.body for item in store.deleted()] == ["Second."]
    assert store.restore("prefers-polars").body == "Second."


def test_both_places_have_a_trash(store: MemoryStore) -> None:
    for memory in (POLARS, FISCAL):
        store.save(memory)
        store.delete(memory.name)
    assert [item.memory.name for item in store.deleted()] == ["fiscal-year", "prefers-polars"]
    assert store.restore("fiscal-year").place == "project"
    assert store.restore("prefers-polars").place == "user"


def test_a_file_of_a_subfolder_comes_back_there(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory/team/deploys.md", "On Fridays.")
    store.delete("deploys")
    assert not path.parent.exists()
    assert store.restore("deploys").path == path


def test_a_restored_file_does_not_overwrite_one_that_has_its_path_now(store: MemoryStore) -> None:
    saved = store.save(POLARS)
    store.delete("prefers-polars")
    write(saved.path, "---\nname: something else\n---\nOther.")
    assert store.restore("prefers-polars").path.name == "prefers-polars-2.md"
    assert names(store) == ["prefers-polars", "something else"]


def test_a_restore_that_fails_leaves_what_stands(store: MemoryStore) -> None:
    store.save(FISCAL, at="team/fiscal")
    store.delete("fiscal-year")
    standing = store.save(replace(FISCAL, body="It starts in May."))
    write(standing.path.with_name("team"), "a file where the folder was")
    with pytest.raises(StorageError, match="a file stands where a folder should be"):
        store.restore("fiscal-year")
    assert [(memory.path, memory.body) for memory in store.list()] == [(standing.path, "It starts in May.")]
    standing.path.with_name("team").unlink()
    assert store.restore("fiscal-year").body == FISCAL.body


def test_an_index_in_the_trash_is_no_memory(store: MemoryStore, home: Path) -> None:
    write(home / "memory/MEMORY.md", "- [gone](gone.md) - d\n")
    assert [done.kind for done in store.fix()] == ["stale index"]
    assert len(list((home / "memory/.trash").rglob("MEMORY.md"))) == 1
    assert store.deleted() == []
    with pytest.raises(MemoryNotFound):
        store.restore("MEMORY")


def test_a_purged_memory_is_gone_with_its_versions(store: MemoryStore) -> None:
    store.save(POLARS)
    store.save(replace(POLARS, body="New."))
    store.save(replace(POLARS, name="other", body="Other."))
    store.delete("other")
    store.delete("prefers-polars", purge=True)
    assert trash(store) == ["other.md"]
    with pytest.raises(MemoryNotFound):
        store.restore("prefers-polars")


def test_what_is_only_in_the_trash_can_be_purged(store: MemoryStore) -> None:
    store.save(POLARS)
    store.delete("prefers-polars")
    assert store.delete("prefers-polars", purge=True).name == "prefers-polars"
    assert trash(store) == []
    with pytest.raises(MemoryNotFound):
        store.delete("prefers-polars", purge=True)


def test_a_type_says_which_of_two_in_the_trash_is_purged(store: MemoryStore) -> None:
    store.save(POLARS)
    store.delete("prefers-polars")
    store.save(replace(POLARS, type="project", body="Other."))
    store.delete("prefers-polars")
    assert store.delete("prefers-polars", type="user", purge=True).place == "user"
    assert [(item.memory.place, item.memory.body) for item in store.deleted()] == [("project", "Other.")]


def test_what_was_deleted_by_hand_is_not_deleted_again(store: MemoryStore) -> None:
    store.save(POLARS).path.unlink()
    with pytest.raises(MemoryNotFound):
        store.delete("prefers-polars")
    read = store.save(POLARS)
    assert read.action == "created"
    read.path.unlink()
    with pytest.raises(MemoryNotFound, match="by another process"):
        store.delete("prefers-polars", if_unchanged=read.memory)


def test_the_trash_is_emptied_after_its_days(project: Path, home: Path) -> None:
    store = MemoryStore(project, home, settings=MewCode(trash_days=30))
    store.save(POLARS)
    store.delete("prefers-polars")
    (holder,) = (store.folder("user") / ".trash").iterdir()
    long_ago = datetime.now(UTC) - timedelta(days=31)
    holder.rename(holder.with_name(long_ago.strftime("%Y%m%dT%H%M%S.%fZ") + "-0000"))
    stranger = write(store.folder("user") / ".trash/notes/mine.md", "not put there by us")
    store.settings.trash_days = 32
    store.save(replace(POLARS, name="other", body="x"))
    assert [item.memory.name for item in store.deleted()] == ["prefers-polars"]
    store.settings.trash_days = 30
    store.save(replace(POLARS, name="another", body="y"))
    assert store.deleted() == []
    assert stranger.exists()


def test_a_trash_that_is_a_link_is_not_used(store: MemoryStore, tmp_path: Path) -> None:
    saved = store.save(POLARS)
    (tmp_path / "elsewhere").mkdir()
    (store.folder("user") / ".trash").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="is a link; remove it"):
        store.delete("prefers-polars")
    with pytest.raises(StorageError, match="is a link; remove it"):
        store.save(replace(POLARS, body="New."))
    assert saved.path.read_text("utf-8").endswith("No pandas.\n")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_unreadable_files_in_the_trash_do_no_harm(store: MemoryStore) -> None:
    store.save(POLARS)
    store.delete("prefers-polars")
    (holder,) = (store.folder("user") / ".trash").iterdir()
    write(holder / "binary.md", os.urandom(1000))
    (holder / "broken.md").symlink_to("nowhere")
    assert store.restore("prefers-polars").body == "No pandas."


def test_what_a_crash_left_behind_is_removed_when_it_is_old(store: MemoryStore) -> None:
    saved = store.save(POLARS)
    old, young = (write(saved.path.with_name(f".x-{n}.tmp"), "half") for n in (1, 2))
    os.utime(old, (1e9, 1e9))
    store.save(replace(POLARS, body="New."))
    assert (old.exists(), young.exists()) == (False, True)
