"""Rules of a project: which hold for all of it, and for which files the others."""

from pathlib import Path

import pytest
from instruction_files import write

from mewcode_magic.config import MewCode
from mewcode_magic.instructions import Instructions, load_instructions


@pytest.fixture
def ruled(project: Path, home: Path):
    """Write one rule and load."""

    def load(text: str | bytes) -> Instructions:
        write(project / ".mewcode" / "rules" / "a.md", text)
        return load_instructions(project, home)

    return load


@pytest.mark.parametrize(
    "text",
    [
        "Be brief.",
        "---\nowner: me\n---\nBe brief.",
        "---\npaths:\n---\n\nBe brief.\n",
        "---\r\npaths: []\r\n---\r\nBe brief.",
        "---\n\na: 1\n---\n\n\nBe brief.",
        "---\n---\nBe brief.",
        b"\xef\xbb\xbf---\nowner: me\n---\nBe brief.",
    ],
)
def test_rule_without_paths_holds_from_the_start_without_its_frontmatter(ruled, text: str | bytes) -> None:
    found = ruled(text)
    assert (found.text, found.notices, found.rules) == ("Be brief.", [], ())


def test_rule_that_only_begins_like_one_with_frontmatter_is_taken_whole(ruled) -> None:
    assert ruled("---- a dash too many\nBe brief.").text == "---- a dash too many\nBe brief."


@pytest.mark.parametrize(
    ("paths", "matching", "others"),
    [
        ('["*.sql"]', ["a.sql", "deep/er/b.sql"], ["a.sqlx", "sql/a.py"]),
        ('["src/**/*.{py,pyi}", "*.toml"]', ["src/a.py", "src/b/c.pyi", "x/a.toml"], ["a.py", "src/a.txt"]),
        ('"src/*.{ts,tsx}, docs/"', ["src/a.tsx", "docs/x/y.md", "docs/"], ["src/b/a.ts", "docs"]),
        ("\n  - ./data/*\n  - '!data/*.md'", ["data/a.csv"], ["data/a.md", "other/data/a.csv"]),
        ('"/top.py"', ["top.py"], ["sub/top.py"]),
    ],
)
def test_rule_with_paths_waits_for_files_that_match(
    ruled, paths: str, matching: list[str], others: list[str]
) -> None:
    found = ruled(f"---\npaths: {paths}\n---\nBe brief.")
    assert (found.text, found.files, found.notices) == ("", [], [])
    (rule,) = found.rules
    assert [path for path in matching if not rule.matches(path)] == []
    assert [path for path in others if rule.matches(path)] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\npaths: *.py\n---\nx", "its frontmatter is not valid YAML; patterns stand in quotes"),
        ("---\npaths: [unclosed\n---\nx", "its frontmatter is not valid YAML"),
        ("---\n" + "[" * 5_000 + "\n---\nx", "its frontmatter is not valid YAML"),
        ("---\npaths: !!python/object/apply:os.getcwd []\n---\nx", "its frontmatter is not valid YAML"),
        ("---\njust text\n---\nx", "its frontmatter has no keys"),
        ("---\npaths: 7\n---\nx", "its paths are no list of patterns"),
        ("---\npaths: [1, 2]\n---\nx", "its paths are no list of patterns"),
        ("---\npaths: {a: b}\n---\nx", "its paths are no list of patterns"),
        ("---\npaths: &a [*a]\n---\nx", "its paths are no list of patterns"),
        ('---\npaths: ["../*.py"]\n---\nx', "its paths lead out of the project"),
        ('---\npaths: ["ok.py", "src/../../x"]\n---\nx', "its paths lead out of the project"),
        ('---\npaths: ["!"]\n---\nx', "its paths are no patterns as in .gitignore"),
        (f'---\npaths: "{"{a,b}" * 10}"\n---\nx', "its paths are no patterns as in .gitignore"),
        ("---\npaths: x\nno end", "its frontmatter does not end"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary file"),
    ],
)
def test_rule_of_which_it_cannot_be_told_what_it_is_for_is_left_out(
    ruled, text: str | bytes, reason: str
) -> None:
    found = ruled(text)
    assert (found.text, found.rules) == ("", ())
    assert len(found.notices) == 1
    assert found.notices[0].startswith(f".mewcode/rules/a.md was left out: {reason}")


def test_rule_that_is_not_utf8_is_read_with_a_notice(ruled) -> None:
    found = ruled(b"caf\xe9 rules")
    assert found.text == "caf\ufffd rules"
    assert "is not UTF-8 throughout" in found.notices[0]


def test_rule_includes_relative_to_its_folder_and_counts_lines_of_its_file(ruled, project: Path) -> None:
    write(project / ".mewcode" / "rules" / "more.txt", "more")
    write(project / "docs" / "a.md", "docs")
    found = ruled("---\na: 1\n---\n@include more.txt\n@include ../../docs/a.md\n@include ../../../out.md")
    assert found.text == "more\ndocs\n<!-- @include blocked: path outside project -->"
    assert found.notices[0].startswith(".mewcode/rules/a.md, line 6: @include ../../../out.md was left out")


def test_rule_that_another_rule_includes_is_told_once(project: Path, home: Path) -> None:
    rules = project / ".mewcode" / "rules"
    write(rules / "a.md", '---\npaths: ["*.py"]\n---\nscoped')
    write(rules / "b.md", "@include a.md")
    assert "scoped" in load_instructions(project, home).text


def test_only_markdown_files_of_the_folder_itself_are_rules(project: Path, home: Path) -> None:
    rules = project / ".mewcode" / "rules"
    write(rules / "a.md", "a")
    write(rules / ".hidden.md", "no")
    write(rules / "notes.txt", "no")
    write(rules / "deeper" / "b.md", "no")
    found = load_instructions(project, home)
    assert (found.text, found.notices) == ("a", [])


def test_folder_of_rules_that_links_out_of_the_project_is_one_notice(
    project: Path, home: Path, tmp_path: Path
) -> None:
    for number in range(3):
        write(tmp_path / "theirs" / f"{number}.md", "hush")
    (project / ".mewcode").mkdir()
    (project / ".mewcode" / "rules").symlink_to(tmp_path / "theirs")
    found = load_instructions(project, home)
    assert found.text == ""
    assert len(found.notices) == 1
    assert found.notices[0].startswith(".mewcode/rules was left out: path outside project")


def test_thousand_rules_are_read_and_thousand_faults_are_a_few_notices(project: Path, home: Path) -> None:
    rules = project / ".mewcode" / "rules"
    for number in range(1_000):
        header = '---\npaths: ["*.py"]\n---\n' if number % 2 else ""
        write(rules / f"{number:04}.md", f"{header}rule {number}")
    found = load_instructions(project, home)
    assert (len(found.files), len(found.rules), found.notices) == (500, 500, [])
    least = load_instructions(project, home, settings=MewCode(instructions_max_bytes=60))
    assert least.files == [rules / f"{number:04}.md" for number in range(0, 18, 2)]
    assert len(least.notices) == 51
    assert least.notices[-1] == "441 more instruction files were left out or need a look"
