"""Whether a project is used for the first time, and which memories came along: told once each."""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from memory_files import FISCAL, POLARS, write

from mewcode_magic.files import Lock
from mewcode_magic.memory import Memory, MemoryStore, first_use
from mewcode_magic.memory.first_use import unknown_memories


def test_first_use_of_a_project_is_true_exactly_once(home: Path, project: Path, tmp_path: Path) -> None:
    assert [first_use(home, project) for _ in range(3)] == [True, False, False]
    other = tmp_path / "other 项目"
    other.mkdir()
    assert [first_use(home, other), first_use(home, project), first_use(home, other)] == [True, False, False]
    assert set(json.loads((home / "projects.json").read_text(encoding="utf-8"))) == {str(project), str(other)}


def test_project_is_the_same_through_a_link(home: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(project)
    assert [first_use(home, tmp_path / "alias"), first_use(home, project)] == [True, False]


def test_file_and_folder_are_private_and_the_project_stays_untouched(home: Path, project: Path) -> None:
    first_use(home, project)
    assert (home.stat().st_mode & 0o777, (home / "projects.json").stat().st_mode & 0o777) == (0o700, 0o600)
    assert [path.name for path in project.iterdir()] == [".git"]


def test_threads_that_ask_at_once_hear_true_once(home: Path, project: Path) -> None:
    answers: list[bool] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        answers.append(first_use(home, project))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 7 + [True]


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b"null", b"\xff\xfe\x00", b"[" * 100_000])
def test_broken_file_is_replaced(home: Path, project: Path, content: bytes) -> None:
    home.mkdir()
    (home / "projects.json").write_bytes(content)
    assert [first_use(home, project), first_use(home, project)] == [True, False]


@pytest.mark.parametrize("entry", [7, [], {"first_use": "x", "memories": 7}, {"memories": [1, None, {}]}])
def test_broken_entry_is_mended(home: Path, project: Path, entry: object) -> None:
    home.mkdir()
    (home / "projects.json").write_text(json.dumps({str(project): entry}))
    assert unknown_memories(home, project, ["a"]) == {"a"}
    assert unknown_memories(home, project, ["a"]) == set()
    first_use(home, project)
    assert not first_use(home, project)


def test_entry_of_an_older_file_is_a_project_that_was_used(home: Path, project: Path) -> None:
    home.mkdir()
    (home / "projects.json").write_text(json.dumps({str(project): "2026-01-01T00:00:00+00:00"}))
    assert not first_use(home, project)
    assert unknown_memories(home, project, ["a", "b"]) == {"a", "b"}
    assert unknown_memories(home, project, ["b", "c"]) == {"c"}
    assert not first_use(home, project)


def test_memories_that_are_known_do_not_make_a_project_used(home: Path, project: Path) -> None:
    unknown_memories(home, project, ["a"])
    assert first_use(home, project)
    assert unknown_memories(home, project, ["a"]) == set()


def test_slug_of_bytes_that_are_not_utf8_is_told_once(home: Path, project: Path) -> None:
    assert unknown_memories(home, project, ["caf\udce9"]) == {"caf\udce9"}
    assert unknown_memories(home, project, ["caf\udce9"]) == set()


def test_memories_from_elsewhere_are_told_once_and_own_ones_never(
    store: MemoryStore, home: Path, project: Path
) -> None:
    store.save(FISCAL)
    store.save(POLARS)
    assert store.arrivals() == []
    write(project / ".mewcode/memory/deep/theirs.md", "---\nname: theirs\ntype: project\n---\nIt is v2.")
    write(home / "memory/mine.md", "I like tea.")
    assert [memory.name for memory in store.arrivals()] == ["theirs"]
    assert store.arrivals() == []
    assert MemoryStore(project, home).arrivals() == []
    store.delete("fiscal-year")
    store.restore("fiscal-year")
    store.save(replace(FISCAL, name="other", body="Own again."))
    assert MemoryStore(project, home).arrivals() == []
    assert [m.name for m in MemoryStore(project, home.with_name("home of another")).arrivals()] == [
        "fiscal-year",
        "other",
        "theirs",
    ]


def test_expired_memory_is_told_when_it_holds_again_and_not_before(store: MemoryStore, project: Path) -> None:
    path = project / ".mewcode/memory/sprint.md"
    text = "---\nname: sprint\ntype: project\nexpires: {}\n---\nIt is about speed."
    write(path, text.format("2020-01-31"))
    assert store.arrivals() == []
    write(path, text.format("9000-01-31"))
    assert [memory.name for memory in store.arrivals()] == ["sprint"]


def test_memories_are_told_once_a_store_where_the_home_cannot_be_written(
    store: MemoryStore, home: Path, project: Path
) -> None:
    home.write_text("")
    write(project / ".mewcode/memory/theirs.md", "It is v2.")
    assert [memory.name for memory in store.arrivals()] == ["theirs"]
    assert store.arrivals() == []
    store.save(FISCAL)
    assert store.arrivals() == []


def test_memories_of_the_home_as_a_project_come_from_nowhere(home: Path, tmp_path: Path) -> None:
    store = MemoryStore(tmp_path, tmp_path / ".mewcode")
    write(tmp_path / ".mewcode/memory/a.md", "---\ntype: project\n---\nIt is v2.")
    store.save(Memory("b", "d", "project", "It is v3."))
    assert [memory.name for memory in store.list("project")] == ["a", "b"]
    assert store.arrivals() == []
    assert not (tmp_path / ".mewcode/projects.json").exists()


def test_linked_worktree_has_the_memories_of_its_main_checkout_only_once(
    store: MemoryStore, home: Path, project: Path, tmp_path: Path
) -> None:
    gitdir = project / ".git/worktrees/w"
    gitdir.mkdir(parents=True)
    (gitdir / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text(f"gitdir: {gitdir}\n")
    write(project / ".mewcode/memory/theirs.md", "It is v2.")
    assert len(MemoryStore(tmp_path / "w", home).arrivals()) == 1
    assert store.arrivals() == []


ASKING = """
import sys
from pathlib import Path
from mewcode_magic.memory.first_use import unknown_memories
print("ready", flush=True)
sys.stdin.readline()
print(len(unknown_memories(Path(sys.argv[1]), Path(sys.argv[2]), ["a", "b"])))
"""


def test_of_processes_that_ask_at_once_one_is_told(home: Path, project: Path) -> None:
    command = [sys.executable, "-c", ASKING, str(home), str(project)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    assert [process.stdout.readline() for process in running] == ["ready\n"] * 3
    said = [int(process.communicate("go\n")[0]) for process in running]
    assert sorted(said) == [0, 0, 2]


def test_what_the_file_holds_besides_is_kept(home: Path, project: Path) -> None:
    home.mkdir()
    (home / "projects.json").write_text('{"/elsewhere": "2026-01-01T00:00:00+00:00"}')
    first_use(home, project)
    assert "/elsewhere" in json.loads((home / "projects.json").read_text())


@pytest.mark.parametrize("kind", ["home is a file", "file is a folder", "lock is a folder"])
def test_home_that_cannot_be_written_is_true_without_an_error(home: Path, project: Path, kind: str) -> None:
    if kind == "home is a file":
        home.write_text("")
    else:
        (home / ("projects.json" if kind == "file is a folder" else "projects.lock")).mkdir(parents=True)
    assert first_use(home, project)


def test_lock_held_elsewhere_does_not_keep_the_prompt_waiting(home: Path, project: Path) -> None:
    home.mkdir()
    lock = Lock(home / "projects.lock")
    assert lock.acquire()
    assert first_use(home, project)
    lock.release()
    assert first_use(home, project)
    assert not first_use(home, project)
