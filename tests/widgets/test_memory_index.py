"""The memory index, driven as its user does, on real files."""

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ipywidgets import HTML

from mewcode_magic.config import MewCode
from mewcode_magic.memory import Memory, MemoryStore
from mewcode_magic.widgets import memory_index

EVIL = "<script>alert(1)</script> $x^2$ <img src=x onerror=alert(2)>"


@pytest.fixture
def store(project: Path, home: Path) -> MemoryStore:
    return MemoryStore(project, home)


@pytest.fixture
def filled(store: MemoryStore) -> MemoryStore:
    store.save(Memory("polars", "when writing dataframe code", "user", "Use polars, not pandas."))
    store.save(Memory("tone", "when answering", "feedback", "Be short."))
    store.save(Memory("freeze", "when merging", "project", "No merges before Friday."))
    store.save(Memory("dashboard", "where latencies are", "reference", "See Grafana."))
    return store


def age(store: MemoryStore, name: str, days: float) -> None:
    """Make a memory's file look as if it had been written `days` ago."""
    memory = store.get(name)
    assert memory
    assert memory.path
    then = datetime.now(UTC) - timedelta(days=days)
    lines = memory.path.read_text(encoding="utf-8").split("\n")
    kept = [line for line in lines if not line.startswith(("created:", "updated:"))]
    memory.path.write_text("\n".join(kept), encoding="utf-8")
    os.utime(memory.path, (then.timestamp(), then.timestamp()))


def test_empty_store_says_how_to_begin(store, screen) -> None:
    index = screen(memory_index(store, hides="t1"))
    assert index.names() == []
    assert "%remember" in index.text()


def test_showing_writes_nothing(store, screen, project, home) -> None:
    memory_index(store, hides="t1")
    assert not (project / ".mewcode").exists()
    assert not home.exists()


def test_rows_show_name_description_type_and_age_latest_first(filled, screen) -> None:
    age(filled, "polars", 0.2)
    age(filled, "tone", 0.3)
    age(filled, "dashboard", 0.1)
    index = screen(memory_index(filled, hides="t1"))
    assert index.rows() == [
        ["freeze", "when merging", "project", "just now"],
        ["dashboard", "where latencies are", "reference", "2 h ago"],
        ["polars", "when writing dataframe code", "user", "4 h ago"],
        ["tone", "when answering", "feedback", "7 h ago"],
    ]


def test_folders_are_named_with_their_counts(filled, screen) -> None:
    filled.save(Memory("second", "another", "reference", "Another one."))
    index = screen(memory_index(filled, hides="t1"))
    assert index.said() == f"2 in {filled.folder('user')} and 3 in .mewcode/memory"


def test_filter_counts_and_keeps_one_type(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    show = index.field("Show")
    assert [label for label, _ in show.options] == [
        "All types (4)",
        "user (1)",
        "feedback (1)",
        "project (1)",
        "reference (1)",
        "Deleted (0)",
    ]
    show.value = "project"
    assert index.names() == ["freeze"]
    assert index.said() == "1 of 4"
    show.value = "all"
    assert len(index.names()) == 4


@pytest.mark.parametrize("words", ["PoLaRs", "dataframe", "not pandas", "pandas user", "code   use"])
def test_search_looks_at_name_description_and_body(filled, screen, words) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.field("Search memories").value = words
    assert index.names() == (["polars"] if "user" not in words else [])


def test_search_without_a_match_says_what_to_do(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.field("Search memories").value = "zebra"
    assert index.names() == []
    assert "Clear the search" in index.text()
    index.field("Search memories").value = ""
    assert len(index.names()) == 4


def test_expired_memory_is_marked(filled, screen) -> None:
    filled.save(
        Memory("over", "was once", "project", "Over.", expires=datetime.now(UTC) - timedelta(hours=1))
    )
    index = screen(memory_index(filled, hides="t1"))
    assert ["over", "was once", "expired", "project", "just now"] in index.rows()


def test_old_memory_is_marked_stale_after_the_set_time(filled, screen) -> None:
    age(filled, "polars", 2)
    assert "stale" in screen(memory_index(filled, hides="t1")).rows()[-1]
    filled.settings.stale_after_days = 3
    assert "stale" not in screen(memory_index(filled, hides="t1")).rows()[-1]


def test_memory_that_the_full_index_leaves_out_is_marked(project, home, screen) -> None:
    store = MemoryStore(project, home, settings=MewCode(index_max_lines=2))
    for number in range(3):
        store.save(Memory(f"note {number}", "a note", "project", f"Body {number}."))
    rows = screen(memory_index(store, hides="t1")).rows()
    assert [row[0] for row in rows if "not indexed" in row] == ["note 1", "note 0"]


def test_opened_memory_is_shown_and_saved_to_its_file(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    assert index.field("Text").value == "Use polars, not pandas."
    assert index.field("Description").value == "when writing dataframe code"
    assert index.field("Type").value == "user"
    assert index.field("Expires").value == ""
    index.field("Text").value = "Use polars 2.\n\nAlways."
    index.field("Description").value = "when writing any code"
    index.field("Expires").value = "30d"
    index.press("Save")
    assert index.said().startswith("Saved ")
    memory = filled.get("polars")
    assert memory
    assert (memory.body, memory.description) == ("Use polars 2.\n\nAlways.", "when writing any code")
    assert memory.expires
    assert timedelta(days=29) < memory.expires - datetime.now(UTC) <= timedelta(days=30)
    assert "Use polars 2." in (filled.folder("user") / "polars.md").read_text(encoding="utf-8")
    index.press("← All memories")
    assert ["polars", "when writing any code", "user", "just now"] in index.rows()


def test_expiry_as_a_date_lasts_to_its_end_and_can_be_taken_back(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("freeze")
    index.field("Expires").value = "2099-01-31"
    index.press("Save")
    assert index.field("Expires").value == "2099-01-31"
    memory = filled.get("freeze")
    assert memory
    assert memory.expires
    assert memory.expires.astimezone().strftime("%H:%M") == "23:59"
    index.field("Expires").value = " "
    index.press("Save")
    memory = filled.get("freeze")
    assert memory
    assert memory.expires is None


def test_expiry_that_is_none_is_refused_inside_the_widget(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("freeze")
    index.field("Expires").value = "soon"
    index.press("Save")
    assert index.failed()
    assert "soon" in index.said()
    assert index.field("Expires").value == "soon"


def test_expiry_left_alone_keeps_its_exact_moment(filled, screen) -> None:
    moment = datetime(2099, 1, 31, 12, 30, 15, 250_000, tzinfo=UTC)
    filled.save(Memory("event", "when planning", "project", "The event.", expires=moment))
    index = screen(memory_index(filled, hides="t1"))
    index.press("event")
    index.field("Text").value = "The great event."
    index.press("Save")
    memory = filled.get("event")
    assert memory
    assert memory.expires == moment


def test_change_of_type_moves_the_file(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    index.field("Type").value = "project"
    index.press("Save")
    assert not (filled.folder("user") / "polars.md").exists()
    assert (filled.folder("project") / "polars.md").exists()
    assert ".mewcode/memory/polars.md" in index.said()
    index.press("← All memories")
    assert ["polars", "when writing dataframe code", "project", "just now"] in index.rows()


def test_saving_without_a_change_writes_nothing(filled, screen) -> None:
    path = filled.folder("user") / "polars.md"
    before = path.stat()
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    index.press("Save")
    assert index.said() == "Nothing has changed."
    assert path.stat() == before


def test_empty_description_is_refused_and_the_text_stays(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    index.field("Description").value = ""
    index.field("Text").value = "Edited."
    index.press("Save")
    assert index.failed()
    assert "description" in index.said()
    assert index.field("Text").value == "Edited."
    memory = filled.get("polars")
    assert memory
    assert memory.body == "Use polars, not pandas."


def test_text_that_another_memory_has_is_not_written_twice(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    index.field("Text").value = "be  SHORT."
    index.press("Save")
    assert "tone" in index.said()
    assert index.said().startswith("Nothing was written.")
    assert index.field("Text").value == "be  SHORT."


def test_file_changed_since_it_was_opened_is_not_overwritten(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    path = filled.folder("user") / "polars.md"
    theirs = path.read_text(encoding="utf-8").replace("Use polars, not pandas.", "Written by hand.")
    path.write_text(theirs, encoding="utf-8")
    index.field("Text").value = "Mine."
    index.press("Save")
    assert index.failed()
    assert "changed on disk" in index.said()
    assert "Reload" in index.said()
    assert path.read_text(encoding="utf-8") == theirs
    assert index.field("Text").value == "Mine."
    index.press("Reload")
    index.press("Go on editing")
    assert index.field("Text").value == "Mine."
    index.press("Reload")
    index.press("Discard them")
    assert index.field("Text").value == "Written by hand."
    index.field("Text").value = "Both."
    index.press("Save")
    assert "Both." in path.read_text(encoding="utf-8")


def test_file_deleted_since_it_was_opened_is_said_and_left_alone(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    path = filled.folder("user") / "polars.md"
    path.unlink()
    index.field("Text").value = "Mine."
    index.press("Save")
    assert index.failed()
    assert not path.exists()
    index.press("Delete…")
    index.press("Delete")
    assert index.failed()
    index.press("← All memories")
    index.press("Discard them")
    assert "polars" not in index.names()


def test_file_deleted_since_it_was_listed_is_said(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    (filled.folder("user") / "polars.md").unlink()
    index.press("polars")
    assert index.failed()
    assert "polars" in index.said()
    index.press("Refresh")
    assert "polars" not in index.names()
    assert not index.failed()


def test_leaving_with_changes_asks_first(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("polars")
    index.field("Text").value = "Changed."
    index.press("← All memories")
    assert "not saved" in index.text()
    index.press("Go on editing")
    assert index.field("Text").value == "Changed."
    index.press("← All memories")
    index.press("Discard them")
    assert len(index.names()) == 4
    index.press("polars")
    assert index.field("Text").value == "Use polars, not pandas."


def test_delete_asks_first_and_can_be_restored(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    path = filled.folder("project") / "freeze.md"
    index.press("freeze")
    index.press("Delete…")
    assert path.exists()
    assert "Delete “freeze”?" in index.text()
    index.press("Keep")
    assert path.exists()
    index.press("Delete…")
    index.press("Delete")
    assert not path.exists()
    assert "freeze" not in index.names()
    assert "Deleted “freeze”" in index.said()
    index.field("Show").value = "deleted"
    assert index.names() == ["freeze"]
    assert "30 days" in index.said()
    index.press("freeze")
    assert "No merges before Friday." in index.text()
    index.press("Restore")
    assert path.exists()
    assert index.said() == "Restored “freeze”."
    assert "Nothing is deleted." in index.text()
    index.field("Show").value = "all"
    assert "freeze" in index.names()


def test_deleting_takes_the_opened_file_where_a_name_is_anothers_slug(store, screen) -> None:
    store.save(Memory("a b", "with a space", "project", "First."))
    store.folder("project").joinpath("other.md").write_text(
        "---\nname: a-b\ndescription: with a hyphen\ntype: project\n---\n\nSecond.\n", encoding="utf-8"
    )
    index = screen(memory_index(store, hides="t1"))
    index.press("a b")
    index.press("Delete…")
    index.press("Delete")
    assert index.names() == ["a-b"]
    assert (store.folder("project") / "other.md").exists()


def test_memory_of_the_same_name_in_the_other_place_is_left_alone(store, screen) -> None:
    store.save(Memory("style", "personal", "user", "Mine."))
    store.folder("project").mkdir(parents=True)
    (store.folder("project") / "style.md").write_text(
        "---\nname: style\ndescription: of the project\ntype: project\n---\n\nOurs.\n", encoding="utf-8"
    )
    index = screen(memory_index(store, hides="t1"))
    index.field("Show").value = "project"
    index.press("style")
    assert index.field("Text").value == "Ours."
    index.field("Text").value = "Ours now."
    index.press("Save")
    index.press("Delete…")
    index.press("Delete")
    assert [m.body for m in store.list()] == ["Mine."]


def test_text_from_files_is_never_markup(store, screen) -> None:
    store.save(Memory(EVIL, EVIL, "project", f"{EVIL}\n</pre></textarea>{EVIL}"))
    index = screen(memory_index(store, hides="t1"))
    plain = index.tags()
    assert index.rows()[0][:2] == [EVIL, EVIL]
    index.press(EVIL)
    assert index.field("Text").value == f"{EVIL}\n</pre></textarea>{EVIL}"
    opened = index.tags()
    index.press("Delete…")
    index.press("Delete")
    index.field("Show").value = "deleted"
    index.press(EVIL)
    assert f"{EVIL}\n</pre></textarea>{EVIL}" in index.text()
    assert plain | opened | index.tags() <= {"div", "span", "pre"}


def test_names_of_any_kind_are_listed_and_opened(store, screen) -> None:
    folder = store.folder("project")
    folder.mkdir(parents=True)
    (folder / "none.md").write_text("no frontmatter at all", encoding="utf-8")
    (folder / "lines.md").write_text('---\nname: "two\\nlines"\ntype: odd\n---\n\nx\n', encoding="utf-8")
    (folder / "bytes.md").write_bytes(b"---\nname: b\xff\n---\n\n\xff\xfe\n")
    store.save(Memory("x" * 300, "y" * 3000, "project", "long"))
    store.save(Memory("🎉", "an emoji", "project", "party"))
    index = screen(memory_index(store, hides="t1"))
    assert len(index.names()) == 5
    assert all(name and "\n" not in name for name in index.names())
    for name in index.names():
        index.press(name)
        assert not index.failed()
        index.press("← All memories")
    assert "; 1 problem, see" in index.said()


def test_pages_hold_fifty(store, screen) -> None:
    folder = store.folder("project")
    folder.mkdir(parents=True)
    for number in range(120):
        (folder / f"note-{number:03}.md").write_text(
            f"---\nname: note {number:03}\ndescription: d\ntype: project\n---\n\nBody {number}.\n",
            encoding="utf-8",
        )
        os.utime(folder / f"note-{number:03}.md", (1_700_000_000 - number, 1_700_000_000 - number))
    index = screen(memory_index(store, hides="t1"))
    assert index.names() == [f"note {n:03}" for n in range(50)]
    assert index.button("Previous").disabled
    assert "1 to 50 of 120" in index.text()
    index.press("Next")
    index.press("Next")
    assert index.names() == [f"note {n:03}" for n in range(100, 120)]
    assert index.button("Next").disabled
    index.press("note 110")
    index.press("← All memories")
    assert index.names()[0] == "note 100"
    index.field("Search memories").value = "note 0"
    assert index.names()[0] == "note 000"
    index.field("Search memories").value = "note 00"
    assert not index.has("Next")


def test_deleting_the_last_row_of_a_page_goes_to_the_page_before(store, screen) -> None:
    for number in range(51):
        store.save(Memory(f"note {number}", "d", "project", f"Body {number}."))
    index = screen(memory_index(store, hides="t1"))
    index.press("Next")
    (last,) = index.names()
    index.press(last)
    index.press("Delete…")
    index.press("Delete")
    assert len(index.names()) == 50


def test_refresh_shows_what_others_wrote(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    filled.save(Memory("new", "from elsewhere", "project", "New."))
    index.field("Show").value = "project"
    index.press("Refresh")
    assert index.names() == ["new", "freeze"]
    assert index.field("Show").value == "project"


def test_folder_that_cannot_be_written_is_said_inside_the_widget(filled, screen) -> None:
    index = screen(memory_index(filled, hides="t1"))
    index.press("freeze")
    index.field("Text").value = "Edited."
    folder = filled.folder("project")
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("a file stands here", encoding="utf-8")
    index.press("Save")
    assert index.failed()
    assert index.said()


def test_each_widget_hides_the_table_of_its_own_class_only(store) -> None:
    for mine, other in (("table-7", "table-8"), ("table-8", "table-7")):
        sheets = [
            child.value for child in memory_index(store, hides=mine).children if isinstance(child, HTML)
        ]
        assert f".{mine} {{ display: none !important; }}" in "".join(sheets)
        assert other not in "".join(sheets)


def test_refresh_may_come_from_another_thread_while_the_user_searches(store, screen) -> None:
    for number in range(60):
        store.save(Memory(f"note {number}", "d", "project", f"Body {number}."))
    widget = memory_index(store, hides="t1")
    index = screen(widget)
    failures: list[BaseException] = []
    stop = threading.Event()

    def refresh() -> None:
        try:
            while not stop.is_set():
                widget.refresh()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    thread = threading.Thread(target=refresh)
    thread.start()
    for text in ("note 1", "note 11", "zebra", "", "note 5") * 3:
        index.field("Search memories").value = text
        time.sleep(0.005)
    stop.set()
    thread.join()
    assert failures == []
    assert len(index.names()) == 15
    assert not index.failed()
