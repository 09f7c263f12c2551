import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from memory_files import FISCAL, POLARS, index_lines, names, write

from mewcode_magic.memory import MemoryStore


def test_a_store_that_is_only_read_leaves_nothing_behind(
    store: MemoryStore, project: Path, home: Path
) -> None:
    assert store.list() == []
    assert store.index("user") == store.index("project") == ""
    assert store.get("x") is None
    assert store.check() == store.notices == store.deleted() == []
    assert not home.exists()
    assert not (project / ".mewcode").exists()


@pytest.mark.parametrize(
    ("kind", "place"),
    [("user", "user"), ("feedback", "user"), ("project", "project"), ("reference", "project")],
)
def test_the_type_decides_the_place(store: MemoryStore, kind: str, place: str) -> None:
    saved = store.save(replace(POLARS, type=kind))
    assert saved.action == "created"
    assert saved.path == store.folder(place) / "prefers-polars.md"
    assert saved.path.exists()
    assert saved.memory.place == place
    assert index_lines(store, place) == [
        "- [prefers-polars](prefers-polars.md) - when writing dataframe code, use polars"
    ]


def test_folders_and_files_are_private(store: MemoryStore, home: Path) -> None:
    saved = store.save(POLARS)
    for folder in (home, home / "memory"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(saved.path.stat().st_mode) == 0o600


def test_the_first_project_memory_keeps_private_files_out_of_git(store: MemoryStore, project: Path) -> None:
    store.save(FISCAL)
    ignored = (project / ".mewcode/.gitignore").read_text("utf-8").split()
    assert ignored == ["sessions/", "session/", "MEWCODE.md", "memories.md*", "memory/.trash/", "*.lock"]


def test_a_gitignore_that_stands_is_left_alone(store: MemoryStore, project: Path) -> None:
    ignore = write(project / ".mewcode/.gitignore", "mine\n")
    store.save(FISCAL)
    assert ignore.read_text("utf-8") == "mine\n"


def test_a_gitignore_that_is_a_broken_link_is_left_alone(store: MemoryStore, project: Path) -> None:
    (project / ".mewcode").mkdir()
    (project / ".mewcode/.gitignore").symlink_to("../elsewhere")
    store.save(FISCAL)
    assert not (project / "elsewhere").exists()


def test_a_gitignore_is_made_for_a_folder_that_came_without_one(store: MemoryStore, project: Path) -> None:
    write(project / ".mewcode/memory/team.md", "Cloned.")
    store.save(FISCAL)
    assert (project / ".mewcode/.gitignore").exists()


def test_git_sees_the_memory_but_not_lock_and_trash(store: MemoryStore, project: Path) -> None:
    (project / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], check=True, cwd=project)
    store.save(FISCAL)
    store.save(replace(FISCAL, body="It starts in May."))
    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], check=True, cwd=project, capture_output=True, text=True
    ).stdout
    assert sorted(line[3:] for line in seen.splitlines()) == [
        ".mewcode/.gitignore",
        ".mewcode/memory/MEMORY.md",
        ".mewcode/memory/fiscal-year.md",
    ]


def test_a_linked_worktree_shares_the_memory_of_its_main_checkout(tmp_path: Path, home: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q", main], check=True)
    subprocess.run([*git, "-C", main, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "-C", main, "worktree", "add", "-q", linked], check=True, capture_output=True)
    MemoryStore(linked, home).save(FISCAL)
    assert names(MemoryStore(main, home)) == ["fiscal-year"]
    assert not (linked / ".mewcode").exists()


def test_one_folder_serves_both_places_where_the_project_is_the_homes(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path, tmp_path / ".mewcode")
    store.save(POLARS)
    store.save(FISCAL)
    assert store.folder("user") == store.folder("project")
    assert [memory.name for memory in store.list("user")] == ["prefers-polars"]
    assert [memory.name for memory in store.list("project")] == ["fiscal-year"]
    assert "fiscal" not in store.index("user")
    assert "polars" not in store.index("project")
    assert len(index_lines(store, "user")) == 2
    assert store.save(replace(POLARS, type="project")).action == "updated"
    assert store.check() == []
    # Another project uses only what is about the person.
    assert names(MemoryStore(tmp_path / "other", tmp_path / ".mewcode")) == []


def test_what_the_one_folder_has_in_its_trash_is_of_the_place_of_its_type(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path, tmp_path / ".mewcode")
    store.save(FISCAL)
    store.delete("fiscal-year")
    assert [item.memory.place for item in store.deleted()] == ["project"]
    assert store.delete("fiscal-year", type="project", purge=True).place == "project"
    assert store.deleted() == []
