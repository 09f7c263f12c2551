"""`EditFile` replaces what a file holds exactly once, and leaves all else byte for byte."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_calls import run_tool

from mewcode_magic.events import Event, PermissionAsked
from mewcode_magic.tools import EditFile, ReadFile, ToolContext, ToolResult


def edit(
    context: ToolContext,
    old: str,
    new: str,
    *,
    path: str = "a.py",
    answer: str | None = "yes",
    asked: list[Event] | None = None,
    **options: bool,
) -> ToolResult:
    return run_tool(EditFile(), context, answer=answer, asked=asked, path=path, old=old, new=new, **options)


def stand(context: ToolContext, project: Path, content: str | bytes, name: str = "a.py") -> Path:
    """Write a file, and have the agent read it."""
    path = project / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    run_tool(ReadFile(), context, path=name)
    return path


def test_text_that_occurs_once_is_replaced(context: ToolContext, project: Path) -> None:
    path = stand(context, project, "a = 1\nb = 2\nc = 3\n")
    asked: list[Event] = []
    result = edit(context, "b = 2", "b = 20", asked=asked)
    assert path.read_text() == "a = 1\nb = 20\nc = 3\n"
    assert result.text == "Edited a.py: once replaced, at line 2."
    diff = "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n a = 1\n-b = 2\n+b = 20\n c = 3"
    assert (result.detail, result.language) == (diff, "diff")
    (event,) = asked
    assert isinstance(event, PermissionAsked)
    assert (event.question, event.detail, event.language) == ("Change a.py?", diff, "diff")


def test_several_edits_follow_one_another(context: ToolContext, project: Path) -> None:
    path = stand(context, project, "one\n")
    for old, new in [("one", "two"), ("two", "three"), ("three", "four")]:
        assert not edit(context, old, new).is_error
    assert path.read_text() == "four\n"


def test_text_that_occurs_more_often_is_told_with_its_lines(context: ToolContext, project: Path) -> None:
    path = stand(context, project, "x = 1\ny = 2\nx = 1\n")
    asked: list[Event] = []
    result = edit(context, "x = 1", "x = 2", asked=asked)
    assert result.is_error
    assert "2 times, at lines 1, 3" in result.text
    assert asked == []
    assert edit(context, "x = 1", "x = 2", replace_all=True).text.endswith("2 times replaced, at lines 1, 3.")
    assert path.read_text() == "x = 2\ny = 2\nx = 2\n"


def test_occurrences_that_overlap_are_not_one(context: ToolContext, project: Path) -> None:
    path = stand(context, project, "ababa\n")
    assert "2 times" in edit(context, "aba", "x").text
    edit(context, "aba", "x", replace_all=True)
    assert path.read_text() == "xba\n"


def test_text_that_occurs_all_over_a_long_file_is_told_at_once(context: ToolContext, project: Path) -> None:
    stand(context, project, "a" * 5_000_000)
    assert "1,000 times or more, at line 1;" in edit(context, "a", "b").text


@pytest.mark.parametrize(
    ("old", "told"),
    [
        ("def total(a):", "the nearest lines are 1: 'def totals(a):'"),
        ("def totals(a):\n  return  a", "at line 1 one with other white space"),
        ("     1\tdef totals(a):", "leave out the line numbers"),
        ("§§§§", "read it again"),
        ("", "old is empty"),
        ("return a", "nothing would change"),
    ],
)
def test_text_that_is_not_there_is_told_with_what_is_nearest(
    context: ToolContext, project: Path, old: str, told: str
) -> None:
    path = stand(context, project, "def totals(a):\n    return a\n")
    result = edit(context, old, "return a")
    assert result.is_error
    assert told in result.text
    assert "\n" not in result.text
    assert path.read_text() == "def totals(a):\n    return a\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nX\r\nY\r\nc\r\n"),
        (b"a\nb\nc\n", b"a\nX\nY\nc\n"),
        (b"\xef\xbb\xbfa\r\nb\r\nc", b"\xef\xbb\xbfa\r\nX\r\nY\r\nc"),
        (b"a\nb\nc\r\nd", b"a\nX\nY\nc\r\nd"),
        (b"a\r\nb\nc\r\nd\r\n", b"a\r\nX\r\nY\nc\r\nd\r\n"),
        ("ä\nb\n語".encode(), "ä\nX\nY\n語".encode()),
        (b"a\rb\nc", b"a\rX\nY\nc"),
    ],
)
def test_line_ends_bom_and_the_last_line_stay(
    context: ToolContext, project: Path, before: bytes, after: bytes
) -> None:
    path = stand(context, project, before)
    assert not edit(context, "b", "X\nY").is_error
    assert path.read_bytes() == after


def test_text_of_several_lines_is_found_whatever_ends_them(context: ToolContext, project: Path) -> None:
    path = stand(context, project, b"a\r\nb\r\nc\nd\r\n")
    assert not edit(context, "b\nc\nd", "e").is_error
    assert path.read_bytes() == b"a\r\ne\r\n"
    assert not edit(context, "a\r\ne\r\n", "").is_error
    assert path.read_bytes() == b""


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["a", "b", "ab", "\n", "\r\n", "ü"]), max_size=12),
    st.lists(st.sampled_from(["a", "b", "\n", "ü"]), min_size=1, max_size=3),
)
def test_what_is_not_replaced_stays_byte_for_byte(
    context: ToolContext, project: Path, content: list[str], old: list[str]
) -> None:
    text, wanted = "".join(content), "".join(old)
    path = stand(context, project, text)
    result = edit(context, wanted, "Z", replace_all=True)
    plain = text.replace("\r\n", "\n")
    assert result.is_error == (wanted not in plain)
    after = path.read_bytes().decode()
    assert after.replace("\r\n", "\n") == plain.replace(wanted, "Z")
    # Line ends that were not in a replaced text are those of before, in their order.
    if "\n" not in wanted:
        assert [p[-1:] for p in after.split("\n")] == [
            p[-1:] if p[-1:] == "\r" else p.replace(wanted, "Z")[-1:] for p in text.split("\n")
        ]


def test_file_that_was_not_read_or_has_changed_is_not_edited(context: ToolContext, project: Path) -> None:
    (project / "a.py").write_text("one\n")
    assert "read it first" in edit(context, "one", "two").text
    path = stand(context, project, "one\n")
    path.write_text("one, and more\n")
    assert "has changed since it was read" in edit(context, "one", "two").text
    assert path.read_text() == "one, and more\n"
    assert "WriteFile creates" in edit(context, "one", "two", path="missing.py").text


def test_bytes_that_are_not_utf8_are_not_damaged(context: ToolContext, project: Path) -> None:
    for data in (b"caf\xe9 = 1\n", "x = 1\n".encode("utf-16")):
        path = stand(context, project, data)
        result = edit(context, "= 1", "= 2")
        assert result.is_error
        assert "not UTF-8" in result.text
        assert path.read_bytes() == data


def test_notebook_is_edited_as_the_json_that_it_is(context: ToolContext, project: Path) -> None:
    path = stand(
        context, project, '{"cells": [{"cell_type": "code", "source": ["a = 1\\n", "b"]}]}', "a.ipynb"
    )
    assert "a notebook is JSON" in edit(context, "a = 1\nb", "c", path="a.ipynb").text
    assert "must be JSON" in edit(context, "]}]}", "", path="a.ipynb").text
    assert not edit(context, "a = 1", "a = 2", path="a.ipynb").is_error
    assert "a = 2" in path.read_text()


def test_memory_is_not_edited(context: ToolContext, home: Path) -> None:
    (home / "memory").mkdir(parents=True)
    path = home / "memory" / "a.md"
    path.write_text("one")
    run_tool(ReadFile(), context, path=str(path))
    result = edit(context, "one", "two", path=str(path))
    assert result.is_error
    assert "Remember" in result.text


def test_data_that_was_not_shown_is_neither_edited_nor_quoted(context: ToolContext, project: Path) -> None:
    context.settings.share_values = False
    stand(context, project, "name,amount\nsecret,4711\n", "a.csv")
    result = edit(context, "secrets,4711", "x", path="a.csv")
    assert result.is_error
    assert "secret,4711" not in result.text


@pytest.mark.parametrize("rule", ["EditFile(*.lock)", "WriteFile(*.lock)", "EditFile"])
def test_file_that_a_rule_denies_is_not_edited(context: ToolContext, project: Path, rule: str) -> None:
    path = stand(context, project, "one\n", "uv.lock")
    context.settings.permission_mode = "auto"
    context.settings.deny = [rule]
    assert "forbids it" in edit(context, "one", "two", path="uv.lock").text
    assert path.read_text() == "one\n"


def test_edit_of_a_long_file_is_shown_by_what_changes(context: ToolContext, project: Path) -> None:
    lines = [f"line {n}" for n in range(100_000)]
    stand(context, project, "\n".join(lines))
    result = edit(context, "line 50000\n", "other\n")
    assert result.detail == (
        "--- a.py\n+++ a.py\n@@ -49998,7 +49998,7 @@\n line 49997\n line 49998\n line 49999\n"
        "-line 50000\n+other\n line 50001\n line 50002\n line 50003"
    )


def test_change_all_through_a_long_file_is_shown_shortened(context: ToolContext, project: Path) -> None:
    stand(context, project, "x\n" * 30_000)
    result = edit(context, "x", "y", replace_all=True)
    assert result.detail.startswith("--- a.py\n+++ a.py\n@@ -1,30000 +1,30000 @@\n-x\n")
    assert result.detail.endswith("more lines")
    assert len(result.detail) < 20_000
    assert "and 29,980 more" in result.text
