"""Paths of the memory tool: what is listed, and that nothing outside is reached by any spelling."""

from pathlib import Path

import pytest
from memory_calls import done, refused
from memory_files import write

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import Permissions, ToolContext

HEAD = "Here're the files and directories up to 2 levels deep in {}, excluding hidden items and node_modules:"


def test_empty_memory_lists_its_two_directories(context: ToolContext, home: Path) -> None:
    lines = ["0B\t/memories", "0B\t/memories/project/", "0B\t/memories/user/"]
    assert done(context, "view", path="/memories") == "\n".join([HEAD.format("/memories"), *lines])
    assert done(context, "view", path="/memories/user") == "\n".join(
        [HEAD.format("/memories/user"), "0B\t/memories/user"]
    )
    assert not home.exists()


def test_listing_is_two_levels_deep_with_sizes(context: ToolContext, project: Path, home: Path) -> None:
    folder = project / ".mewcode/memory"
    write(folder / "a.md", "x" * 1_536)
    write(folder / "team/b.md", "x" * 512)
    write(folder / "team/deeper/c.md", "x" * 1_024)
    write(home / "memory/d.md", "x" * 2_500)
    assert done(context, "view", path="/memories/").split("\n") == [
        HEAD.format("/memories"),
        "5.4K\t/memories",
        "3K\t/memories/project/",
        "1.5K\t/memories/project/a.md",
        "1.5K\t/memories/project/team/",
        "2.4K\t/memories/user/",
        "2.4K\t/memories/user/d.md",
    ]
    assert done(context, "view", path="/memories/project/team").split("\n")[1:] == [
        "1.5K\t/memories/project/team",
        "512B\t/memories/project/team/b.md",
        "1K\t/memories/project/team/deeper/",
        "1K\t/memories/project/team/deeper/c.md",
    ]


def test_hidden_other_and_derived_files_are_not_there(
    context: ToolContext, home: Path, tmp_path: Path
) -> None:
    folder = home / "memory"
    write(folder / "a.md", "Seen.")
    write(folder / "notes.txt", "other")
    write(folder / ".hidden.md", "hidden")
    write(folder / ".trash/20260101T000000.000000Z-abcd/b.md", "deleted")
    write(folder / "MEMORY.md", "- [a](a.md) - Seen.\n")
    (folder / "out.md").symlink_to(write(tmp_path / "outside.md", "secret"))
    (folder / "way").symlink_to(write(tmp_path / "elsewhere/c.md", "secret").parent)
    assert done(context, "view", path="/memories/user").split("\n")[1:] == [
        "5B\t/memories/user",
        "5B\t/memories/user/a.md",
    ]
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    trashed = ".trash/20260101T000000.000000Z-abcd/b.md"
    for name in ("notes.txt", ".hidden.md", trashed, ".trash", "MEMORY.md", "out.md", "way/c.md", "way"):
        path = f"/memories/user/{name}"
        assert "does not exist" in refused(context, "view", path=path)
        assert "does not exist" in refused(context, "str_replace", path=path, old_str="e", new_str="x")
        assert "does not exist" in refused(context, "insert", path=path, insert_line=0, insert_text="x")
        assert "does not exist" in refused(context, "delete", path=path)
        assert "does not exist" in refused(context, "rename", old_path=path, new_path="/memories/user/z.md")
        refused(context, "create", path=path, file_text="New.")
        refused(context, "rename", old_path="/memories/user/a.md", new_path=path)
    after = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and p.name != ".lock"}
    assert {p: b for p, b in before.items() if p.name != "MEMORY.md"} == {
        p: b for p, b in after.items() if p.name != "MEMORY.md"
    }


OUTSIDE = [
    "",
    "/",
    "memories/user/a.md",
    "/memoriesX/user/a.md",
    "/etc/passwd",
    "/memories/../etc/passwd.md",
    "/memories/user/../../../secret.md",
    "/memories/user/../project/a.md",
    "/memories/user/..",
    "/memories/user/%2e%2e/secret.md",
    "/memories/user/%2e%2e%2fsecret.md",
    "/memories/user/..%2fsecret.md",
    "/memories/user/%252e%252e%252fsecret.md",
    "/memories/user/%25252e%25252e/secret.md",
    "/memories/user/a%2fb.md",
    "/memories/user/a%00.md",
    "/memories/user/a\0.md",
    "/memories/user/..\\secret.md",
    "/memories\\user\\a.md",
    "/memories/user/%5c..%5csecret.md",
    "C:\\secret.md",
    "~/secret.md",
    "file:///memories/user/a.md",
]
NO_MEMORY = [
    "/memories/a.md",
    "/memories/other/a.md",
    "/memories/user/a.txt",
    "/memories/user/a",
    "/memories/user/.md",
    "/memories/user/.hidden.md",
    "/memories/user/.trash/a.md",
    "/memories/user/.trash/../a.md",
    "/memories/user/MEMORY.md",
    "/memories/user/memory.md",
    "/memories/user/con.md",
    "/memories/user/a\nb.md",
    "/memories/user/a\ud800.md",
    "/memories/user/a:b.md",
    "/memories/user/ a.md",
    f"/memories/user/{'x' * 300}.md",
    f"/memories/user/{'记' * 90}.md",
    "/memories/user/" + "d/" * 600 + "a.md",
]


@pytest.mark.parametrize("path", OUTSIDE + NO_MEMORY)
def test_no_spelling_of_a_path_reaches_outside_or_leaves_anything(
    context: ToolContext, tmp_path: Path, path: str
) -> None:
    write(tmp_path / "secret.md", "secret")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    for told in (
        refused(context, "view", path=path),
        refused(context, "create", path=path, file_text="New."),
        refused(context, "str_replace", path=path, old_str="secret", new_str="x"),
        refused(context, "insert", path=path, insert_line=0, insert_text="x"),
        refused(context, "delete", path=path),
        refused(context, "rename", old_path=path, new_path="/memories/user/b.md"),
    ):
        assert path not in OUTSIDE or "must start with /memories" in told or "would escape" in told
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("path", OUTSIDE + NO_MEMORY)
def test_nothing_is_renamed_to_such_a_path(context: ToolContext, home: Path, path: str) -> None:
    file = write(home / "memory/a.md", "Text.")
    refused(context, "rename", old_path="/memories/user/a.md", new_path=path)
    assert [p.name for p in home.rglob("*") if p.is_file() and p.name != ".lock"] == ["a.md"]
    assert file.read_text() == "Text."


@pytest.mark.parametrize(
    "path", ["/memories/user//tea.md", "/memories/./user/tea.md", "//memories/user/tea.md/"]
)
def test_spellings_of_one_path_mean_one_file(context: ToolContext, home: Path, path: str) -> None:
    write(home / "memory/tea.md", "Green.")
    assert "     1\tGreen." in done(context, "view", path=path)


def test_accents_composed_or_not_are_one_name(context: ToolContext, home: Path) -> None:
    write(home / "memory/cafe\u0301.md", "Coffee.")
    assert "Coffee." in done(context, "view", path="/memories/user/caf\u00e9.md")


def test_link_that_leads_out_is_not_written_through(context: ToolContext, home: Path, tmp_path: Path) -> None:
    (home / "memory").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (home / "memory/way").symlink_to(tmp_path / "outside")
    told = refused(context, "create", path="/memories/user/way/a.md", file_text="Text.")
    assert "is a link" in told
    assert list((tmp_path / "outside").iterdir()) == []


def test_one_folder_that_serves_as_both_places_is_divided_by_type(tmp_path: Path) -> None:
    home = tmp_path / "base/.mewcode"
    settings, project = MewCode(), tmp_path / "base"
    context = ToolContext("s", project, MemoryStore(project, home), settings, Permissions(settings))
    done(context, "create", path="/memories/user/a.md", file_text="About the person.")
    done(context, "create", path="/memories/project/b.md", file_text="About the project.")
    assert "/memories/user/a.md" in done(context, "view", path="/memories/user")
    assert "a.md" not in done(context, "view", path="/memories/project")
    done(context, "rename", old_path="/memories/project/b.md", new_path="/memories/user/b.md")
    assert {m.slug: m.type for m in context.memory.list()} == {"a": "user", "b": "user"}
