"""The API's memory tool: its documented answers, by the store's rules, on the store's files."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from credential_samples import ALNUM, made
from memory_calls import call, done, refused
from memory_files import index_lines, write

from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import ToolContext

CI = """---
name: ci
description: when a build fails
type: project
---

Builds run on every push.
They take ten minutes.
"""


def create(context: ToolContext, path: str, text: str = CI) -> str:
    return done(context, "create", path=path, file_text=text)


def body_of(context: ToolContext, path: str) -> str:
    """Return what a view shows below the frontmatter."""
    text = done(context, "view", path=path)
    return "\n".join(line.partition("\t")[2] for line in text.split("\n")[1:]).rpartition("---\n\n")[2]


def test_create_keeps_what_the_frontmatter_says(context: ToolContext, project: Path) -> None:
    told = create(context, "/memories/project/ci.md")
    assert told == "File created successfully at: /memories/project/ci.md"
    (memory,) = context.memory.list()
    assert (memory.name, memory.description, memory.type) == ("ci", "when a build fails", "project")
    assert memory.source == context.session_id
    assert memory.path == project / ".mewcode/memory/ci.md"
    assert index_lines(context.memory, "project") == ["- [ci](ci.md) - when a build fails"]


@pytest.mark.parametrize("place", ["user", "project"])
@pytest.mark.parametrize("stem", ["deploy_notes", "Deploy Notes", "部署", "notes.v2", "50%20off"])
def test_path_that_was_chosen_is_the_path_that_is_found_again(
    context: ToolContext, place: str, stem: str
) -> None:
    path = f"/memories/{place}/team/{stem}.md"
    told = create(context, path, "Deploys happen on Tuesdays. Never on Fridays.\n")
    assert told.startswith(
        f"File created successfully at: {path} (named {stem!r}, of type {place}, described"
    )
    assert "Deploys happen on Tuesdays." in told
    assert body_of(context, path) == "Deploys happen on Tuesdays. Never on Fridays."
    (memory,) = context.memory.list()
    assert (memory.name, memory.type, memory.description) == (stem, place, "Deploys happen on Tuesdays.")
    assert path in done(context, "view", path=f"/memories/{place}/team")


@pytest.mark.parametrize(
    ("path", "type_", "right"),
    [
        ("/memories/project/a.md", "feedback", "/memories/user"),
        ("/memories/user/a.md", "reference", "/memories/project"),
    ],
)
def test_type_of_the_other_place_is_refused_with_where_to_put_it(
    context: ToolContext, path: str, type_: str, right: str
) -> None:
    told = refused(context, "create", path=path, file_text=f"---\ntype: {type_}\n---\nText.")
    assert f"of type {type_} stands in {right}; put it there" in told
    assert context.memory.list() == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("---\ntype: secret\n---\nText.", "unknown"),
        ("---\ntype: project\nexpires: soon\n---\nText.", "'expires' is not ISO 8601"),
        ("---\nname: a\nText without an end.", "does not end"),
        ("---\nname: a: b: c\ntype: project\n---\nText.", "not valid YAML"),
        ("---\nname: a\ntype: project\n---\n", "no body"),
        ("", "no body"),
        ("Text.\n[rest unchanged]", "whole body"),
    ],
)
def test_text_that_would_not_be_read_as_it_is_meant_is_not_written(
    context: ToolContext, text: str, fault: str
) -> None:
    assert fault in refused(context, "create", path="/memories/project/a.md", file_text=text)
    assert context.memory.list() == []


@pytest.mark.parametrize("path", ["/memories/project/ci.md", "/memories/project", "/memories/project/team"])
def test_create_of_what_exists_is_refused(context: ToolContext, path: str) -> None:
    create(context, "/memories/project/ci.md")
    create(context, "/memories/project/team/lead.md", "Ask before a release.")
    told = refused(context, "create", path=path, file_text="Something else.")
    assert told == f"Error: File {path} already exists"
    assert "Builds run" in body_of(context, "/memories/project/ci.md")


def test_create_under_a_name_or_with_a_body_that_stands_already_is_refused(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    told = refused(context, "create", path="/memories/user/builds.md", file_text="---\nname: CI\n---\nOther.")
    assert "a project memory 'ci' already, in ci.md" in told
    text = "BUILDS run on every push. They take  ten minutes."
    told = refused(context, "create", path="/memories/user/builds.md", file_text=text)
    assert told.startswith(
        "Error: /memories/user/builds.md was not created: the project memory 'ci' says this"
    )
    assert [m.slug for m in context.memory.list()] == ["ci"]


def test_view_shows_lines_with_numbers_and_a_range_of_them(context: ToolContext, home: Path) -> None:
    write(home / "memory" / "tea.md", "one\r\ntwo\nthree\n")
    head = "Here's the content of /memories/user/tea.md with line numbers:"
    path = "/memories/user/tea.md"
    assert done(context, "view", path=path) == f"{head}\n     1\tone\n     2\ttwo\n     3\tthree"
    assert done(context, "view", path=path, view_range=[2, 2]) == f"{head}\n     2\ttwo"
    assert done(context, "view", path=path, view_range=[2, -1]) == f"{head}\n     2\ttwo\n     3\tthree"
    assert done(context, "view", path=path, view_range=[0, 99]) == done(context, "view", path=path)
    for bad in ([4, -1], [3, 2]):
        assert "[1, 3]" in refused(context, "view", path=path, view_range=bad)
    assert "view_range" in refused(context, "view", path=path, view_range=[1])


def test_view_of_a_large_file_says_how_many_lines_are_left(context: ToolContext, home: Path) -> None:
    write(home / "memory" / "long.md", "x" * 99 + "\n" + ("y" * 99 + "\n") * 999)
    text = done(context, "view", path="/memories/user/long.md")
    assert len(text) < 51_000
    shown = text.count("y" * 99) + 1
    assert f"({1000 - shown} more lines follow; read on with a later view_range)" in text
    rest = done(context, "view", path="/memories/user/long.md", view_range=[shown + 1, -1])
    assert f"\n{shown + 1:>6}\ty" in rest
    write(home / "memory" / "wide.md", "z" * 99_999)
    assert len(done(context, "view", path="/memories/user/wide.md")) < 51_000


def test_view_masks_a_credential_that_stands_in_a_file(context: ToolContext, home: Path) -> None:
    secret = "ghp_" + made(ALNUM, 36)
    write(home / "memory" / "a.md", f"---\nname: a\ntype: user\n---\nIt is {secret} here.\nMore.\n")
    text = done(context, "view", path="/memories/user/a.md")
    assert secret not in text
    assert "     6\tMore." in text
    edited = done(context, "str_replace", path="/memories/user/a.md", old_str="More.", new_str="Else.")
    assert secret not in edited
    assert secret in context.memory.list()[0].body


def test_lines_behind_a_key_of_many_lines_keep_their_numbers(context: ToolContext, home: Path) -> None:
    rows = "\n".join(made(ALNUM, 64) for _ in range(6))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{rows}\n-----END RSA PRIVATE KEY-----"
    file = write(home / "memory" / "a.md", f"---\nname: a\ntype: user\n---\n{key}\nafter\nlast\n")
    path = "/memories/user/a.md"
    text = done(context, "view", path=path)
    assert rows not in text
    assert f"{13:>6}\tafter" in text
    done(context, "insert", path=path, insert_line=13, insert_text="between")
    assert file.read_text().endswith(f"{key}\nafter\nbetween\nlast\n")


def test_credential_is_written_by_no_command(context: ToolContext) -> None:
    secret = "ghp_" + made(ALNUM, 36)
    create(context, "/memories/project/ci.md")
    assert "credential" in refused(context, "create", path="/memories/user/a.md", file_text=f"Is {secret}.")
    path = "/memories/project/ci.md"
    told = refused(context, "str_replace", path=path, old_str="ten minutes", new_str=secret)
    assert "credential" in told
    last = len(done(context, "view", path=path).split("\n")) - 1
    told = refused(context, "insert", path=path, insert_line=last, insert_text=secret)
    assert "credential" in told
    named = "---\nname: n\ndescription: d\n---\n\nText."
    assert "credential" in refused(context, "create", path=f"/memories/user/{secret}.md", file_text=named)
    for new in (f"/memories/project/{secret}.md", f"/memories/project/{secret}/ci.md"):
        assert "credential" in refused(context, "rename", old_path=path, new_path=new)
    assert [secret in f"{m.slug} {m.body}" for m in context.memory.list()] == [False]


def test_str_replace_edits_the_file_and_shows_the_change(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    told = done(
        context,
        "str_replace",
        path="/memories/project/ci.md",
        old_str="ten minutes",
        new_str="an hour\nor two",
    )
    head, *snippet = told.split("\n")
    assert head == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    )
    view = done(context, "view", path="/memories/project/ci.md").split("\n")
    assert snippet == view[-len(snippet) :]
    assert [line.partition("\t")[2] for line in snippet] == [
        "",
        "Builds run on every push.",
        "They take an hour",
        "or two.",
    ]


def test_str_replace_of_the_description_brings_the_index_in_step(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    change = {"old_str": "when a build fails", "new_str": "when builds are slow"}
    done(context, "str_replace", path="/memories/project/ci.md", **change)
    assert index_lines(context.memory, "project") == ["- [ci](ci.md) - when builds are slow"]


def test_edit_of_the_name_keeps_the_path(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    done(context, "str_replace", path="/memories/project/ci.md", old_str="name: ci", new_str="name: builds")
    assert [(m.name, m.slug) for m in context.memory.list()] == [("builds", "ci")]


@pytest.mark.parametrize("old", ["no such text", ""])
def test_str_replace_of_what_is_not_there_is_refused(context: ToolContext, old: str) -> None:
    create(context, "/memories/project/ci.md")
    told = refused(context, "str_replace", path="/memories/project/ci.md", old_str=old, new_str="x")
    assert told == (
        f"No replacement was performed, old_str `{old}` did not appear verbatim in /memories/project/ci.md."
    )


def test_str_replace_of_what_is_there_twice_names_the_lines(context: ToolContext, home: Path) -> None:
    write(home / "memory" / "a.md", "ab\nx\nab ab\n")
    told = refused(context, "str_replace", path="/memories/user/a.md", old_str="ab", new_str="x")
    assert told == (
        "No replacement was performed. Multiple occurrences of old_str `ab` in lines: 1, 3. "
        "Please ensure it is unique"
    )


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("type: project", "type: user", "stands in /memories/user; put it there"),
        ("type: project", "type: secret", "unknown"),
        ("type: project\n", "", "it has no type"),
        ("---\nname: ci", "name: ci", "no frontmatter"),
        ("Builds run on every push.\nThey take ten minutes.", "", "no body"),
        ("They take ten minutes.", "[rest unchanged]", "whole body"),
    ],
)
def test_edit_that_would_damage_the_memory_is_refused(
    context: ToolContext, old: str, new: str, fault: str
) -> None:
    create(context, "/memories/project/ci.md")
    before = context.memory.list()
    text = context.memory.text(before[0])
    path = "/memories/project/ci.md"
    assert fault in refused(context, "str_replace", path=path, old_str=old, new_str=new)
    assert context.memory.text(context.memory.list()[0]) == text


def test_insert_puts_lines_behind_the_line_that_is_named(context: ToolContext, home: Path) -> None:
    write(home / "memory" / "list.md", "one\ntwo\n")
    path = "/memories/user/list.md"
    done(context, "insert", path=path, insert_line=0, insert_text="zero\n")
    assert body_of(context, path) == "zero\none\ntwo"
    lines = done(context, "view", path=path).split("\n")[1:]
    assert done(context, "insert", path=path, insert_line=len(lines), insert_text="three\n") == (
        f"The file {path} has been edited."
    )
    done(context, "insert", path=path, insert_line=len(lines) - 2, insert_text="half")
    assert body_of(context, path) == "zero\nhalf\none\ntwo\nthree"


def test_insert_beyond_the_file_or_into_the_frontmatter_is_refused(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    path = "/memories/project/ci.md"
    count = len(done(context, "view", path=path).split("\n")) - 1
    for line in (-1, count + 1):
        told = refused(context, "insert", path=path, insert_line=line, insert_text="x")
        assert told == (
            f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the "
            f"file: [0, {count}]"
        )
    assert "no frontmatter" in refused(context, "insert", path=path, insert_line=0, insert_text="x")


def test_delete_moves_the_file_to_the_trash(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    told = done(context, "delete", path="/memories/project/ci.md")
    assert told == "Successfully deleted /memories/project/ci.md"
    assert index_lines(context.memory, "project") == []
    assert context.memory.restore("ci").body.startswith("Builds run")


def test_delete_of_a_directory_moves_each_of_its_files_to_the_trash(context: ToolContext) -> None:
    create(context, "/memories/project/old/ci.md")
    create(context, "/memories/project/old/deeper/b.md", "Body of it.")
    create(context, "/memories/project/older.md", "Stays.")
    assert done(context, "delete", path="/memories/project/old/") == (
        "Successfully deleted /memories/project/old"
    )
    assert [m.slug for m in context.memory.list()] == ["older"]
    assert not (context.memory.folder("project") / "old").exists()
    context.memory.restore("b")
    assert body_of(context, "/memories/project/old/deeper/b.md") == "Body of it."


def test_overwritten_version_can_be_restored(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    path = "/memories/project/ci.md"
    done(context, "str_replace", path=path, old_str="ten minutes", new_str="an hour")
    context.memory.restore("ci")
    assert "ten minutes" in body_of(context, path)


def test_rename_moves_the_memory_and_its_name_follows(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    old, new = "/memories/project/ci.md", "/memories/project/team/builds.md"
    assert done(context, "rename", old_path=old, new_path=new) == f"Successfully renamed {old} to {new}"
    (memory,) = context.memory.list()
    assert (memory.name, memory.slug) == ("builds", "team/builds")
    assert index_lines(context.memory, "project") == ["- [builds](team/builds.md) - when a build fails"]
    assert "does not exist" in refused(context, "view", path=old)


def test_rename_leaves_a_name_that_did_not_follow_from_the_path(context: ToolContext) -> None:
    create(context, "/memories/project/x.md")
    done(context, "rename", old_path="/memories/project/x.md", new_path="/memories/project/y.md")
    assert [(m.name, m.slug) for m in context.memory.list()] == [("ci", "y")]


def test_rename_to_the_other_place_changes_the_type_and_says_so(context: ToolContext, home: Path) -> None:
    create(context, "/memories/project/ci.md")
    told = done(context, "rename", old_path="/memories/project/ci.md", new_path="/memories/user/ci.md")
    assert (
        told == "Successfully renamed /memories/project/ci.md to /memories/user/ci.md; the type is user now"
    )
    assert [(m.type, m.path) for m in context.memory.list()] == [("user", home / "memory/ci.md")]
    assert index_lines(context.memory, "project") == []


def test_rename_of_a_directory_moves_all_of_its_files(context: ToolContext) -> None:
    create(context, "/memories/project/old/ci.md")
    create(context, "/memories/project/old/deeper/b.md", "Body of it.")
    done(context, "rename", old_path="/memories/project/old", new_path="/memories/project/new")
    assert sorted(m.slug for m in context.memory.list()) == ["new/ci", "new/deeper/b"]


def test_rename_onto_what_exists_is_refused(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    create(context, "/memories/project/team/b.md", "Body of it.")
    for new in ("/memories/project/team/b.md", "/memories/project/team", "/memories/user"):
        told = refused(context, "rename", old_path="/memories/project/ci.md", new_path=new)
        assert told == f"Error: The destination {new} already exists"
    assert sorted(m.slug for m in context.memory.list()) == ["ci", "team/b"]


@pytest.mark.parametrize("path", ["/memories", "/memories/", "/memories/user", "//memories//./project/"])
def test_directories_that_are_always_there_are_neither_deleted_nor_renamed(
    context: ToolContext, path: str
) -> None:
    create(context, "/memories/project/ci.md")
    assert "Cannot delete" in refused(context, "delete", path=path)
    assert "Cannot rename" in refused(context, "rename", old_path=path, new_path="/memories/project/x.md")
    assert [m.slug for m in context.memory.list()] == ["ci"]


def test_what_does_not_exist_is_an_error_in_the_documented_words(context: ToolContext) -> None:
    path = "/memories/user/none.md"
    missing = f"The path {path} does not exist"
    told = refused(context, "str_replace", path=path, old_str="a", new_str="b")
    assert told == f"Error: {missing}. Please provide a valid path."
    assert refused(context, "view", path=path) == f"{missing}. Please provide a valid path."
    assert refused(context, "insert", path=path, insert_line=0, insert_text="x") == f"Error: {missing}"
    assert refused(context, "delete", path=path) == f"Error: {missing}"
    assert refused(context, "rename", old_path=path, new_path="/memories/user/b.md") == f"Error: {missing}"


@pytest.mark.parametrize("command", ["str_replace", "insert"])
def test_edit_of_a_directory_is_an_error(context: ToolContext, command: str) -> None:
    more: dict[str, Any] = {"old_str": "a", "new_str": "b"}
    if command == "insert":
        more = {"insert_line": 0, "insert_text": "x"}
    assert "does not exist" in refused(context, command, path="/memories/user", **more)


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "forget", "path": "/memories"},
        {"command": "create", "path": "/memories/user/a.md"},
        {"command": "view", "path": 7},
        {"path": "/memories"},
    ],
)
def test_call_that_does_not_fit_is_an_error_result(context: ToolContext, arguments: dict[str, Any]) -> None:
    command = arguments.pop("command", None)
    result = call(context, command, **arguments)
    assert result.is_error
    assert "do not fit" in result.text


def test_change_by_another_process_between_reading_and_writing_is_not_overwritten(
    context: ToolContext, project: Path, home: Path
) -> None:
    class ReadEarlier(MemoryStore):
        """A store over whose folder somebody else writes as soon as a text was read."""

        def text(self, memory):  # type: ignore[no-untyped-def]
            text = super().text(memory)
            other = MemoryStore(project, home)
            (theirs,) = other.list()
            path = theirs.path
            assert path is not None
            write(path, path.read_text().replace("ten minutes", "two days"))
            os.utime(path, ns=(1, 1))
            return text

    create(context, "/memories/project/ci.md")
    raced = replace(context, memory=ReadEarlier(project, home))
    change = {"path": "/memories/project/ci.md", "old_str": "every push", "new_str": "each tag"}
    assert "changed on disk since it was read" in refused(raced, "str_replace", **change)
    assert "They take two days." in body_of(context, "/memories/project/ci.md")


def test_read_only_lets_memories_be_viewed_and_none_be_changed(context: ToolContext) -> None:
    create(context, "/memories/project/ci.md")
    context.settings.permission_mode = "read-only"
    assert "They take ten minutes." in done(context, "view", path="/memories/project/ci.md")
    assert "read-only" in refused(context, "delete", path="/memories/project/ci.md")
    assert [memory.name for memory in context.memory.list()] == ["ci"]


def test_delete_means_the_file_of_the_path_also_where_the_other_place_has_its_name(
    context: ToolContext,
) -> None:
    create(context, "/memories/project/ci.md")
    text = CI.replace("project", "user").replace("every push", "Mondays")
    write(context.memory.folder("user") / "ci.md", text)
    done(context, "delete", path="/memories/user/ci.md")
    assert [memory.place for memory in context.memory.list()] == ["project"]


def test_error_on_the_first_file_of_a_directory_is_told_as_that_of_one_file(context: ToolContext) -> None:
    create(context, "/memories/project/team/ci.md")
    create(context, "/memories/project/team/cd.md", CI.replace("ci", "cd").replace("push", "tag"))
    (context.memory.folder("project") / ".trash").write_text("")
    told = refused(context, "delete", path="/memories/project/team")
    assert "a file stands where a folder should be" in told
    assert "files are done" not in told
    assert len(context.memory.list()) == 2
