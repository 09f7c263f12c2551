"""`ReadFile` reads text inside the project and the memories, and says why where it does not."""

import os
import socket
from pathlib import Path

import pytest
from credential_samples import UPPER, made
from tool_calls import run_tool

from mewcode_magic.tools import ReadFile, ToolContext, ToolResult


def read(context: ToolContext, path: str, answer: str | None = None, **limits: int) -> ToolResult:
    return run_tool(ReadFile(), context, answer=answer, path=path, **limits)


def test_lines_come_with_their_numbers(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert read(context, "a.txt") == ToolResult("     1\tone\n     2\ttwo", in_file=True)


def test_offset_and_limit_choose_lines_and_say_that_more_follow(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 10)), encoding="utf-8")
    text = read(context, "a.txt", offset=3, limit=2).text
    assert text == "     3\t3\n     4\t4\n(more lines follow; read on with offset=5)"
    assert read(context, "a.txt", offset=50).text == "a.txt has only 9 lines"


def test_bom_crlf_and_bytes_that_are_not_utf8_are_read(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\nt\xffwo\r\n")
    text = read(context, "a.txt").text
    assert text.startswith("     1\tone\n     2\tt\N{REPLACEMENT CHARACTER}wo\n(not all of it is UTF-8")


def test_file_in_utf16_with_a_bom_is_text(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_bytes("eins\r\nzwei ü\r\n".encode("utf-16"))
    assert read(context, "a.txt", offset=2).text == "     2\tzwei ü"


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 1_000])
def test_last_line_counts_with_and_without_its_end(
    context: ToolContext, project: Path, count: int, end: str
) -> None:
    (project / "a.txt").write_text("\n".join(map(str, range(1, count + 1))) + end * bool(count))
    beyond = read(context, "a.txt", offset=count + 1).text
    if count:
        assert f"has only {count:,} line" in beyond
        assert read(context, "a.txt", offset=count).text == f"{count:>6}\t{count}"
    else:
        assert beyond == "a.txt is empty"
    assert read(context, "a.txt", offset=5_000).text == beyond


def test_lines_far_down_a_large_file_are_the_right_ones(context: ToolContext, project: Path) -> None:
    # Lengths differ, so that chunks end in all places of a line.
    (project / "a.txt").write_text("".join(f"{n}{'x' * (n % 97)}\n" for n in range(1, 100_001)))
    for offset in (1, 2, 20_000, 65_536, 99_999):
        rows = read(context, "a.txt", offset=offset, limit=2).text.splitlines()[:2]
        assert rows == [f"{n:>6}\t{n}{'x' * (n % 97)}" for n in (offset, offset + 1)]


@pytest.mark.parametrize("character", ["x", "ü", "語", "🐍"])
@pytest.mark.parametrize("length", [1_999, 2_000, 2_001, 8_003, 8_004, 8_005, 300_000])
def test_long_line_is_cut_at_a_character_and_its_length_told(
    context: ToolContext, project: Path, character: str, length: int
) -> None:
    (project / "a.txt").write_text(f"\ufeff{character * length}\nnext\n", encoding="utf-8")
    first, second = read(context, "a.txt").text.splitlines()
    told = f"… ({length:,} characters)" if length > 2_000 else ""
    assert first == f"     1\t{character * min(length, 2_000)}{told}"
    assert second == "     2\tnext"


def test_result_is_short_enough_to_stay_in_the_conversation(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_text(("x" * 99 + "\n") * 5_000, encoding="utf-8")
    text = read(context, "a.txt").text
    assert 45_000 < len(text) < 50_000
    last = int(text.rsplit("offset=", 1)[1].rstrip(")"))
    assert read(context, "a.txt", offset=last).text.startswith(f"{last:>6}\t")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty", "fifo", "socket", "link"])
def test_what_is_no_regular_file_is_refused_without_waiting(
    context: ToolContext, project: Path, path: str
) -> None:
    os.mkfifo(project / "fifo")
    (project / "link").symlink_to("fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")  # relative, for such names are short
        result = read(context, path, answer="yes")
    assert result.is_error
    assert "not a regular file" in result.text


def test_file_of_the_system_that_states_no_size_is_read(context: ToolContext) -> None:
    assert "Name:" in read(context, "/proc/self/status", answer="yes").text


def test_nul_far_inside_a_text_is_shown_as_a_replacement(context: ToolContext, project: Path) -> None:
    (project / "a.txt").write_bytes(b"x\n" * 8_000 + b"a\0b\n")
    assert read(context, "a.txt", offset=8_001).text == "  8001\ta\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize("path", ["gone", "gone/further", "a.txt/further"])
def test_path_that_leads_nowhere_is_one_line_that_says_so(
    context: ToolContext, project: Path, path: str
) -> None:
    (project / "a.txt").write_text("one")
    (project / "gone").symlink_to("nowhere")
    result = read(context, path)
    assert result.is_error
    assert "cannot read" in result.text
    assert "\n" not in result.text


def test_name_that_is_not_utf8_is_read(context: ToolContext, project: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (project / name).write_text("one")
    assert read(context, name).text == "     1\tone"


def test_read_file_is_known_in_the_state_in_which_it_was_read(context: ToolContext, project: Path) -> None:
    path = project / "a.txt"
    path.write_text("one")
    read(context, "a.txt")
    status = path.stat()
    assert context.read == {path: (status.st_mtime_ns, 3, status.st_ino)}


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
