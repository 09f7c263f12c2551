"""Instruction files: which are read, and what `@include` may and may not bring in."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instruction_files import write

from mewcode_magic.config import MewCode
from mewcode_magic.instructions import Instructions, load_instructions
from mewcode_magic.instructions.including import _literal

BLOCKED = "<!-- @include blocked: path outside project -->"


@pytest.fixture
def loaded(project: Path, home: Path):
    """Write MEWCODE.md (and other files of the project) and load."""

    def load(text: str | bytes, /, *, settings: MewCode | None = None, **files: str | bytes) -> Instructions:
        write(project / "MEWCODE.md", text)
        for name, content in files.items():
            write(project / name.replace("__", "/").replace("_", "."), content)
        return load_instructions(project, home, settings=settings)

    return load


# --- places


def test_no_file_gives_nothing(project: Path, home: Path) -> None:
    assert load_instructions(project, home) == Instructions("", [], [])


def test_three_places_are_joined_highest_first(project: Path, home: Path) -> None:
    files = [project / "MEWCODE.md", project / ".mewcode" / "MEWCODE.md", home / "MEWCODE.md"]
    for path, text in zip(files, ["project\n", "private\n", "home\n"], strict=True):
        write(path, text)
    assert load_instructions(str(project), str(home)) == Instructions(
        "project\n---\nprivate\n---\nhome", files, []
    )


def test_empty_file_adds_no_separator(project: Path, home: Path) -> None:
    write(project / "MEWCODE.md", " \n\n")
    write(home / "MEWCODE.md", "home")
    assert load_instructions(project, home) == Instructions("home", [home / "MEWCODE.md"], [])


def test_private_place_that_is_the_home_is_read_once(tmp_path: Path) -> None:
    home = tmp_path / ".mewcode"
    write(home / "MEWCODE.md", "mine")
    assert load_instructions(tmp_path, home).text == "mine"


def test_project_that_is_the_home_folder_is_read_once(home: Path) -> None:
    write(home / "MEWCODE.md", "mine")
    assert load_instructions(home, home).text == "mine"


def test_place_that_links_to_another_is_read_once(project: Path, home: Path) -> None:
    write(project / "MEWCODE.md", "one")
    (project / ".mewcode").mkdir()
    (project / ".mewcode" / "MEWCODE.md").symlink_to(project / "MEWCODE.md")
    assert load_instructions(project, home) == Instructions("one", [project / "MEWCODE.md"], [])


def test_place_already_included_is_read_once(loaded) -> None:
    assert (
        loaded("a\n@include .mewcode/MEWCODE.md\nb", _mewcode__MEWCODE_md="private").text == "a\nprivate\nb"
    )


def test_project_file_that_links_out_of_the_project_is_left_out(
    project: Path, home: Path, tmp_path: Path
) -> None:
    (project / "MEWCODE.md").symlink_to(write(tmp_path / "secret", "hush"))
    result = load_instructions(project, home)
    assert (result.text, result.files) == ("", [])
    assert "path outside project" in result.notices[0]


def test_home_file_that_links_out_of_home_is_read(project: Path, home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "MEWCODE.md").symlink_to(write(tmp_path / "dotfiles" / "mewcode.md", "mine"))
    assert load_instructions(project, home).text == "mine"


@pytest.mark.parametrize("kind", ["folder", "broken link", "circle", "pipe", "file for folder"])
def test_place_that_is_no_readable_file_is_a_notice(project: Path, home: Path, kind: str) -> None:
    path = project / ".mewcode" / "MEWCODE.md"
    if kind == "file for folder":
        write(path.parent, "")
    else:
        path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "broken link":
        path.symlink_to("nowhere")
    elif kind == "circle":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    write(home / "MEWCODE.md", "mine")
    result = load_instructions(project, home)
    assert result.text == "mine"
    assert len(result.notices) == 1
    assert result.notices[0].startswith(".mewcode/MEWCODE.md was left out: ")


def test_home_that_is_a_file_is_a_notice(project: Path, home: Path) -> None:
    write(home, "no folder")
    assert "a file stands where its folder should be" in load_instructions(project, home).notices[0]


def test_place_over_the_limit_is_left_out_with_a_notice(loaded) -> None:
    result = loaded("x" * 101, settings=MewCode(include_max_bytes=100))
    assert result.text == ""
    assert "larger than 100 bytes" in result.notices[0]
    assert loaded("x" * 100, settings=MewCode(include_max_bytes=100)).text == "x" * 100


def test_bytes_that_are_not_utf8_are_a_notice(loaded) -> None:
    result = loaded(b"caf\xe9 rules")
    assert result.text == "caf\ufffd rules"
    assert "not UTF-8" in result.notices[0]


def test_binary_place_is_left_out_with_a_notice(loaded) -> None:
    result = loaded("text".encode("utf-16"))
    assert result.text == ""
    assert "binary file" in result.notices[0]


def test_bom_and_crlf_are_read(loaded) -> None:
    result = loaded(b"\xef\xbb\xbf@include a.md\r\nlast\r\n", a_md=b"\xef\xbb\xbffirst\r\nsecond\r\n")
    assert result == Instructions("first\nsecond\nlast", result.files, [])


# --- includes


def test_include_line_is_replaced_by_the_file(loaded, project: Path) -> None:
    result = loaded("before\n@include ./docs/a.md\nafter\n", docs__a_md="one\ntwo\n")
    assert result.text == "before\none\ntwo\nafter"
    assert result.files == [project / "MEWCODE.md", project / "docs" / "a.md"]


def test_include_is_relative_to_the_including_file(loaded) -> None:
    result = loaded(
        "@include docs/a.md",
        docs__a_md="@include deep/b.md",
        docs__deep__b_md="@include ../c.md",
        docs__c_md="c",
    )
    assert (result.text, result.notices) == ("c", [])


@pytest.mark.parametrize(
    "spelling", ["my notes.md", '"my notes.md"', "'my notes.md'", "`my notes.md`", "  my notes.md  "]
)
def test_include_takes_paths_with_spaces_and_quotes(loaded, project: Path, spelling: str) -> None:
    write(project / "my notes.md", "notes")
    assert loaded(f"@include {spelling}").text == "notes"


def test_include_takes_an_absolute_path_inside_the_project(loaded, project: Path) -> None:
    assert loaded(f"@include {project}/a.md", a_md="a").text == "a"


def test_include_expands_the_tilde_of_the_home_file(project: Path, home: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    write(home / "MEWCODE.md", "@include ~/style.md")
    write(home / "style.md", "style")
    assert load_instructions(project, home).text == "style"


@pytest.mark.parametrize(
    "line",
    [
        "@dataclass",
        "@includes a.md",
        "@include_router(a.md)",
        "@include",
        "@include ",
        "me@include a.md",
        "someone@example.com",
        "  @include a.md",
        "> @include a.md",
        "see `@include a.md`",
        "@Include a.md",
    ],
)
def test_line_that_only_looks_like_an_include_stays(loaded, line: str) -> None:
    result = loaded(f"x\n{line}\ny", a_md="WRONG")
    assert (result.text, result.notices) == (f"x\n{line}\ny", [])


@pytest.mark.parametrize(
    "block",
    [
        "```\n@include a.md\n```",
        "```python title=x\n@include a.md\n```",
        "~~~\n@include a.md\n~~~",
        "~~~ `x`\n@include a.md\n~~~",
        "````\n```\n@include a.md\n```\n@include a.md\n````",
        "~~~\n```\n~~~~",
        "```\n~~~\n@include a.md\n```",
        "```\n``` not closing\n@include a.md\n`````",
        "   ```\n@include a.md\n   ```",
        "1. step\n\n    ```\n@include a.md\n    ```",
        "- ```\n@include a.md\n  ```",
        "- 1) ~~~\n@include a.md\n  ~~~",
        "<!--\n@include a.md\n-->",
        "<!-- old:\n@include a.md -->",
    ],
)
def test_include_in_a_fence_or_comment_stays_and_one_after_it_does_not(loaded, block: str) -> None:
    assert loaded(f"{block}\n@include a.md", a_md="A").text == f"{block}\nA"


@pytest.mark.parametrize(
    "line", ["``` one line ```", "text ``` more", "<!-- short -->", "mentions <!-- in passing", "``", "~~ ~"]
)
def test_line_that_opens_no_block_hides_no_include(loaded, line: str) -> None:
    assert loaded(f"{line}\n@include a.md", a_md="A").text == f"{line}\nA"


def test_unclosed_fence_of_an_included_file_ends_with_it(loaded) -> None:
    assert loaded("@include a.md\n@include b.md", a_md="```\nx", b_md="B").text == "```\nx\nB"


def test_includes_nest_as_deep_as_the_setting_and_deeper_lines_stay(loaded) -> None:
    chain = {f"f{n}_md": f"{n}\n@include f{n + 1}.md" for n in range(1, 8)}
    result = loaded("@include f1.md", **chain)
    assert result.text == "1\n2\n3\n4\n5\n@include f6.md"
    assert result.notices == ["f5.md, line 2: @include f6.md was not followed: nested deeper than 5 files"]
    assert loaded("@include f1.md", settings=MewCode(include_depth=0), **chain).text == "@include f1.md"


def test_each_file_is_included_once_through_any_spelling_or_link(loaded, project: Path) -> None:
    write(project / "docs" / "a.md", "A")
    (project / "soft.md").symlink_to("docs/a.md")
    (project / "hard.md").hardlink_to(project / "docs" / "a.md")
    (project / "folder").symlink_to("docs")
    names = ["docs/a.md", "./docs/../docs/a.md", "soft.md", "hard.md", "folder/a.md", f"{project}/docs//a.md"]
    result = loaded("\n".join(f"@include {name}" for name in names) + "\nend")
    assert (result.text, result.notices) == ("A\nend", [])
    assert result.files == [project / "MEWCODE.md", project / "docs" / "a.md"]


def test_cycle_ends(loaded) -> None:
    result = loaded(
        "top\n@include a.md",
        a_md="a\n@include b.md",
        b_md="b\n@include a.md\n@include MEWCODE.md\n@include b.md",
    )
    assert (result.text, result.notices) == ("top\na\nb", [])


@pytest.mark.parametrize(
    "name", ["../secret.md", "link.md", "folder/secret.md", "{outside}", "~/secret.md", "../nothing-there"]
)
def test_path_outside_the_project_is_blocked_after_resolving_links(
    loaded, project: Path, tmp_path: Path, name: str
) -> None:
    secret = write(tmp_path / "secret.md", "hush")
    write(tmp_path / "user" / "secret.md", "hush")
    (project / "link.md").symlink_to(secret)
    (project / "folder").symlink_to(tmp_path)
    result = loaded(f"@include {name.format(outside=secret)}")
    assert result.text == BLOCKED
    assert len(result.notices) == 1
    assert result.notices[0].startswith("MEWCODE.md, line 1: @include ")
    assert len(result.files) == 1


def test_sibling_whose_name_begins_like_the_project_is_outside(loaded, project: Path) -> None:
    write(project.with_name("project-2") / "a.md", "hush")
    assert loaded("@include ../project-2/a.md").text == BLOCKED


def test_home_file_may_include_from_home_only(project: Path, home: Path) -> None:
    write(project / "a.md", "project's")
    write(home / "b.md", "B")
    write(home / "MEWCODE.md", f"@include {project}/a.md\n@include b.md")
    assert load_instructions(project, home).text == f"{BLOCKED}\nB"


def test_project_reached_through_a_link_may_include_its_own_files(
    project: Path, home: Path, tmp_path: Path
) -> None:
    write(project / "MEWCODE.md", "@include a.md")
    write(project / "a.md", "A")
    (tmp_path / "alias").symlink_to(project)
    assert load_instructions(tmp_path / "alias", home).text == "A"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.md", "file not found"),
        ("MEWCODE.md/x", "file not found"),
        ("broken.md", "broken link"),
        ("circle.md", "file cannot be read"),
        ("docs", "a folder, not a file"),
        ('""', "a folder, not a file"),
        ("pipe", "not a regular file"),
        ("logo.png", "binary file"),
        ("large.md", "larger than 1,000 bytes"),
        ("n" * 300, "file cannot be read"),
    ],
)
def test_file_that_cannot_be_included_leaves_a_comment_and_a_notice(
    loaded, project: Path, name: str, reason: str
) -> None:
    (project / "docs").mkdir()
    os.mkfifo(project / "pipe")
    (project / "broken.md").symlink_to("nowhere.md")
    (project / "circle.md").symlink_to("circle.md")
    write(project / "logo.png", b"\x89PNG\r\n\x1a\n\0\0")
    write(project / "large.md", "x" * 1_001)
    result = loaded(f"a\n@include {name}\nb", settings=MewCode(include_max_bytes=1_000))
    assert result.text == f"a\n<!-- @include blocked: {reason} -->\nb"
    assert len(result.notices) == 1
    assert reason in result.notices[0]


def test_included_file_that_is_not_utf8_is_a_notice(loaded) -> None:
    result = loaded("@include a.md", a_md=b"caf\xe9")
    assert result.text == "caf\ufffd"
    assert result.notices == ["a.md is not UTF-8 throughout: parts are unreadable; save it as UTF-8"]


def test_notice_stays_one_line_whatever_the_path_holds(loaded) -> None:
    notice = loaded("@include a\x1b[31m\u2028b" + "c" * 5000).notices[0]
    assert notice.isprintable()
    assert len(notice) < 1000


# --- any text


@given(
    st.lists(
        st.sampled_from(
            [
                "@include a.md",
                "@include MEWCODE.md",
                "@include ../x",
                "```",
                "~~~~",
                "- ```",
                "<!--",
                "-->",
                "x",
                "",
            ]
        )
        | st.text(max_size=8)
    )
)
def test_any_text_loads_and_keeps_its_other_lines_in_order(tmp_path_factory, lines: list[str]) -> None:
    root = tmp_path_factory.mktemp("any")
    lines = [c for line in lines for c in line.replace("\0", "").replace("\r", "\n").split("\n")]
    write(root / "MEWCODE.md", "\n".join(["first", *lines, "last"]).encode("utf-8", errors="replace"))
    write(root / "a.md", "@include MEWCODE.md\nA")
    kept = iter(load_instructions(root, root / "home").text.split("\n"))
    for line in ["first", *lines, "last"]:
        assert line.startswith("@include ") or line in kept


def test_literal_lines_take_linear_time() -> None:
    lines = ["`" * 50_000 + "x`", "- " * 50_000, " " * 100_000, "1. " * 30_000 + "x"]
    assert list(_literal(lines)) == [False] * 4
