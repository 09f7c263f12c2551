import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from memory_files import AS_A_USER

from mewcode_magic.errors import CommandError, InvalidMemory, MemoryAmbiguous, MemoryNotFound, StorageError
from mewcode_magic.memory import Memory, MemoryStore


@pytest.fixture
def store(project: Path, home: Path) -> MemoryStore:
    return MemoryStore(project, home)


def test_remember_says_what_where_and_how_to_undo_it(run: Any, home: Path, store: MemoryStore) -> None:
    ran = run("%remember I prefer polars {over} pandas, ok?")
    assert ran.error is None
    first, second = ran.text.splitlines()
    path = home / "memory" / "i-prefer-polars-over-pandas.md"
    assert (
        first
        == f"Created: the user memory 'i-prefer-polars-over-pandas' in {path} (not in a git repository)."
    )
    assert second == "Change it there, or undo: %forget i-prefer-polars-over-pandas"
    assert run("%forget i-prefer-polars-over-pandas").error is None
    assert store.list() == []


def test_remember_says_whether_git_tracks_the_folder(run: Any, project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    assert "git tracks this folder, so it can be committed" in run("%remember the API is v2").text
    (project / ".gitignore").write_text(".mewcode/\n")
    assert "(git ignores it)" in run("%remember the API is v3").text


def test_remember_bears_a_git_that_cannot_tell(run: Any, project: Path) -> None:
    # The project's `.git` is an empty folder, which is no repository.
    assert f"(inside the git repository {project})" in run("%remember the API is v2").text


def test_remember_options_win_over_the_rules(run: Any, store: MemoryStore) -> None:
    line = "--type reference --name 'the wiki' --description \"where docs are\" --expires 30d"
    assert run(f"%%remember {line}\n- first\n- second\n").error is None
    memory = store.get("the wiki")
    assert memory is not None
    assert (memory.type, memory.description, memory.body) == (
        "reference",
        "where docs are",
        "- first\n- second",
    )
    assert memory.expires is not None
    assert memory.created is not None
    assert (memory.expires - memory.created).days in (29, 30)


def test_update_is_undone_as_the_line_says(run: Any, store: MemoryStore) -> None:
    run("%remember --name tz times are UTC")
    ran = run("%remember --name tz times are local")
    assert ran.text.startswith("Updated: the project memory 'tz' in ")
    assert ran.text.splitlines()[1] == "Change it there, or undo: %memory restore tz"
    restored = run("%memory restore tz")
    assert restored.text.startswith("Restored: the project memory 'tz' in ")
    memory = store.get("tz")
    assert memory is not None
    assert memory.body == "times are UTC"


@pytest.mark.parametrize("gone_by", ["%forget tz", "%remember --name tz times are local"])
def test_restore_is_undone_as_its_line_says(run: Any, store: MemoryStore, gone_by: str) -> None:
    run("%remember --name tz times are UTC")
    run(gone_by)
    before = [memory.body for memory in store.list()]
    restored = run("%memory restore tz").text
    assert [memory.body for memory in store.list()] == ["times are UTC"]
    assert run(restored.partition("Undo: ")[2]).error is None
    assert [memory.body for memory in store.list()] == before


def test_move_to_another_type_is_undone_as_the_line_says(run: Any, store: MemoryStore) -> None:
    run("%remember --name tz --type project times are UTC")
    ran = run("%remember --name tz --type user times are UTC")
    assert ran.text.startswith("Moved: the user memory 'tz' in ")
    first, _, second = ran.text.splitlines()[1].partition("undo: ")[2].partition(", then ")
    assert run(first).error is None
    assert run(second).error is None
    assert [(m.name, m.type) for m in store.list()] == [("tz", "project")]


def test_same_text_twice_is_said_to_be_there(run: Any, store: MemoryStore) -> None:
    run("%remember times are UTC")
    ran = run("%remember  Times are UTC ")
    first, second = ran.text.splitlines()
    assert first.startswith("Remembered already, in ")
    assert first.endswith("times-are-utc.md:")
    assert second == "the project memory 'times-are-utc' says this already, so nothing was written"
    assert len(store.list()) == 1


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        ("%remember", CommandError),
        ("%%remember\n \n", CommandError),
        ("%remember --kind user x", CommandError),
        ("%remember --type nonsense x", InvalidMemory),
        ("%remember --expires never x", InvalidMemory),
        ("%forget", CommandError),
        ("%forget nothing", MemoryNotFound),
        ("%forget ../../etc/passwd", MemoryNotFound),
        (f"%forget {'x' * 300}", MemoryNotFound),
        ("%memory show nothing", MemoryNotFound),
        ("%memory restore nothing", MemoryNotFound),
        ("%memory show", CommandError),
        ("%memory shwo x", CommandError),
        ("%memory check now", CommandError),
        ("%memory --type user", CommandError),
        ("%memory --fix", CommandError),
        ("%memory check --dry-run", CommandError),
        ("%memory import missing", StorageError),
    ],
)
def test_bad_line_is_one_clear_error_and_leaves_nothing(
    run: Any, home: Path, project: Path, cell: str, error: type
) -> None:
    ran = run(cell)
    assert isinstance(ran.error, error)
    assert ran.text.count("\n") == 1
    assert ran.text.startswith(f"{error.__name__}: ")
    assert not home.exists()
    assert not (project / ".mewcode").exists()


def test_name_in_both_places_needs_a_type(run: Any, store: MemoryStore, home: Path) -> None:
    run("%remember --name tz --type project times are UTC")
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "tz.md").write_text("---\nname: tz\ndescription: d\ntype: user\n---\n\nmine\n")
    assert isinstance(run("%forget tz").error, MemoryAmbiguous)
    assert isinstance(run("%memory show tz").error, MemoryAmbiguous)
    assert "mine" in run("%memory show --type user tz").text
    assert run("%forget tz --type user").error is None
    assert [m.type for m in store.list()] == ["project"]


def test_forget_takes_names_with_spaces_and_restores(run: Any, store: MemoryStore) -> None:
    run("%remember --name 'commit message 前缀' use feat: as prefix")
    ran = run("%forget commit message 前缀")
    assert ran.text == (
        "Deleted: the project memory 'commit message 前缀'. For 30 days, "
        "%memory restore commit-message-071596ac brings it back.\n"
    )
    assert store.list() == []
    assert run("%memory restore commit-message-071596ac").error is None
    assert [m.name for m in store.list()] == ["commit message 前缀"]


def test_purge_is_for_good(run: Any, home: Path) -> None:
    run("%remember --name mine I am Bo")
    assert run("%forget --purge mine").text == "Deleted for good: the user memory 'mine'.\n"
    assert isinstance(run("%memory restore mine").error, MemoryNotFound)
    assert not list((home / "memory").rglob("mine*"))


def test_list_shows_names_and_folders(run: Any, home: Path) -> None:
    assert "No memories yet" in run("%memory").text
    run("%remember I prefer polars")
    ran = run("%memory")
    assert "i-prefer-polars" in ran.text
    assert f"1 in {home / 'memory'} · 0 in .mewcode/memory" in ran.text


def test_show_prints_facts_and_text_without_control_characters(run: Any, home: Path) -> None:
    run("%remember --name mine --expires 2999-01-31 I am \x1b[31mBo")
    ran = run("%memory show mine")
    assert ran.text.splitlines()[0] == "mine (user)"
    assert f"File: {home / 'memory' / 'mine.md'} (not in a git repository)" in ran.text
    assert "Expires: 2999-01-31 23:59" in ran.text
    assert "\x1b" not in ran.text


def test_check_lists_what_is_wrong(run: Any, home: Path) -> None:
    assert run("%memory check").text == "All memories and their indexes are in order.\n"
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "a.md").write_bytes(b"\xff\xfe not utf8")
    assert "a.md (encoding): " in run("%memory check").text


def test_memory_reaches_the_next_question(run: Any) -> None:
    run("%remember I prefer polars over pandas")
    assert "polars over pandas" in run("%agent which do I prefer, polars?").text


def test_check_mends_with_fix_and_says_how_to_undo_it(run: Any, home: Path) -> None:
    folder = home / "memory"
    folder.mkdir(parents=True)
    (folder / "plain.md").write_text("Just a text about plots.")
    (folder / "strange.md").write_text("---\nname: strange\ntype: odd\n---\nAn odd one.")
    listed = run("%memory check").text.splitlines()
    assert [line.partition("(")[2].partition(")")[0] for line in listed[:-1]] == [
        "frontmatter", "frontmatter", "not indexed", "not indexed",
    ]  # fmt: skip
    assert listed[-1] == "%memory check --fix mends what can be mended with nothing lost."
    lines = run("%memory check --fix").text.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["Mended", "Mended", "Left to you"]
    assert "its type 'odd' is unknown" in lines[2]
    undo = lines[0].partition("undo: ")[2]
    assert run(undo).text.startswith("Restored: ")
    assert (folder / "plain.md").read_text() == "Just a text about plots."


def test_import_names_each_memory_with_its_undo(
    run: Any, home: Path, project: Path, store: MemoryStore
) -> None:
    (project / ".mewcode").mkdir()
    (project / ".mewcode" / "memories.md").write_text("### 项目知识\n- The API is v2.\n", encoding="utf-8")
    planned = run("%memory import --dry-run").text.splitlines()
    assert planned[0].startswith("Would import 1 memory: 1 into .mewcode/memory (")
    assert planned[-1] == "Nothing was written; without --dry-run it is."
    assert store.list() == []
    lines = run("%memory import").text.splitlines()
    assert lines[0].startswith("Imported 1 memory: 1 into .mewcode/memory (")
    assert lines[1] == "- the project memory 'api-is-v2': The API is v2; undo: %forget api-is-v2"
    assert lines[2].startswith("The older file is now .mewcode/memories.md.imported (")
    assert run(lines[1].partition("undo: ")[2]).error is None
    assert store.list() == []
    assert "Nothing to import" in run("%memory import").text


def test_import_takes_a_path_with_spaces_and_says_what_is_left_out(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "my notes"
    folder.mkdir()
    (folder / "tea.md").write_text("I like tea.")
    (folder / "bad.md").write_bytes(b"\xff\0")
    for path in (f'"{folder}"', folder):
        lines = run(f"%memory import {path}").text.splitlines()
        assert sum(line.startswith("- ") and "bad.md: it is not UTF-8" in line for line in lines) == 1
    assert lines[0] == "Imported 0 memories."
    assert lines[1] == "1 there already, left as they are: 'tea'"


def test_git_is_told_to_ignore_an_imported_file(run: Any, project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / ".mewcode").mkdir()
    (project / ".mewcode" / "memories.md").write_text("- The API is v2\n")
    assert ".mewcode/memories.md.imported (git ignores it)" in run("%memory import").text


def test_import_is_planned_into_a_folder_that_cannot_be_entered(project: Path, home: Path) -> None:
    folder = project / ".mewcode" / "memory"
    folder.mkdir(parents=True)
    (project / ".mewcode" / "memories.md").write_text("- The API is v2\n")
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'mewcode')\n"
        "shell.run_line_magic('memory', 'import --dry-run')\n"
    )
    folder.chmod(0)
    try:
        told = subprocess.run(
            [*AS_A_USER, sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout
    finally:
        folder.chmod(0o700)
    assert told.startswith("Would import 1 memory: 1 into .mewcode/memory (inside the git repository ")


def test_condense_shows_what_it_proposes_and_writes_only_that(run: Any, store: MemoryStore) -> None:
    body = "Tabs for indentation in all new files."
    store.save(Memory("tabs", "when writing code", "user", body))
    store.save(Memory("tabs-too", "when writing SQL", "user", f"{body}\n\x1b[31mAlso in SQL."))
    shown = run("%memory condense").text
    assert shown.splitlines() == [
        "Proposed of 2 memories (by rule, without a language model: texts that are nearly the same):",
        "1. the user memory 'tabs-too' and the user memory 'tabs' become the user memory 'tabs-too'",
        "   --- tabs-too: when writing SQL",
        f"   - {body}",
        "   - ␛[31mAlso in SQL.",
        "   --- tabs: when writing code",
        f"   - {body}",
        "   +++ tabs-too: when writing SQL",
        f"   + {body}",
        "   + ␛[31mAlso in SQL.",
        "Nothing is written yet. To write exactly this: %memory condense --write",
    ]
    assert len(store.list()) == 2
    (line,) = run("%memory condense --write").text.splitlines()
    assert line.startswith("Merged: 'tabs-too' and 'tabs' into the user memory 'tabs-too' in ")
    assert [m.name for m in store.list()] == ["tabs-too"]
    for command in line.partition("undo: ")[2].split(", then "):
        assert run(command).error is None
    assert sorted(m.name for m in store.list()) == ["tabs", "tabs-too"]
    assert isinstance(run("%memory condense --write").error, CommandError)


def test_condense_does_not_write_over_what_changed_since(run: Any, store: MemoryStore) -> None:
    body = "Tabs for indentation in all new files."
    store.save(Memory("tabs", "d", "user", body))
    store.save(Memory("tabs-too", "d", "user", f"{body}\nAlso in SQL."))
    run("%memory condense")
    run("%remember --name tabs --type user Spaces now")
    assert run("%memory condense --write").text.startswith("Not merged: 'tabs-too' and 'tabs': ")
    assert len(store.list()) == 2


def test_condense_undo_names_a_new_memory_too(run: Any, store: MemoryStore, server: ApiServer) -> None:
    store.save(Memory("tabs", "d", "user", "Tabs for indentation."))
    store.save(Memory("width", "d", "user", "Lines of 110."))
    proposal = {
        "sources": ["user/tabs", "user/width"],
        "name": "style",
        "description": "when writing code",
        "body": "Tabs for indentation.\nLines of 110.",
        "type": "feedback",
    }
    server.reply(json.dumps({"merges": [proposal, {**proposal, "body": "Style."}]}), to="condense")
    lines = run("%memory condense").text.splitlines()
    assert "claude" in lines[0]
    assert lines[-3] == "Left out, 1 proposal that would lose something:"
    line = run("%memory condense --write").text
    undo = line.partition("undo: ")[2].split(", then ")
    assert undo[0] == "%forget --type feedback style"
    assert [run(command).error for command in undo] == [None] * 3
    assert sorted(m.name for m in store.list()) == ["tabs", "width"]


def test_condense_with_nothing_alike_says_so(run: Any, store: MemoryStore) -> None:
    store.save(Memory("tabs", "d", "user", "Tabs for indentation."))
    store.save(Memory("width", "d", "user", "Lines of 110."))
    assert run("%memory condense").text.startswith("Of 2 memories (by rule")
