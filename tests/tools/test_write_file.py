"""`WriteFile` creates and replaces text files, never unseen, never half, and nowhere it should not."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tool_calls import run_tool

from mewcode_magic.events import Event, PermissionAsked
from mewcode_magic.tools import ReadFile, ToolContext, ToolResult, WriteFile, run_call


def write(
    context: ToolContext,
    path: str,
    content: str,
    *,
    answer: str | None = "yes",
    asked: list[Event] | None = None,
) -> ToolResult:
    return run_tool(WriteFile(), context, answer=answer, asked=asked, path=path, content=content)


def read(context: ToolContext, path: str) -> ToolResult:
    return run_tool(ReadFile(), context, path=path)


def question(asked: list[Event]) -> PermissionAsked:
    (event,) = asked
    assert isinstance(event, PermissionAsked)
    return event


def test_new_file_is_written_with_its_folders(context: ToolContext, project: Path) -> None:
    asked: list[Event] = []
    result = write(context, "src/new/a.py", "x = 1\ny = 2\n", asked=asked)
    assert result.text == "Created src/new/a.py: 2 lines."
    assert (project / "src/new/a.py").read_bytes() == b"x = 1\ny = 2\n"
    diff = "--- /dev/null\n+++ src/new/a.py\n@@ -0,0 +1,2 @@\n+x = 1\n+y = 2"
    assert (result.detail, result.language) == (diff, "diff")
    assert question(asked).question == "Create src/new/a.py?"
    assert (question(asked).detail, question(asked).language) == (diff, "diff")


def test_mode_of_a_new_file_is_as_the_user_has_set_it_and_stays(context: ToolContext, project: Path) -> None:
    before = os.umask(0o027)
    try:
        write(context, "a.sh", "echo 1\n")
    finally:
        os.umask(before)
    assert (project / "a.sh").stat().st_mode & 0o777 == 0o640
    (project / "a.sh").chmod(0o755)
    read(context, "a.sh")
    write(context, "a.sh", "echo 2\n")
    assert (project / "a.sh").stat().st_mode & 0o777 == 0o755


def test_file_that_was_not_read_is_not_replaced(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    result = write(context, "a.txt", "two\n")
    assert result.is_error
    assert "read it first" in result.text
    read(context, "a.txt")
    assert write(context, "a.txt", "two\n").text == "Replaced a.txt: 1 line."
    # What it wrote it knows.
    assert write(context, "a.txt", "three\n").text == "Replaced a.txt: 1 line."
    assert (project / "a.txt").read_text() == "three\n"


@pytest.mark.parametrize("later", ["longer text\n", "two\n"], ids=["other size", "same size"])
def test_file_that_changed_since_it_was_read_is_not_replaced(
    context: ToolContext, project: Path, later: str
) -> None:
    path = project / "a.txt"
    path.write_text("one\n")
    read(context, "a.txt")
    state = path.stat()
    path.write_text(later)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    asked: list[Event] = []
    result = write(context, "a.txt", "mine\n", asked=asked)
    assert "has changed since it was read" in result.text
    assert asked == []
    assert path.read_text() == later


@pytest.mark.parametrize("meanwhile", ["changed", "deleted", "created", "folder", "folder gone"])
def test_what_happens_while_the_user_is_asked_is_not_overwritten(
    context: ToolContext, project: Path, meanwhile: str
) -> None:
    path = project / "sub" / "a.txt"
    path.parent.mkdir()
    if meanwhile in ("changed", "deleted"):
        path.write_text("one\n")
        read(context, "sub/a.txt")
    block = {"id": "t1", "name": "WriteFile", "input": {"path": "sub/a.txt", "content": "mine\n"}}
    run = run_call(block, {"WriteFile": WriteFile()}, context)
    event = next(run)
    assert isinstance(event, PermissionAsked)
    match meanwhile:
        case "changed" | "created":
            path.write_text("another's\n")
        case "deleted":
            path.unlink()
        case "folder":
            path.mkdir()
        case "folder gone":
            path.parent.rmdir()
    event.reply("yes")
    with pytest.raises(StopIteration) as ended:
        next(run)
    result = ended.value.value
    if meanwhile == "deleted":
        assert "it would do something else now" in result.text
        assert not path.exists()
    elif meanwhile == "folder gone":
        assert result.text == "Created sub/a.txt: 1 line."
        assert path.read_text() == "mine\n"
    else:
        assert result.is_error
        assert path.is_dir() or path.read_text() == "another's\n"


def test_line_ends_and_bom_of_the_file_stay(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    read(context, "a.txt")
    write(context, "a.txt", "one\nthree\n")
    assert (project / "a.txt").read_bytes() == b"\xef\xbb\xbfone\r\nthree\r\n"


def test_same_text_is_not_written_again(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    read(context, "a.txt")
    before = (project / "a.txt").stat()
    asked: list[Event] = []
    assert "nothing was written" in write(context, "a.txt", "one\n", asked=asked).text
    assert asked == []
    assert (project / "a.txt").stat() == before


@pytest.mark.parametrize("path", ["link.txt", "folder/target.txt", "../out/target.txt", "dangling.txt"])
def test_file_outside_the_project_is_asked_for_even_where_edits_are_accepted(
    context: ToolContext, project: Path, tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "out"
    outside.mkdir()
    (outside / "target.txt").write_text("one\n")
    (project / "link.txt").symlink_to(outside / "target.txt")
    (project / "folder").symlink_to(outside)
    (project / "dangling.txt").symlink_to(outside / "new.txt")
    context.settings.permission_mode = "accept-edits"
    run_tool(ReadFile(), context, answer="yes", path=path)
    asked: list[Event] = []
    result = write(context, path, "two\n", answer=None, asked=asked)
    assert result.is_error
    assert f"{outside}" in question(asked).question
    assert question(asked).question.endswith("outside the project?")
    assert (outside / "target.txt").read_text() == "one\n"
    assert not (outside / "new.txt").exists()
    assert not write(context, path, "two\n", answer="yes").is_error
    assert (project / "link.txt").is_symlink()
    assert (project / "dangling.txt").is_symlink()
    written = outside / ("new.txt" if path == "dangling.txt" else "target.txt")
    assert written.read_text() == "two\n"


def test_edits_of_the_project_are_not_asked_for_where_they_are_accepted(
    context: ToolContext, project: Path
) -> None:
    context.settings.permission_mode = "accept-edits"
    asked: list[Event] = []
    assert not write(context, "a.txt", "one\n", answer=None, asked=asked).is_error
    assert asked == []
    context.settings.permission_mode = "read-only"
    assert "read-only" in write(context, "b.txt", "one\n").text
    assert not (project / "b.txt").exists()


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        (".mewcode/memory/a.md", "Remember"),
        (".mewcode/memory/../memory/MEMORY.md", "Remember"),
        (".mewcode/memories.md", "Remember"),
        ("{home}/memory/a.md", "Remember"),
        ("to-memory/a.md", "Remember"),
        (".mewcode/sessions/20260101-000000-abcd.jsonl", "sessions"),
        (".mewcode/session/tool-results/a.txt", "sessions"),
        (".git/hooks/pre-commit", "git"),
        (".git/config", "git"),
        (".GIT/config", "git"),
        ("vendor/.git/config", "git"),
        (".git", "git"),
    ],
)
def test_places_that_are_written_otherwise_are_refused_in_every_mode(
    context: ToolContext, project: Path, home: Path, path: str, hint: str
) -> None:
    (project / "to-memory").symlink_to(project / ".mewcode" / "memory")
    context.settings.permission_mode = "auto"
    before = sorted(project.rglob("*"))
    result = write(context, path.format(home=home), "text\n")
    assert result.is_error
    assert hint in result.text
    assert sorted(project.rglob("*")) == before
    assert not home.exists()


@pytest.mark.parametrize("tool", ["WriteFile", "EditFile"])
def test_file_that_a_rule_denies_to_a_tool_that_writes_is_not_written(
    context: ToolContext, project: Path, tool: str
) -> None:
    context.settings.permission_mode = "auto"
    context.settings.deny = [f"{tool}(*.lock)"]
    for path in ("uv.lock", "sub/poetry.lock"):
        assert "forbids it" in write(context, path, "text").text
    assert not (project / "uv.lock").exists()
    assert not write(context, "uv.txt", "text").is_error


def test_always_covers_the_files_of_the_folder(context: ToolContext, project: Path) -> None:
    asked: list[Event] = []
    write(context, "a [b]/one.txt", "1", answer="always", asked=asked)
    assert question(asked).always == r"WriteFile(a\ \[b\]/*)"
    assert not write(context, "a [b]/two.txt", "2", answer=None).is_error
    assert write(context, "a b/two.txt", "2", answer=None).is_error
    write(context, "top.txt", "1", answer="always")
    assert not write(context, "c/d.txt", "2", answer=None).is_error
    assert write(context, "../out.txt", "2", answer=None).is_error


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", ""),
        (".", "is a folder"),
        ("sub/", "is a folder"),
        ("file.txt/new.txt", "a file stands where a folder should be"),
        ("file.txt/sub/new.txt", "a file stands where a folder should be"),
        ("loop", "lead in a circle"),
        ("loop/a.txt", "lead in a circle"),
        ("fifo", "not a regular file"),
        ("/dev/null", "not a regular file"),
        ("x" * 300, "too long"),
        (f"sub/{'x' * 300}/a.txt", "too long"),
        ("a\0b", "NUL"),
        ("~nobody-of-that-name/a", "does not exist"),
        ("/proc/self/new.txt", "cannot write"),
        ("protected.txt", "write-protected"),
        ("latin1.txt", "not UTF-8"),
    ],
)
def test_what_cannot_be_written_is_one_line_that_says_why(
    context: ToolContext, project: Path, path: str, told: str
) -> None:
    context.settings.permission_mode = "auto"
    (project / "sub").mkdir()
    (project / "file.txt").write_text("one\n")
    (project / "protected.txt").write_text("one\n")
    (project / "protected.txt").chmod(0o444)
    (project / "latin1.txt").write_bytes(b"caf\xe9\n")
    (project / "loop").symlink_to("loop")
    os.mkfifo(project / "fifo")
    read(context, "protected.txt")
    read(context, "latin1.txt")
    result = write(context, path, "text")
    assert result.is_error
    assert told in result.text
    assert "\n" not in result.text
    assert (project / "protected.txt").read_text() == "one\n"
    assert (project / "latin1.txt").read_bytes() == b"caf\xe9\n"


def test_text_that_is_none_is_refused(context: ToolContext, project: Path) -> None:
    assert "surrogate" in write(context, "a.txt", "half \ud83d").text
    assert list(project.glob("*.txt")) == []


def test_notebook_stays_one(context: ToolContext, project: Path) -> None:
    assert "must be JSON" in write(context, "a.ipynb", "print(1)").text
    assert not write(context, "a.ipynb", '{"cells": []}').is_error
    assert (project / "a.ipynb").exists()


def test_full_disk_leaves_the_old_text_and_nothing_else(project: Path, home: Path) -> None:
    (project / "a.txt").write_text("one\n")
    script = """
    import resource, sys
    from pathlib import Path
    from tool_calls import run_tool
    from mewcode_magic.config import MewCode
    from mewcode_magic.memory import MemoryStore
    from mewcode_magic.tools import Permissions, ReadFile, ToolContext, WriteFile

    settings = MewCode(permission_mode="auto")
    project = Path(sys.argv[1])
    store = MemoryStore(project, Path(sys.argv[2]))
    context = ToolContext("s", project, store, settings, Permissions(settings))
    run_tool(ReadFile(), context, path="a.txt")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    print(run_tool(WriteFile(), context, path="a.txt", content="x" * 1_000).text)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(project), str(home)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "cannot write a.txt" in done.stdout
    assert (project / "a.txt").read_text() == "one\n"
    assert [path.name for path in project.iterdir() if path.name != ".git"] == ["a.txt"]
