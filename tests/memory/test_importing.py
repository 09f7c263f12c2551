"""Whatever stands in a folder becomes memories, or is named with the reason; nothing there changes."""

import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_files import FOUND_TEXTS, POLARS, names, write

from mewcode_magic.errors import StorageError
from mewcode_magic.memory import Imported, MemoryStore, import_memories, import_older_files

NOW = datetime(2026, 11, 30, tzinfo=UTC)
OWN = """\
# Memories

### 用户偏好
- 变量命名用 snake_case
- 喜欢表格
  也喜欢图

### 纠正反馈:
- 项目实际是 Python 而非 Go
"""
OURS = """\
### 项目知识
- 使用 uv 作为包管理器

### Reference
* docs: https://docs.example.com

### 其他
- I prefer tabs here
a line by hand
---
"""
CLAUDE = """\
---
name: no-force-push
description: "when pushing: never with --force"
metadata:
  node_type: memory
  type: feedback
  originSessionId: 0b1c
---

Never force-push.

**Why:** it lost work.
"""


def older(store: MemoryStore, project: Path, home: Path, *, dry_run: bool = False) -> Imported:
    return import_older_files(store, project, home, now=NOW, dry_run=dry_run)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_item_of_the_older_files_becomes_a_memory(store: MemoryStore, project: Path, home: Path) -> None:
    own = write(home / "memories.md", OWN)
    write(project / ".mewcode/memories.md", OURS)
    os.utime(own, (1_700_000_000, 1_700_000_000))
    result = older(store, project, home)
    assert sorted((m.type, m.body) for m in store.list()) == [
        ("feedback", "项目实际是 Python 而非 Go"),
        ("project", "I prefer tabs here"),
        ("project", "a line by hand"),
        ("project", "使用 uv 作为包管理器"),
        ("reference", "docs: https://docs.example.com"),
        ("user", "变量命名用 snake_case"),
        ("user", "喜欢表格\n也喜欢图"),
    ]
    assert {m.name for m in result.saved} == set(names(store))
    assert (result.there, result.left_out) == ((), ())
    assert {m.when.year for m in store.list("user") if m.when} == {2023}
    assert result.renamed == (project / ".mewcode/memories.md.imported", home / "memories.md.imported")
    assert result.renamed[1].read_text("utf-8") == OWN
    assert older(store, project, home) == Imported()
    assert "alike" not in {problem.kind for problem in store.check()}


def test_a_dry_run_tells_the_same_and_changes_nothing(store: MemoryStore, project: Path, home: Path) -> None:
    write(home / "memories.md", OWN + "- 喜欢表格 也喜欢图\n")
    store.save(POLARS)
    before = tree(home)
    planned = older(store, project, home, dry_run=True)
    assert tree(home) == before
    assert not (project / ".mewcode").exists()
    done = older(store, project, home)
    assert [m.name for m in planned.saved] == [m.name for m in done.saved]
    assert [m.name for m in planned.there] == [m.name for m in done.there]
    assert (len(done.saved), len(done.there)) == (3, 1)


def test_an_earlier_imported_file_is_not_overwritten(store: MemoryStore, project: Path, home: Path) -> None:
    for number in (1, 2):
        write(home / "memories.md", f"- I have {number} cats\n")
        older(store, project, home)
    assert (home / "memories.md.imported").read_text() == "- I have 1 cats\n"
    assert (home / "memories.md.imported-2").read_text() == "- I have 2 cats\n"


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe", b"a\0b", b"x" * (1 << 21)])
def test_an_older_file_that_cannot_be_read_keeps_its_name(
    store: MemoryStore, project: Path, home: Path, content: bytes
) -> None:
    path = write(home / "memories.md", content)
    result = older(store, project, home)
    assert len(result.left_out) == 1
    assert "memories.md" in result.left_out[0]
    assert path.exists()
    assert names(store) == []


def test_an_older_file_of_which_something_could_not_be_written_keeps_its_name(
    store: MemoryStore, project: Path, home: Path
) -> None:
    path = write(home / "memories.md", OWN + "### project\n- The API is v2\n")
    write(home / "memory", "a file stands where the folder should be")
    result = older(store, project, home)
    assert [m.body for m in result.saved] == ["The API is v2"]
    assert len(result.left_out) == 3
    assert path.exists()


@pytest.mark.parametrize("seconds", [-(10**11), 10**12])
def test_a_file_of_an_impossible_time_is_imported_as_new(
    store: MemoryStore, project: Path, home: Path, tmp_path: Path, seconds: int
) -> None:
    for path in (write(home / "memories.md", "- I like tea\n"), write(tmp_path / "x/a.md", "I like milk.")):
        os.utime(path, (seconds, seconds))
    older(store, project, home)
    import_memories(store, tmp_path / "x", now=NOW)
    import_memories(store, tmp_path / "x/a.md", now=NOW)
    assert sorted(m.body for m in store.list()) == ["I like milk.", "I like tea"]


def test_an_older_file_that_leads_out_of_the_project_is_not_followed(
    store: MemoryStore, project: Path, home: Path, tmp_path: Path
) -> None:
    secret = write(tmp_path / "secret.md", "- My secret\n")
    (project / ".mewcode").mkdir()
    (project / ".mewcode/memories.md").symlink_to(secret)
    assert older(store, project, home) == Imported()
    assert names(store) == []


def test_a_folder_of_claude_code_is_imported_with_what_its_index_says(
    store: MemoryStore, tmp_path: Path
) -> None:
    folder = tmp_path / "claude"
    write(folder / "no-force-push.md", CLAUDE)
    write(folder / "plots.md", "# Plots\n\nI use viridis.")
    write(folder / "deep/api.md", "The API is v2.")
    write(folder / "MEMORY.md", "# Index\n- [Plot colours](plots.md) — when plotting\n- [Gone](gone.md) - x")
    before = tree(folder)
    result = import_memories(store, folder, now=NOW)
    assert tree(folder) == before
    assert result.left_out == ()
    found = {m.name: m for m in store.list()}
    assert {name: (m.type, m.description) for name, m in found.items()} == {
        "no-force-push": ("feedback", "when pushing: never with --force"),
        "Plot colours": ("user", "when plotting"),
        "api": ("project", "The API is v2."),
    }
    assert found["no-force-push"].extra["metadata"]["originSessionId"] == "0b1c"
    assert store.check() == []
    assert import_memories(store, folder, now=NOW) == Imported(there=tuple(sorted(store.list(), key=_order)))


def _order(memory: object) -> int:
    return ["no-force-push", "Plot colours", "api"].index(memory.name)


def test_nothing_is_overwritten_and_a_taken_name_gets_a_number(store: MemoryStore, tmp_path: Path) -> None:
    standing = store.save(POLARS).memory
    other = "---\nname: prefers-polars\ndescription: d\ntype: user\n---\nOther text."
    write(tmp_path / "x/a.md", other)
    write(tmp_path / "x/b.md", other.replace("Other text.", "no  PANDAS."))
    result = import_memories(store, tmp_path / "x", now=NOW)
    assert ([m.name for m in result.saved], [m.name for m in result.there]) == (
        ["prefers-polars-2"],
        ["prefers-polars"],
    )
    assert store.get("prefers-polars") == standing


def test_the_age_of_a_note_comes_along(store: MemoryStore, tmp_path: Path) -> None:
    path = write(tmp_path / "x/a.md", "I like tea.")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    write(tmp_path / "x/b.md", "---\nupdated: 2025-03-04\n---\nI like milk.")
    import_memories(store, tmp_path / "x", now=NOW)
    assert {m.body: m.when.year for m in store.list() if m.when} == {
        "I like tea.": 2023,
        "I like milk.": 2025,
    }


def test_what_cannot_be_imported_is_named_and_the_rest_comes(store: MemoryStore, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    write(folder / "good.md", "I like tea.")
    write(folder / "binary.md", b"\x89PNG\0\0")
    write(folder / "zeros.md", "a\0b")
    write(folder / "empty.md", "")
    write(folder / "only-front.md", "---\nname: x\ndescription: d\n---\n")
    write(folder / "ended.md", "---\nexpires: 2020-01-01\n---\nIt is over.")
    write(folder / "placeholder.md", "Some text.\n[rest unchanged]\n")
    write(folder / "large.md", "x" * (1 << 21))
    write(folder / "MEMORY.md", "Free text that is no entry.\n")
    write(tmp_path / "outside/secret.md", "My secret")
    (folder / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (folder / "sub").symlink_to(tmp_path / "outside")
    (folder / "broken.md").symlink_to("nowhere")
    os.mkfifo(folder / "fifo.md")
    result = import_memories(store, folder, now=NOW)
    assert [m.body for m in store.list()] == ["I like tea."]
    named = {line.partition(".md")[0].rpartition("/")[2] for line in result.left_out}
    assert named == {
        "binary", "zeros", "empty", "only-front", "ended", "placeholder", "large", "MEMORY", "link", "broken",
        "fifo",
    }  # fmt: skip
    assert len(result.left_out) == len(named)
    assert all("\n" not in line for line in result.left_out)


def test_credentials_are_left_out_and_named_but_not_told(
    store: MemoryStore, project: Path, home: Path, tmp_path: Path
) -> None:
    secret = "hunter2-Xk93-vault"
    text = f"### user\n- The password is {secret}\n- I like tea\n"
    write(home / "memories.md", text)
    planned = older(store, project, home, dry_run=True)
    result = older(store, project, home)
    assert planned.left_out == result.left_out
    assert [m.body for m in store.list()] == ["I like tea"]
    (line,) = result.left_out
    assert "line 2" in line
    assert secret not in line
    assert result.renamed[0].read_text() == text
    write(tmp_path / "x/secret.md", f"password: {secret}")
    (line,) = import_memories(store, tmp_path / "x", now=NOW).left_out
    assert "secret.md" in line
    assert secret not in line


def test_a_single_file_and_an_older_file_can_be_named(store: MemoryStore, tmp_path: Path) -> None:
    import_memories(store, write(tmp_path / "tea.md", "I like tea."), now=NOW)
    older_file = write(tmp_path / "memories.md", "### feedback\n- use uv\n")
    import_memories(store, older_file, now=NOW)
    assert sorted((m.type, m.body) for m in store.list()) == [("feedback", "use uv"), ("user", "I like tea.")]
    assert older_file.exists()


@pytest.mark.parametrize("name", ["missing", "note.txt", "loop"])
def test_a_path_that_holds_no_markdown_is_an_error(store: MemoryStore, tmp_path: Path, name: str) -> None:
    (tmp_path / "note.txt").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(StorageError, match=name):
        import_memories(store, tmp_path / name, now=NOW)


def test_a_folder_of_far_too_many_files_is_refused_before_it_is_read(
    store: MemoryStore, tmp_path: Path
) -> None:
    (tmp_path / "many").mkdir()
    for number in range(2_001):
        (tmp_path / f"many/{number}.md").touch()
    with pytest.raises(StorageError, match="more than 2,000"):
        import_memories(store, tmp_path / "many", now=NOW)


IMPORTING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from mewcode_magic.memory import MemoryStore, import_older_files
project, home = map(Path, sys.argv[1:3])
print("ready", flush=True)
sys.stdin.readline()
print(len(import_older_files(MemoryStore(project, home), project, home, now=datetime.now(UTC)).saved))
"""


def test_two_processes_that_import_at_once_write_each_item_once(
    store: MemoryStore, project: Path, home: Path
) -> None:
    write(home / "memories.md", "".join(f"- I have {number} cats\n" for number in range(30)))
    command = [sys.executable, "-c", IMPORTING, str(project), str(home)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [process.stdout.readline() for process in running] == ["ready\n", "ready\n"]
    said = [process.communicate("go\n")[0] for process in running]
    assert sum(map(int, said)) == 30
    assert len({m.body for m in store.list()}) == len(store.list()) == 30
    assert [path.name for path in home.glob("memories.md*")] == ["memories.md.imported"]


@settings(max_examples=40)
@given(
    files=st.dictionaries(
        st.sampled_from(["a.md", "b/a.md", "MEMORY.md", "c d.md"]), st.sampled_from(FOUND_TEXTS)
    )
)
def test_whatever_stands_in_a_folder_a_second_import_changes_nothing(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "source")
        folder.mkdir()
        for file, data in files.items():
            write(folder / file, data)
        store = MemoryStore(Path(name, "project"), Path(name, "home"))
        planned = import_memories(store, folder, now=NOW, dry_run=True)
        done = import_memories(store, folder, now=NOW)
        assert [m.name for m in done.saved] == [m.name for m in planned.saved]
        assert (done.left_out, len(done.there)) == (planned.left_out, len(planned.there))
        assert {file: (folder / file).read_bytes() for file in files} == files
        before = store.list()
        again = import_memories(store, folder, now=NOW)
        assert (again.saved, again.left_out) == ((), done.left_out)
        assert store.list() == before


def test_a_type_that_a_file_states_is_kept_and_one_that_it_does_not_follows_from_its_words(
    store: MemoryStore, tmp_path: Path
) -> None:
    for kind in ("user", "feedback", "project", "reference"):
        write(tmp_path / f"x/{kind}.md", f"---\nname: {kind}\ntype: {kind}\n---\nI like {kind}s.")
    write(tmp_path / "x/none.md", "I like tea.")
    write(tmp_path / "x/link.md", "See https://example.org/wiki for more.")
    found = {memory.name: memory.type for memory in import_memories(store, tmp_path / "x", now=NOW).saved}
    kept = {kind: kind for kind in ("user", "feedback", "project", "reference")}
    assert found == {**kept, "none": "user", "link": "reference"}
