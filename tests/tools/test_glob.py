"""`Glob` names the files that a pattern means, the newest first, without what is nobody's business."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_calls import run_tool

from mewcode_magic.tools import Glob, ToolContext, ToolResult


def find(context: ToolContext, pattern: str, **arguments: object) -> ToolResult:
    answer = arguments.pop("answer", None)
    assert answer is None or isinstance(answer, str)
    return run_tool(Glob(), context, answer=answer, pattern=pattern, **arguments)


def names(context: ToolContext, pattern: str, **arguments: object) -> set[str]:
    return set(find(context, pattern, **arguments).text.splitlines())


def make(project: Path, *paths: str) -> None:
    for path in paths:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("text\n")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", {"a.py", "src/b.py", "src/deep/c.py"}),
        ("**/*.py", {"a.py", "src/b.py", "src/deep/c.py"}),
        ("/*.py", {"a.py"}),
        ("./*.py", {"a.py"}),
        ("src/*.py", {"src/b.py"}),
        ("src/**/*.py", {"src/b.py", "src/deep/c.py"}),
        ("src/", {"src/b.py", "src/deep/c.py", "src/d.md"}),
        ("*.{py,md}", {"a.py", "src/b.py", "src/deep/c.py", "src/d.md"}),
        ("{src,other}/*.{md,txt}", {"src/d.md"}),
        ("!*.py", {"src/d.md", ".hidden"}),
        ("{project}/src/*.py", {"src/b.py"}),
        (".hidden", {".hidden"}),
        ("b.?y", {"src/b.py"}),
        ("[ab].py", {"a.py", "src/b.py"}),
        ("none", {"no files match"}),
    ],
)
def test_pattern_is_as_in_gitignore(
    context: ToolContext, project: Path, pattern: str, found: set[str]
) -> None:
    make(project, "a.py", "src/b.py", "src/deep/c.py", "src/d.md", ".hidden")
    assert names(context, pattern.replace("{project}", str(project))) == found


def test_newest_comes_first_and_the_rest_is_counted(context: ToolContext, project: Path) -> None:
    for n in range(10):
        make(project, f"{n}.txt")
        os.utime(project / f"{n}.txt", (1_000 + n, 1_000 + n))
    lines = find(context, "*.txt", limit=3).text.splitlines()
    assert lines[:3] == ["9.txt", "8.txt", "7.txt"]
    assert lines[3:] == ["(the newest 3 of 10 files; narrow the pattern for others)"]


def test_folder_to_look_in_is_what_patterns_are_relative_to(context: ToolContext, project: Path) -> None:
    make(project, "a.py", "src/b.py", "src/deep/c.py")
    assert names(context, "/*.py", path="src") == {"src/b.py"}
    assert names(context, "deep/*.py", path="src") == {"src/deep/c.py"}


def test_nested_gitignore_files_hold_below_their_folder(context: ToolContext, project: Path) -> None:
    make(project, "a.log", "keep.log", "sub/a.log", "sub/b.tmp", "sub/build/x.py", "sub/deep/b.tmp", "b.tmp")
    (project / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n")
    (project / "sub" / ".gitignore").write_text("\ufeff*.tmp\n!a.log\n!\n", encoding="utf-8")
    assert names(context, "!.gitignore") == {"keep.log", "sub/a.log", "b.tmp"}
    # What lies above a folder holds in it too, but an ignored folder can be looked into on purpose.
    assert names(context, "*", path="sub/deep") == {"no files match"}
    assert names(context, "*", path="sub/build") == {"sub/build/x.py"}


@pytest.mark.parametrize("path", [".git/config", ".ipynb_checkpoints/a.ipynb", ".mewcode/sessions/a.jsonl"])
def test_what_is_nobodys_business_is_left_out_wherever_it_lies(
    context: ToolContext, project: Path, path: str
) -> None:
    make(project, path, f"sub/{path}", "sub/sessions/a.txt", ".mewcode/memory/a.md")
    assert names(context, "*") == {"sub/sessions/a.txt", ".mewcode/memory/a.md"}


PATHS = st.sampled_from(
    ["a.py", "b.log", "sub/a.py", "sub/b.log", "sub/in/a.py", "in/b.log", "sub/in/c d.txt"]
)
RULES = st.lists(
    st.sampled_from(
        [
            "*.log",
            "!b.log",
            "sub/",
            "/sub",
            "!sub/",
            "in",
            "sub/in/",
            "*.py",
            "!a.py",
            "**/in/*",
            "c d.*",
            "/*",
            "# x",
            "sub/**",
            "!sub/x.txt",
            "!in/",
            "**",
            "!*/",
            "in/**",
            "sub/*",
            "**/in/**",
            "sub/in",
        ]
    ),
    max_size=4,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(PATHS, min_size=1), RULES, RULES)
def test_what_is_left_out_is_what_git_ignores(
    context: ToolContext, project: Path, paths: set[str], outer: list[str], inner: list[str]
) -> None:
    subprocess.run(["rm", "-rf", *project.iterdir()], check=True)
    subprocess.run(["git", "init", "-q"], check=True, cwd=project)
    make(project, *paths, "sub/x.txt")
    (project / ".gitignore").write_text("\n".join(outer))
    (project / "sub" / ".gitignore").write_text("\n".join(inner))
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
        check=True,
        capture_output=True,
        text=True,
        cwd=project,
    )
    expected = set(listed.stdout.split("\0")[:-1])
    assert names(context, "*") == (expected or {"no files match"})


def test_links_are_named_not_followed(context: ToolContext, project: Path, tmp_path: Path) -> None:
    make(tmp_path, "out/secret.txt")
    make(project, "sub/a.txt")
    (project / "circle").symlink_to(".")
    (project / "loop.txt").symlink_to("loop.txt")
    (project / "dangling.txt").symlink_to("nowhere")
    (project / "out").symlink_to(tmp_path / "out")
    assert names(context, "*.txt") == {"sub/a.txt", "loop.txt", "dangling.txt"}


def test_names_cannot_forge_lines(context: ToolContext, project: Path) -> None:
    make(project, "a\nforged.txt", "b\u2028c.txt", os.fsdecode(b"caf\xe9.txt"), f"{'x' * 250}.txt")
    lines = find(context, "*.txt").text.splitlines()
    assert len(lines) == 4
    assert "a\N{REPLACEMENT CHARACTER}forged.txt" in lines
    assert "caf\N{REPLACEMENT CHARACTER}.txt" in lines


def test_other_folders_are_asked_for(context: ToolContext, project: Path, tmp_path: Path, home: Path) -> None:
    make(tmp_path, "out/a.txt")
    make(home, "memory/a.md")
    (project / "link").symlink_to(tmp_path / "out")
    for path in ("../out", "link", str(tmp_path / "out"), "/"):
        assert find(context, "*", path=path).text.startswith("not allowed")
    assert names(context, "*", path="link", answer="yes") == {str(tmp_path / "out" / "a.txt")}
    assert names(context, "*", path=str(home / "memory")) == {str(home / "memory" / "a.md")}


def test_files_that_a_rule_denies_are_not_named(context: ToolContext, project: Path) -> None:
    make(project, "a.txt", "secret/b.txt")
    context.settings.deny = ["Glob(secret/)"]
    assert names(context, "*") == {"a.txt", "(1 left out: rules of MewCode.deny forbid them)"}
    assert "forbids it" in find(context, "*", path="secret").text


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*", "missing"),
        ("*", "a.txt"),
        ("*", "x" * 300),
        ("*", "a\0b"),
        ("*", "loop"),
        ("", "."),
        ("/", "."),
        ("!", "."),
        ("a\\", "."),
        ("{a,b}" * 20, "."),
    ],
)
def test_what_names_nothing_is_one_line_that_says_so(
    context: ToolContext, project: Path, pattern: str, path: str
) -> None:
    make(project, "a.txt")
    (project / "loop").symlink_to("loop")
    result = find(context, pattern, path=path)
    assert result.is_error
    assert "\n" not in result.text


def test_result_is_short_enough_to_stay_in_the_conversation(context: ToolContext, project: Path) -> None:
    make(project, *(f"{'x' * 200}{n}.txt" for n in range(400)))
    text = find(context, "*.txt", limit=2_000).text
    assert 40_000 < len(text) < 50_000
    assert "of 400 files" in text
