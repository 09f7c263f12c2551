import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from memory_files import FISCAL, POLARS, index_lines, names, write

from mewcode_magic.config import MewCode
from mewcode_magic.errors import InvalidMemory, MemoryAmbiguous, MemoryChanged
from mewcode_magic.memory import Memory, MemoryStore


def test_a_saved_memory_is_read_back(store: MemoryStore, project: Path, home: Path) -> None:
    memory = replace(POLARS, source="20261129-100000-ab12", extra={"tags": ["x"]})
    saved = store.save(memory)
    read = MemoryStore(project, home).get("prefers-polars")
    assert read == saved.memory
    assert replace(read, created=None, updated=None) == memory
    assert read.age(datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("memory", "text"),
    [
        (replace(POLARS, name=" "), "no name"),
        (replace(POLARS, description="\n", body=""), "no description and no body"),
        (replace(POLARS, type="note"), "'note'"),
        (replace(POLARS, body="x" * 2_000_000), "1 MiB"),
        (replace(POLARS, body="First.\n[rest unchanged]"), "whole body"),
        (replace(POLARS, body="... (the rest of the file stays the same) ..."), "whole body"),
        (replace(POLARS, body="…其余不变"), "whole body"),
    ],
)
def test_what_must_not_be_written_is_refused(
    store: MemoryStore, memory: Memory, text: str, home: Path
) -> None:
    with pytest.raises(InvalidMemory, match=text):
        store.save(memory)
    assert not home.exists()


@pytest.mark.parametrize("body", ["# Rest\nGET only", "The rest is unchanged in spirit.", "unchanged"])
def test_words_like_a_placeholder_are_written(store: MemoryStore, body: str) -> None:
    assert store.save(replace(POLARS, body=body)).memory.body == body


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/passwd", "a\0b", "x" * 300, "🎉", "🎊", "memory", "MEMORY", "nul", ".hidden", "a.md"],
)
def test_any_name_is_a_file_in_the_folder(store: MemoryStore, name: str) -> None:
    saved = store.save(replace(POLARS, name=name))
    assert saved.path.parent == store.folder("user")
    assert store.get(name) == saved.memory
    assert store.get(saved.memory.slug) == saved.memory


def test_names_without_letters_do_not_share_a_file(store: MemoryStore) -> None:
    for n, name in enumerate(["🎉", "🎊", "提交", "信息", "/", "//"]):
        store.save(replace(POLARS, name=name, body=f"body {n}"))
    assert len(store.list()) == 6


def test_the_same_name_updates_and_keeps_other_keys(store: MemoryStore, home: Path) -> None:
    path = write(
        home / "memory/prefers-polars.md",
        "---\nname: prefers-polars\ntags: [x]\ncreated: 2026-01-01\n---\nOld.",
    )
    saved = store.save(POLARS)
    assert (saved.action, saved.path) == ("updated", path)
    assert saved.memory.extra == {"tags": ["x"]}
    assert saved.memory.created == datetime(2026, 1, 1).astimezone()
    assert saved.memory.updated is not None
    assert saved.memory.body == "No pandas."


def test_an_update_keeps_origin_and_birth_and_changes_the_keys_that_it_gives(store: MemoryStore) -> None:
    first = store.save(replace(POLARS, source="20261129-100000-ab12", extra={"tags": ["x"], "owner": "me"}))
    later = datetime.now(UTC) + timedelta(days=1)
    saved = store.save(replace(POLARS, body="New.", created=later, extra={"tags": ["y"]})).memory
    assert saved.source == "20261129-100000-ab12"
    assert saved.created == first.memory.created
    assert saved.extra == {"tags": ["y"], "owner": "me"}


def test_what_says_no_time_was_made_when_its_file_last_changed(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory/prefers-polars.md", "Old.")
    os.utime(path, (1_577_836_800, 1_577_836_800))
    assert store.save(POLARS).memory.created == datetime(2020, 1, 1, tzinfo=UTC)


def test_an_update_stays_in_the_file_that_has_the_name(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory/team/notes on polars.md", "---\nname: prefers-polars\n---\nOld.")
    assert store.save(POLARS).path == path
    assert names(store) == ["prefers-polars"]
    assert index_lines(store, "user")[0].startswith("- [prefers-polars](team/notes%20on%20polars.md) - ")


def test_a_file_of_another_name_is_not_overwritten(store: MemoryStore, home: Path) -> None:
    path = write(home / "memory/prefers-polars.md", "---\nname: something else\n---\nOther.")
    saved = store.save(POLARS)
    assert saved.path.name == "prefers-polars-2.md"
    assert path.read_text("utf-8").endswith("Other.")
    assert store.get("prefers-polars") == saved.memory


def test_a_save_without_expiry_ends_an_earlier_one(store: MemoryStore) -> None:
    store.save(replace(POLARS, expires=datetime.now(UTC) + timedelta(days=1)))
    assert store.save(POLARS).memory.expires is None


def test_saving_the_same_again_writes_nothing(store: MemoryStore) -> None:
    first = store.save(POLARS)
    before = first.path.stat().st_mtime_ns
    again = store.save(POLARS)
    assert (again.action, again.memory) == ("unchanged", first.memory)
    assert first.path.stat().st_mtime_ns == before
    assert store.deleted() == []


def test_a_changed_letter_of_the_same_memory_is_written(store: MemoryStore) -> None:
    store.save(POLARS)
    assert store.save(replace(POLARS, body="no pandas.")).memory.body == "no pandas."
    assert store.save(replace(POLARS, body="no pandas.", description="other")).action == "updated"


def test_a_body_that_stands_under_another_name_is_not_written_twice(store: MemoryStore) -> None:
    first = store.save(POLARS)
    again = store.save(Memory("no-pandas", "d", "project", "no \n PANDAS."))
    assert (again.action, again.memory, again.path) == ("unchanged", first.memory, first.path)
    assert "'prefers-polars' says this already" in again.notes[0]
    assert "to make it a project memory" in again.notes[0]
    assert names(store) == ["prefers-polars"]


def test_a_body_that_stands_expired_is_written(store: MemoryStore) -> None:
    store.save(replace(POLARS, expires=datetime.now(UTC) - timedelta(days=1)))
    assert store.save(replace(POLARS, name="again")).action == "created"


def test_a_taken_name_gets_a_number_where_it_was_not_chosen(store: MemoryStore) -> None:
    store.save(POLARS)
    for n in (2, 3):
        saved = store.save(replace(POLARS, type="project", body=f"Body {n}."), rename_if_taken=True)
        assert (saved.action, saved.memory.name, saved.path.name) == (
            "created",
            f"prefers-polars-{n}",
            f"prefers-polars-{n}.md",
        )
    again = store.save(POLARS, rename_if_taken=True)
    assert again.action == "unchanged"


def test_a_change_of_type_moves_the_file(store: MemoryStore) -> None:
    store.save(POLARS)
    saved = store.save(replace(POLARS, type="project"))
    assert saved.action == "moved"
    assert "user memory 'prefers-polars'" in saved.notes[0]
    assert [(memory.name, memory.place) for memory in store.list()] == [("prefers-polars", "project")]
    assert index_lines(store, "user") == []
    assert len(index_lines(store, "project")) == 1
    assert store.deleted() == []


def test_a_change_of_type_within_a_place_keeps_the_file(store: MemoryStore) -> None:
    first = store.save(POLARS)
    saved = store.save(replace(POLARS, type="feedback"))
    assert (saved.action, saved.path, saved.memory.type) == ("updated", first.path, "feedback")


def test_a_memory_of_the_other_place_moves_there_when_it_is_saved_as_it_is(
    store: MemoryStore, project: Path
) -> None:
    path = write(
        project / ".mewcode/memory/tabs.md", "---\nname: tabs\ndescription: d\ntype: user\n---\nTabs."
    )
    (memory,) = store.list()
    saved = store.save(memory)
    assert (saved.action, saved.path) == ("moved", store.folder("user") / "tabs.md")
    assert not path.exists()


def test_a_memory_that_was_read_can_be_renamed(store: MemoryStore) -> None:
    first = store.save(POLARS).memory
    saved = store.save(replace(first, name="polars-always"))
    assert (saved.action, saved.path.name) == ("moved", "polars-always.md")
    assert names(store) == ["polars-always"]
    assert saved.memory.created == first.created


def test_a_memory_is_not_renamed_onto_another(store: MemoryStore) -> None:
    store.save(FISCAL)
    first = store.save(POLARS).memory
    with pytest.raises(InvalidMemory, match="'Fiscal year' already"):
        store.save(replace(first, name="Fiscal year", body="Other."))


def test_a_name_in_both_places_needs_a_type(store: MemoryStore, project: Path) -> None:
    store.save(POLARS)
    write(project / ".mewcode/memory/prefers-polars.md", "---\nname: prefers-polars\n---\nOther.")
    with pytest.raises(MemoryAmbiguous, match="user or project"):
        store.get("prefers-polars")
    with pytest.raises(MemoryAmbiguous):
        store.delete("prefers-polars")
    assert store.get("prefers-polars", type="feedback").place == "user"
    assert store.get("prefers-polars", type="reference").place == "project"
    saved = store.save(replace(POLARS, type="project", body="New."))
    assert saved.action == "updated"
    (note,) = saved.notes
    assert note.startswith("the user memory 'prefers-polars' in ")
    assert note.endswith("has the same name; --type says which one is meant")
    assert [memory.body for memory in store.list()] == ["No pandas.", "New."]
    with pytest.raises(InvalidMemory, match="'note'"):
        store.get("prefers-polars", type="note")


def test_a_memory_is_found_by_name_slug_and_file_name(store: MemoryStore) -> None:
    saved = store.save(replace(POLARS, name="Prefers Polars"))
    for name in ("Prefers Polars", "prefers-polars", "prefers-polars.md", "PREFERS_POLARS"):
        assert store.get(name) == saved.memory
    assert store.get("polars") is None


def test_an_edit_is_refused_if_the_file_changed_since_it_was_read(store: MemoryStore) -> None:
    read = store.save(POLARS).memory
    edited = replace(read, body="Edited in the widget.")
    text = read.path.read_text("utf-8")
    read.path.write_text(text.replace("No pandas.", "Edited by hand."), "utf-8")
    with pytest.raises(MemoryChanged, match="changed on disk"):
        store.save(edited, if_unchanged=read)
    assert store.get("prefers-polars").body == "Edited by hand."
    read = store.get("prefers-polars")
    assert store.save(edited, if_unchanged=read).memory.body == "Edited in the widget."
    read = store.get("prefers-polars")
    read.path.unlink()
    with pytest.raises(MemoryChanged, match="was deleted"):
        store.save(edited, if_unchanged=read)


def test_the_index_file_keeps_order_titles_and_what_people_wrote(store: MemoryStore, home: Path) -> None:
    write(home / "memory/polars.md", "---\nname: prefers-polars\n---\nOld.")
    written = "\ufeff# Mine\r\n- [Polars!](polars.md) — old\r\n- [gone](gone.md) - x\r\n- by hand\r\n"
    write(home / "memory/MEMORY.md", written)
    store.save(replace(POLARS, name="aaa", body="Another."))
    store.save(replace(POLARS, description="d"))
    assert index_lines(store, "user") == [
        "# Mine",
        "- [Polars!](polars.md) - d",
        "- by hand",
        "",
        "- [aaa](aaa.md) - when writing dataframe code, use polars",
    ]


def test_what_is_sent_follows_from_the_folder_not_from_the_index_file(store: MemoryStore, home: Path) -> None:
    write(home / "memory/MEMORY.md", "# Mine\n- [gone](gone.md) - x\n- [P](prefers-polars.md) - stale\n")
    write(home / "memory/prefers-polars.md", "---\ndescription: d\n---\nx")
    write(home / "memory/new.md", "---\ndescription: n\n---\ny")
    assert store.index("user") == "# Mine\n- [P](prefers-polars.md) - d\n- [new](new.md) - n"
    assert store.index("project") == ""


def test_an_index_file_that_a_crash_left_behind_is_mended_by_the_next_change(store: MemoryStore) -> None:
    store.save(POLARS)
    (store.folder("user") / "MEMORY.md").write_text("- [x](gone.md) - torn", "utf-8")
    assert store.save(POLARS).action == "unchanged"
    assert index_lines(store, "user") == [
        "- [prefers-polars](prefers-polars.md) - when writing dataframe code, use polars"
    ]


def test_an_index_file_that_is_not_utf8_is_kept_before_it_is_mended(store: MemoryStore) -> None:
    folder = store.folder("user")
    write(folder / "MEMORY.md", "d\u00e9j\u00e0 vu".encode("latin-1"))
    store.save(POLARS)
    (kept,) = folder.glob(".trash/*/MEMORY.md")
    assert kept.read_bytes() == "d\u00e9j\u00e0 vu".encode("latin-1")


def test_an_index_file_that_is_right_is_not_written(store: MemoryStore) -> None:
    store.save(POLARS)
    index = store.folder("user") / "MEMORY.md"
    index.write_text(
        index.read_text("utf-8").replace(" - ", " — ").replace("\n", "\r\n"), "utf-8", newline=""
    )
    before = index.read_bytes()
    store.save(POLARS)
    assert index.read_bytes() == before


def test_the_index_keeps_the_newest_within_its_limits(project: Path, home: Path) -> None:
    store = MemoryStore(project, home, settings=MewCode(index_max_lines=3))
    now = datetime.now(UTC)
    for n in range(5):
        when = (now - timedelta(days=n)).isoformat()
        write(home / f"memory/m{n}.md", f"---\ndescription: d\nupdated: {when}\n---\nbody {n}")
    assert store.index("user").split("\n") == [
        "- [m1](m1.md) - d",
        "- [m0](m0.md) - d",
        "(3 older memories are not shown; the files are in this folder)",
    ]
    store.settings.index_max_lines = 5
    assert len(store.index("user").split("\n")) == 5


def test_a_save_that_nearly_fills_the_index_asks_to_condense_it(project: Path, home: Path) -> None:
    store = MemoryStore(project, home, settings=MewCode(index_max_lines=10))
    notes = [store.save(replace(POLARS, name=f"m{n}", body=f"Body {n}.")).notes for n in range(9)]
    assert notes[:8] == [[]] * 8
    assert "9 of 10 lines" in notes[8][0]
    assert "condense" in notes[8][0]
    again = store.save(replace(POLARS, name="m8", body="Body 8."))
    assert (again.action, again.notes) == ("unchanged", [])
    store.settings.index_warn_ratio = 1
    assert store.save(replace(POLARS, name="m1", body="Other.")).notes == []


def test_an_index_of_few_long_lines_is_nearly_full_too(project: Path, home: Path) -> None:
    store = MemoryStore(project, home, settings=MewCode(index_max_bytes=1_000))
    assert store.save(POLARS).notes == []
    saved = store.save(replace(POLARS, name="long", description="d" * 900, body="Long."))
    assert "2 of 200 lines" in saved.notes[0]
    assert "of 1,000 bytes" in saved.notes[0]
    assert store.notices == saved.notes
    assert [(problem.kind, problem.text) for problem in store.check()] == [("index full", saved.notes[0])]


def test_expired_memories_are_listed_but_not_indexed(store: MemoryStore) -> None:
    store.save(POLARS)
    saved = store.save(replace(FISCAL, type="feedback", expires=datetime.now(UTC) - timedelta(seconds=1)))
    assert saved.memory in store.list()
    assert "fiscal" not in store.index("user")
    assert "not shown" not in store.index("user")
