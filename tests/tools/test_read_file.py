"""`ReadFile` reads text inside the project and the memories, and says why where it does not."""

from pathlib import Path

import pytest
from credential_samples import UPPER, made
from tool_calls import run_tool

from mewcode_magic.tools import ReadFile, ToolContext, ToolResult


def read(context: ToolContext, path: str, answer: str | None = None, **limits: int) -> ToolResult:
    return run_tool(ReadFile(), context, answer=answer, path=path, **limits)


def test_lines_come_with_their_numbers(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert read(context, "a.txt") == ToolResult("     1\tone\n     2\ttwo")


def test_offset_and_limit_choose_lines_and_say_that_more_follow(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 10)), encoding="utf-8")
    text = read(context, "a.txt", offset=3, limit=2).text
    assert text == "     3\t3\n     4\t4\n(more lines follow; read on with offset=5)"
    assert read(context, "a.txt", offset=50).text == "a.txt has no line 50"


def test_bom_crlf_and_bytes_that_are_not_utf8_are_read(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\nt\xffwo\r\n")
    assert read(context, "a.txt").text == "     1\tone\n     2\tt\N{REPLACEMENT CHARACTER}wo"


def test_long_file_and_long_line_are_bounded(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text(("x" * 9_000 + "\n") * 100, encoding="utf-8")
    text = read(context, "a.txt").text
    assert len(text) < 51_000
    assert "(9,000 characters)" in text


@pytest.mark.parametrize("path", ["missing.txt", ".", "binary.bin", "nul\0name", "loop"])
def test_what_cannot_be_read_is_an_error_result(context: ToolContext, project: Path, path: str) -> None:
    (project / "binary.bin").write_bytes(b"\x00\x01")
    (project / "loop").symlink_to("loop")
    assert read(context, path).is_error


def test_name_too_long_for_the_file_system_is_an_error_result(context: ToolContext) -> None:
    result = read(context, "x" * 400)
    assert result.is_error
    assert "too long" in result.text


def test_memory_folders_are_read_without_a_question(context: ToolContext, home: Path) -> None:
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "a.md").write_text("text", encoding="utf-8")
    assert read(context, str(home / "memory" / "a.md")).text == "     1\ttext"


@pytest.mark.parametrize("path", ["../outside.txt", "link.txt", "folder/outside.txt"])
def test_file_outside_the_project_is_asked_for_also_through_links(
    context: ToolContext, project: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "outside.txt").write_text("secret", encoding="utf-8")
    (project / "link.txt").symlink_to(tmp_path / "outside.txt")
    (project / "folder").symlink_to(tmp_path)
    denied = read(context, path)
    assert denied.is_error
    assert "nobody could be asked" in denied.text
    assert "secret" not in denied.text
    assert "the user said no" in read(context, path, answer="no").text
    assert "look elsewhere" in read(context, path, answer="look elsewhere").text
    assert read(context, path, answer="yes").text == "     1\tsecret"


def test_home_instructions_are_outside_the_memory_folders(context: ToolContext, home: Path) -> None:
    home.mkdir()
    (home / "MEWCODE.md").write_text("private", encoding="utf-8")
    assert read(context, str(home / "MEWCODE.md")).is_error


def test_credential_in_a_memory_is_masked_in_the_project_it_is_not(
    context: ToolContext, home: Path, project: Path
) -> None:
    key = "AKIA" + made(UPPER, 16)
    (home / "memory").mkdir(parents=True)
    for path in (home / "memory" / "aws.md", project / "aws.txt"):
        path.write_text(f"The key is {key}.", encoding="utf-8")
    masked = read(context, str(home / "memory" / "aws.md")).text
    assert masked == "     1\tThe key is [credential: AWS access key]."
    assert key in read(context, "aws.txt").text
