import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_files import AS_A_USER, FISCAL, POLARS, index_lines, names, write

from mewcode_magic.errors import StorageError
from mewcode_magic.files import Lock
from mewcode_magic.memory import MemoryStore


def test_what_is_found_in_the_wild_is_listed(store: MemoryStore, home: Path) -> None:
    folder = home / "memory"
    write(folder / "plain.md", "No frontmatter.")
    write(folder / "bom.md", "\ufeff---\r\nname: with bom\r\ntype: feedback\r\n---\r\nx\r\n")
    write(folder / "latin.md", "---\nname: caf\u00e9\n---\nd\u00e9j\u00e0 vu".encode("latin-1"))
    write(folder / "sub/deep/er.md", "---\nname: deep\n---\nx")
    write(folder / "empty.md", "")
    write(folder / "nul.md", b"\0" * 100)
    write(folder / "no.txt", "not one")
    write(folder / ".hidden.md", "not one")
    write(folder / ".git/x.md", "not one")
    write(folder / "memory.md", "not one")
    assert sorted(names(store)) == sorted(["with bom", "empty", "caf\ufffd", "nul", "plain", "deep"])
    assert store.notices == [
        f"{folder / 'latin.md'}: it is not UTF-8; what could not be read is shown as \ufffd"
    ]
    assert store.get("sub/deep/er").name == "deep"
    store.save(POLARS)
    assert len(index_lines(store, "user")) == 7


frontmatters = st.binary(max_size=60).map(lambda data: b"---\n" + data + b"\n---\nbody")


@given(memory=st.binary() | frontmatters, index=st.binary())
def test_any_bytes_in_a_folder_are_read_and_saved_beside(memory: bytes, index: bytes) -> None:
    with TemporaryDirectory() as folder:
        store = MemoryStore(Path(folder, "project"), Path(folder, "home"))
        write(store.folder("user") / "some-file.md", memory)
        write(store.folder("user") / "MEMORY.md", index)
        (listed,) = store.list()
        assert store.get(listed.slug) == listed
        store.index("user")
        store.check()
        saved = store.save(replace(POLARS, name="polars, and a name that no file has"))
        assert len(store.list()) == 2
        assert saved.memory.slug in store.index("user")
        assert not {"dangling", "not indexed", "stale index"} & {problem.kind for problem in store.check()}


def test_changes_by_hand_are_seen_at_once(store: MemoryStore) -> None:
    saved = store.save(POLARS)
    before = store.snapshot()
    text = saved.path.read_text("utf-8")
    saved.path.write_text(text.replace("No pandas.", "No numpy."), "utf-8")
    assert store.get("prefers-polars").body == "No numpy."
    write(store.folder("user") / "new.md", "New.")
    assert names(store) == ["new", "prefers-polars"]
    saved.path.unlink()
    assert names(store) == ["new"]
    assert "prefers-polars" not in store.index("user")
    changes = store.changes(before, store.snapshot())
    assert [memory.name for memory in changes.added] == ["new"]
    assert [memory.name for memory in changes.removed] == ["prefers-polars"]


def test_snapshots_tell_what_changed(store: MemoryStore) -> None:
    kept = store.save(POLARS).memory
    store.save(FISCAL)
    before = store.snapshot()
    assert not store.changes(before, store.snapshot())
    os.utime(kept.path)  # a touch is no change
    assert not store.changes(before, store.snapshot())
    changed = store.save(replace(FISCAL, body="It starts in May.")).memory
    store.save(replace(kept, expires=datetime.now(UTC) - timedelta(seconds=1)))
    changes = store.changes(before, store.snapshot())
    assert changes.changed == (changed,)
    assert [memory.name for memory in changes.removed] == ["prefers-polars"]


def test_unchanged_files_are_not_read_again(store: MemoryStore) -> None:
    saved = store.save(POLARS)
    info = saved.path.stat()
    text = saved.path.read_text("utf-8")
    saved.path.write_text(text.replace("No pandas.", "No  numpy."), "utf-8")
    os.utime(saved.path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert store.get("prefers-polars").body == "No pandas."
    os.utime(saved.path)
    assert store.get("prefers-polars").body == "No  numpy."


def test_reading_does_not_make_a_memory_younger(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory/old.md", "Old.")
    os.utime(path, (1e9, 1e9))
    for _ in range(2):
        assert store.get("old").when == datetime.fromtimestamp(1e9, UTC)


def test_a_link_that_leads_out_is_neither_read_nor_written(
    store: MemoryStore, tmp_path: Path, home: Path
) -> None:
    secret = write(tmp_path / "secret.md", "---\nname: prefers-polars\n---\nsecret")
    (home / "memory").mkdir(parents=True)
    link = home / "memory/prefers-polars.md"
    link.symlink_to(secret)
    assert names(store) == []
    assert "leads out" in store.notices[0]
    saved = store.save(POLARS)
    assert saved.path.name == "prefers-polars-2.md"
    assert secret.read_text("utf-8").endswith("secret")
    assert link.is_symlink()


def test_an_index_link_that_leads_out_is_neither_sent_nor_written(
    store: MemoryStore, tmp_path: Path, home: Path
) -> None:
    outside = write(tmp_path / "outside.md", "secret\n")
    (home / "memory").mkdir(parents=True)
    (home / "memory/MEMORY.md").symlink_to(outside)
    saved = store.save(POLARS)
    assert "leads out" in saved.notes[0]
    assert (
        store.index("user")
        == "- [prefers-polars](prefers-polars.md) - when writing dataframe code, use polars"
    )
    assert outside.read_text("utf-8") == "secret\n"
    assert [problem.kind for problem in store.check()] == ["unreadable", "not indexed"]


def test_a_memory_folder_that_is_itself_a_link_is_used(
    store: MemoryStore, tmp_path: Path, home: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    home.mkdir()
    (home / "memory").symlink_to(tmp_path / "elsewhere")
    store.save(POLARS)
    assert (tmp_path / "elsewhere/prefers-polars.md").exists()
    assert names(store) == ["prefers-polars"]
    assert store.delete("prefers-polars").name == "prefers-polars"


def test_a_project_folder_that_leads_out_of_the_project_is_not_used(
    store: MemoryStore, project: Path, tmp_path: Path
) -> None:
    note = write(tmp_path / "elsewhere/memory/note.md", "Not of this project.")
    write(tmp_path / "elsewhere/memory/MEMORY.md", "Neither is this.")
    (project / ".mewcode").symlink_to(tmp_path / "elsewhere")
    assert (names(store), store.index("project")) == ([], "")
    assert "leads out of the project" in store.notices[0]
    with pytest.raises(StorageError, match="leads out of the project"):
        store.save(FISCAL)
    assert sorted(path.name for path in note.parent.iterdir()) == ["MEMORY.md", "note.md"]
    assert not (tmp_path / "elsewhere/.gitignore").exists()
    assert store.save(POLARS).action == "created"


def test_a_lock_that_is_a_link_is_not_written_through(store: MemoryStore, tmp_path: Path, home: Path) -> None:
    precious = write(tmp_path / "precious", "mine")
    (home / "memory").mkdir(parents=True)
    (home / "memory/.lock").symlink_to(precious)
    with pytest.raises(StorageError, match="is a link; remove it"):
        store.save(POLARS)
    assert precious.read_text("utf-8") == "mine"


def test_broken_and_circular_links_are_notices(store: MemoryStore, home: Path) -> None:
    folder = home / "memory"
    folder.mkdir(parents=True)
    (folder / "broken.md").symlink_to(folder / "nowhere.md")
    (folder / "circle.md").symlink_to(folder / "circle.md")
    assert len(store.notices) == 2
    assert store.save(POLARS).action == "created"
    assert store.save(replace(POLARS, name="broken", body="x")).path.name == "broken-2.md"
    assert names(store) == ["broken", "prefers-polars"]


def test_folders_that_are_broken_or_circular_links_are_one_clear_error(project: Path, home: Path) -> None:
    home.mkdir()
    (home / "memory").symlink_to(home / "memory")
    (project / ".mewcode").mkdir()
    (project / ".mewcode/memory").symlink_to("nowhere")
    store = MemoryStore(project, home)
    assert (names(store), store.index("user"), store.index("project")) == ([], "", "")
    assert "the folder cannot be read" in store.notices[0]
    for memory in (POLARS, FISCAL):
        with pytest.raises(StorageError, match="cannot make the folder"):
            store.save(memory)


def test_a_folder_where_a_file_should_be_is_no_obstacle(store: MemoryStore, home: Path) -> None:
    (home / "memory/prefers-polars.md").mkdir(parents=True)
    (home / "memory/MEMORY.md").mkdir()
    saved = store.save(POLARS)
    assert saved.path.name == "prefers-polars-2.md"
    assert "MEMORY.md: it is not a regular file" in saved.notes[0]
    assert store.index("user").startswith("- [prefers-polars](prefers-polars-2.md)")


def test_a_file_where_the_folder_should_be_is_one_clear_error(store: MemoryStore, home: Path) -> None:
    write(home, "a file")
    with pytest.raises(StorageError, match="a file stands where a folder should be"):
        store.save(POLARS)
    assert store.list() == []
    home.unlink()
    assert store.save(POLARS).action == "created"


def test_a_pipe_and_a_huge_file_are_notices(store: MemoryStore, home: Path) -> None:
    write(home / "memory/huge.md", b"x" * 12_000_000)
    os.mkfifo(home / "memory/pipe.md")
    assert names(store) == []
    assert [note.rpartition(": ")[2] for note in store.notices] == [
        "it is larger than 1 MiB, too large for a memory",
        "it is not a regular file",
    ]
    assert store.save(replace(POLARS, name="huge")).path.name == "huge-2.md"


@pytest.mark.parametrize("mtime", [0, -1e9, 1e14])
def test_odd_file_times_do_no_harm(store: MemoryStore, home: Path, mtime: float) -> None:
    path = write(home / "memory/prefers-polars.md", "Old.")
    os.utime(path, (mtime, mtime))
    store.list()[0].age(datetime.now(UTC))
    assert store.save(POLARS).action == "updated"
    assert store.check() == []


def test_the_line_of_a_file_that_cannot_be_read_now_stays(store: MemoryStore, home: Path) -> None:
    write(home / "memory/huge.md", b"x" * 2_000_000)
    write(home / "memory/MEMORY.md", "- [Mine](huge.md) — as it was\n- [Mine again](huge.md) - twice\n")
    store.save(POLARS)
    assert index_lines(store, "user")[0] == "- [Mine](huge.md) — as it was"
    assert len(index_lines(store, "user")) == 2
    assert "Mine" not in store.index("user")


def test_a_long_line_is_read(store: MemoryStore, home: Path) -> None:
    write(home / "memory/long.md", "---\ndescription: " + "x" * 500_000 + "\n---\ny")
    store.save(POLARS)
    assert len(store.list()) == 2
    assert store.index("user") == (
        "- [prefers-polars](prefers-polars.md) - when writing dataframe code, use polars\n"
        "(1 older memory is not shown; the files are in this folder)"
    )


def run(code: str, store: MemoryStore, home: Path, *prefix: str) -> str:
    """Run `code` in a process of its own, with `store` over the same folders; return what it prints."""
    setting_up = (
        "import os, resource, signal, sys\n"
        "from mewcode_magic.errors import MewCodeError, StorageError\n"
        "from mewcode_magic.memory import Memory, MemoryStore\n"
        "store = MemoryStore(sys.argv[1], sys.argv[2])\n"
        "polars = Memory('prefers-polars', 'd', 'user', 'x' * 100_000)\n"
    )
    project = store.folder("project").parent.parent
    command = [*prefix, sys.executable, "-c", setting_up + code, str(project), str(home)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_write_that_fails_half_way_loses_nothing(store: MemoryStore, home: Path) -> None:
    store.save(POLARS)
    told = run(
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))\n"
        "try: store.save(polars)\n"
        "except StorageError as error: print(error)",
        store,
        home,
    )
    assert told.startswith("cannot write ")
    assert store.get("prefers-polars").body == "No pandas."
    assert sorted(path.name for path in store.folder("user").iterdir() if path.suffix != ".lock") == [
        ".lock",
        ".trash",
        "MEMORY.md",
        "prefers-polars.md",
    ]
    assert list((store.folder("user") / ".trash").iterdir()) == []
    assert store.save(replace(POLARS, body="Short.")).action == "updated"


CHANGING = """
for change in (
    lambda: store.save(polars),
    lambda: store.delete("prefers-polars"),
    lambda: store.restore("gone"),
    store.fix,
):
    try:
        print("done", change())
    except MewCodeError as error:
        print(error)
print([memory.name for memory in store.list()], [item.memory.name for item in store.deleted()])
print(*store.notices)
"""


@pytest.mark.parametrize("lock", ["there", "missing"])
def test_a_folder_without_write_permission_is_read_and_not_written(
    store: MemoryStore, home: Path, lock: str
) -> None:
    store.save(replace(POLARS, name="gone", body="Gone."))
    store.delete("gone")
    store.save(POLARS)
    write(store.folder("user") / "plain.md", "No frontmatter.")
    if lock == "missing":
        (store.folder("user") / ".lock").unlink()
    store.folder("user").chmod(0o500)
    try:
        *told, found, notices = run(CHANGING, store, home, *AS_A_USER).splitlines()
    finally:
        store.folder("user").chmod(0o700)
    reason = f"cannot change {store.folder('user')}: permission denied; change its permissions"
    assert told == [reason] * 4
    assert found == "['plain', 'prefers-polars'] ['gone']"
    assert notices == ""
    assert store.save(replace(POLARS, body="Short.")).action == "updated"


def test_a_folder_that_cannot_be_entered_is_one_clear_error(store: MemoryStore, home: Path) -> None:
    store.save(POLARS)
    store.save(FISCAL)
    store.folder("user").chmod(0)
    try:
        *told, found, notices = run(CHANGING, store, home, *AS_A_USER).splitlines()
    finally:
        store.folder("user").chmod(0o700)
    denied = "permission denied; change its permissions"
    assert told == [
        f"cannot change {store.folder('user')}: {denied}",
        "no memory has the name or slug 'prefers-polars'; %memory lists what there is",
        "nothing named 'gone' is in the trash; %memory lists what there is",
        f"cannot change {store.folder('user')}: {denied}",
    ]
    assert found == "['fiscal-year'] []"
    assert notices == f"{store.folder('user')}: the folder cannot be read: {denied}"


def test_a_home_that_cannot_be_entered_leaves_the_project_in_order(store: MemoryStore, home: Path) -> None:
    store.save(POLARS)
    store.save(FISCAL)
    home.chmod(0)
    try:
        *told, found, notices = run(CHANGING, store, home, *AS_A_USER).splitlines()
    finally:
        home.chmod(0o700)
    denied = "permission denied; change its permissions"
    assert told[0] == f"cannot make the folder {store.folder('user')}: {denied}"
    assert told[3] == "done []"
    assert found == "['fiscal-year'] []"
    assert notices == f"{store.folder('user')}: the folder cannot be read: {denied}"


def test_a_lock_that_another_process_keeps_is_one_clear_error(store: MemoryStore) -> None:
    store.save(POLARS)
    store.lock_seconds = 0.1
    held = Lock(store.folder("user") / ".lock")
    assert held.acquire()
    with pytest.raises(StorageError, match=f"process {os.getpid()} on .* has been writing"):
        store.save(replace(POLARS, body="Other."))
    assert store.get("prefers-polars").body == "No pandas."
    held.release()
    assert store.save(replace(POLARS, body="Other.")).action == "updated"
