"""What the check lists is mended with nothing lost, and each undo that a line names works."""

import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_files import FOUND_TEXTS, POLARS, index_lines, names, write

from mewcode_magic.errors import StorageError
from mewcode_magic.files import Lock
from mewcode_magic.memory import Memory, MemoryStore

FRONT = "---\nname: {0}\ndescription: d\ntype: {1}\n---\n\n{2}\n"


def kinds(store: MemoryStore) -> list[str]:
    return [problem.kind for problem in store.check()]


def undo(store: MemoryStore, text: str) -> None:
    """Do what a line says behind `undo:`, as the magics do."""
    for command in text.partition("undo: ")[2].split(", then "):
        match command.split():
            case ["%memory", "restore", name]:
                store.restore(name)
            case ["%forget", "--type", kind, name]:
                store.delete(name, type=kind)
            case other:
                raise AssertionError(other)


def git(project: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", "-C", project, *identity, *arguments], check=True, capture_output=True)


def test_a_store_in_order_is_left_alone(store: MemoryStore, home: Path, project: Path) -> None:
    assert store.fix() == []
    assert not home.exists()
    assert not (project / ".mewcode").exists()
    store.save(POLARS)
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*.md")}
    assert store.fix() == []
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*.md")} == before
    assert not (project / ".mewcode").exists()


def test_an_index_is_written_anew_and_the_old_one_kept(store: MemoryStore, home: Path) -> None:
    index = "# Mine\n- [gone](gone.md) - was here\n- [a](a.md) - other\n"
    write(home / "memory/MEMORY.md", index)
    write(home / "memory/a.md", FRONT.format("a", "user", "A"))
    write(home / "memory/b.md", FRONT.format("b", "user", "B"))
    (mended,) = store.fix()
    assert mended.kind == "stale index"
    assert Path(mended.text.partition("as it was: ")[2]).read_text() == index
    assert index_lines(store, "user") == ["# Mine", "- [a](a.md) - d", "- [b](b.md) - d"]
    assert store.check() == []


def test_a_file_without_frontmatter_gets_what_is_read_into_it_and_keeps_its_age(
    store: MemoryStore, home: Path
) -> None:
    text = "# Plots\n\nUse viridis. It prints well.\n"
    path = write(home / "memory/deep/plots.md", text)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (before,) = store.list()
    mended = store.fix()[0]
    assert (mended.kind, mended.path) == ("frontmatter", path)
    (after,) = store.list()
    assert (after.name, after.description, after.type, after.body) == (
        before.name,
        before.description,
        "user",
        text.strip(),
    )
    assert after.when == before.when
    assert kinds(store) == ["stale"]
    undo(store, mended.text)
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("---\nname: a\ndescription: when: at all: times\ntype: user\n---\nbody", True),
        ("---\nname: a\ndescription: d\n---\nbody", True),
        ("---\nmetadata:\n  node: x\n---\nbody", True),
        ("---\nname: a: b\n# a comment\ntype: user\n---\nbody", False),
        ("---\nname: a\ndescription: d\ntype: strange\n---\na strange body", False),
        ("---\nname: a\nbody without an end", False),
        ("---\nsomething between two rules\n---\nbody", False),
        ("---\nname: a\ntype: user\nexpires: soon\n---\nbody", False),
        ("", False),
        (b"not \xff UTF-8", False),
        ("holds a \0 byte", False),
    ],
)
def test_a_frontmatter_is_mended_only_where_no_word_is_lost(
    store: MemoryStore,
    home: Path,
    text: str | bytes,
    mended: bool,  # noqa: FBT001
) -> None:
    path = write(home / "memory/a.md", text)
    data = path.read_bytes()
    assert ("frontmatter" in {done.kind for done in store.fix()}) is mended
    assert ("frontmatter" in kinds(store)) is (not mended)
    if not mended:
        assert path.read_bytes() == data


def test_a_file_edited_since_it_was_read_is_left_as_it_is(store: MemoryStore, project: Path) -> None:
    file = write(project / ".mewcode/memory/host.md", "The host is tokyo-3.\n")
    before = file.stat()
    assert store.list()
    file.write_text("The host is osaka-7.\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as some tools that sync do
    store.fix()
    assert file.read_text(encoding="utf-8") == "The host is osaka-7.\n"


def test_an_expired_memory_goes_to_the_trash_and_comes_back(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory/old.md", FRONT.format("old", "user\nexpires: 2020-01-01", "Old."))
    data = path.read_bytes()
    mended = {done.kind: done for done in store.fix()}["expired"]
    assert not path.exists()
    assert store.check() == []
    undo(store, mended.text)
    assert path.read_bytes() == data


def test_of_two_files_in_one_folder_that_say_the_same_one_stays(store: MemoryStore, home: Path) -> None:
    write(home / "memory/ends.md", FRONT.format("ends", "user\nexpires: 2999-01-01", "Same text."))
    write(home / "memory/lasts.md", FRONT.format("lasts", "feedback", "same  TEXT."))
    mended = {done.kind: done for done in store.fix()}["same body"]
    assert names(store) == ["lasts"]
    assert store.check() == []
    undo(store, mended.text)
    assert names(store) == ["ends", "lasts"]


def test_what_both_folders_say_is_left_to_the_user(store: MemoryStore, project: Path) -> None:
    store.save(POLARS)
    write(project / ".mewcode/memory/ours.md", FRONT.format("ours", "project", POLARS.body))
    store.fix()
    assert sorted(names(store)) == ["ours", POLARS.name]
    assert kinds(store) == ["same body"]


def test_a_memory_about_the_person_moves_home_with_its_age(
    store: MemoryStore, project: Path, home: Path
) -> None:
    text = FRONT.format("mine", "user\nupdated: 2026-01-02T03:04:05+00:00\nmood: good", "I am Bo.")
    path = write(project / ".mewcode/memory/mine.md", text)
    mended = {done.kind: done for done in store.fix()}["misplaced"]
    (memory,) = store.list("user")
    assert memory.path == home / "memory/mine.md"
    assert memory.when == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert memory.extra == {"mood": "good"}
    assert not path.exists()
    assert "misplaced" not in kinds(store)
    undo(store, mended.text)
    assert path.read_text() == text
    assert store.list("user") == []


def test_a_misplaced_memory_that_cannot_be_taken_away_is_not_copied(
    store: MemoryStore, project: Path, home: Path
) -> None:
    path = write(project / ".mewcode/memory/mine.md", FRONT.format("mine", "user", "I am Bo."))
    (path.parent / ".trash").write_text("")
    assert [done.kind for done in store.fix() if done.kind != "stale index"] == []
    assert [memory.path for memory in store.list()] == [path]
    assert kinds(store) == ["misplaced"]


def test_a_misplaced_memory_that_the_home_has_goes_to_the_trash(store: MemoryStore, project: Path) -> None:
    store.save(POLARS)
    path = write(project / ".mewcode/memory/x.md", FRONT.format("x", "user", POLARS.body.upper()))
    mended = {done.kind: done for done in store.fix()}["misplaced"]
    assert names(store) == [POLARS.name]
    undo(store, mended.text)
    assert path.exists()


def test_a_misplaced_memory_whose_name_is_taken_at_home_stays(store: MemoryStore, project: Path) -> None:
    store.save(POLARS)
    path = write(project / ".mewcode/memory/x.md", FRONT.format(POLARS.name, "user", "Other."))
    store.fix()
    assert path.exists()
    assert set(kinds(store)) == {"misplaced", "same name"}


def test_what_git_tracks_does_not_move_into_the_home(store: MemoryStore, project: Path) -> None:
    git(project, "init", "-q")
    path = write(project / ".mewcode/memory/theirs.md", FRONT.format("theirs", "feedback", "Obey."))
    git(project, "add", ".")
    git(project, "commit", "-qm", "x")
    assert "misplaced" not in {done.kind for done in store.fix()}
    assert path.exists()
    assert store.list("user") == []
    assert kinds(store) == ["misplaced"]


def test_a_misplaced_memory_with_a_credential_is_not_written_again(store: MemoryStore, project: Path) -> None:
    text = FRONT.format("mine", "user", "My password is hunter2-Xk93-vault")
    path = write(project / ".mewcode/memory/mine.md", text)
    assert "misplaced" not in {done.kind for done in store.fix()}
    assert path.read_text() == text
    assert store.list("user") == []


def test_a_project_memory_in_the_home_stays_for_which_project_is_unknown(
    store: MemoryStore, home: Path
) -> None:
    path = write(home / "memory/api.md", FRONT.format("api", "project", "It is v2."))
    store.fix()
    assert path.exists()
    assert kinds(store) == ["misplaced"]


def test_what_cannot_be_changed_stays_listed_and_the_rest_is_mended(store: MemoryStore, home: Path) -> None:
    write(home / "memory/old.md", FRONT.format("old", "user\nexpires: 2020-01-01", "Old."))
    (home / "memory/.trash").write_text("")
    write(home / "memory/b.md", FRONT.format("b", "user", "B"))
    assert [done.kind for done in store.fix()] == ["stale index"]
    assert kinds(store) == ["expired"]


def test_a_lock_held_elsewhere_is_an_error_and_nothing_changes(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory/old.md", FRONT.format("old", "user\nexpires: 2020-01-01", "Old."))
    store.lock_seconds = 0.1
    lock = Lock(home / "memory/.lock")
    assert lock.acquire()
    with pytest.raises(StorageError, match="has been writing there"):
        store.fix()
    lock.release()
    assert path.exists()


FIXING = """
import sys
from mewcode_magic.memory import Memory, MemoryStore
store = MemoryStore(sys.argv[1], sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
print(sum(done.kind != "stale index" for done in store.fix()))
"""


def test_processes_that_mend_at_once_mend_each_thing_once(
    store: MemoryStore, project: Path, home: Path
) -> None:
    now = datetime.now(UTC)
    for number in range(30):
        store.save(Memory(f"m{number}", "d", "user", f"b{number}", expires=now - timedelta(days=1)))
        write(home / f"memory/plain{number}.md", f"Plain text, number {number}.")
    command = [sys.executable, "-c", FIXING, str(project), str(home)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [process.stdout.readline() for process in running] == ["ready\n", "ready\n"]
    said = [process.communicate("go\n")[0] for process in running]
    assert sum(map(int, said)) == 60
    assert len(names(store)) == 30
    assert len(index_lines(store, "user")) == 30
    assert {problem.kind for problem in store.check()} <= {"alike"}
    assert len(store.deleted()) == 30


NAMES = st.sampled_from(["a.md", "b.md", "deep/a.md", "MEMORY.md", "memory.md", "-.md", "x y.md"])


@settings(max_examples=40)
@given(
    own=st.dictionaries(NAMES, st.sampled_from(FOUND_TEXTS), max_size=5),
    ours=st.dictionaries(NAMES, st.sampled_from(FOUND_TEXTS), max_size=5),
)
def test_whatever_stands_in_the_folders_every_text_is_still_there_and_mending_ends(
    own: dict[str, bytes], ours: dict[str, bytes]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project, home = Path(folder, "project"), Path(folder, "home")
        project.mkdir()
        for place, files in ((home / "memory", own), (project / ".mewcode/memory", ours)):
            for name, data in files.items():
                write(place / name, data)
        store = MemoryStore(project, home)
        done = store.fix()
        kept = [path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()]
        assert {*own.values(), *ours.values()} - {b""} <= set(kept)
        assert all("\n" not in item.text for item in done)
        assert store.fix() == []
        kinds = {problem.kind for problem in store.check()}
        assert not kinds & {"dangling", "not indexed", "stale index", "expired"}
