"""The memory index and the session list, clicked: the files on disk follow."""

import re
from collections.abc import Callable
from contextlib import closing

from api_server import ApiServer
from live_lab import Notebook
from playwright.sync_api import expect

from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore

Open = Callable[..., Notebook]

MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
"""An exact time, shown over one that is relative or rounded."""


def test_memory_is_found_edited_deleted_and_restored(open_notebook: Open) -> None:
    notebook = open_notebook(
        "%remember --type project --name api-frozen The API is frozen until May.",
        "%remember --type reference --name docs The docs are at https://docs.example.",
        "%memory",
    )
    notebook.run(1)
    notebook.run(2)
    file = notebook.project / ".mewcode" / "memory" / "api-frozen.md"
    assert file.exists()
    index = notebook.run(3)
    rows = index.locator(".mew-row")
    expect(rows).to_have_count(2)
    index.get_by_label("Search memories").fill("frozen")
    expect(rows).to_have_count(1)
    index.get_by_label("Search memories").fill("")
    index.get_by_label("Show").select_option(label="reference (1)")
    expect(rows).to_contain_text(["docs"])
    index.get_by_label("Show").select_option(label="project (1)")
    index.get_by_role("button", name="api-frozen").click()
    index.get_by_label("Text").fill("The API is frozen until June.")
    index.get_by_role("button", name="Save").click()
    expect(index.get_by_role("status")).to_contain_text("Saved")
    assert "until June" in file.read_text(encoding="utf-8")
    index.get_by_role("button", name="Delete…").click()
    index.get_by_role("button", name="Delete", exact=True).click()
    expect(index.get_by_role("status")).to_contain_text("Deleted “api-frozen”")
    assert not file.exists()
    index.get_by_label("Show").select_option(label="Deleted (1)")
    index.get_by_role("button", name="api-frozen").click()
    index.get_by_role("button", name="Restore").click()
    expect(index.get_by_role("status")).to_contain_text("Restored “api-frozen”")
    assert "until June" in file.read_text(encoding="utf-8")


def test_session_resumed_in_the_list_is_the_next_turns(open_notebook: Open, api: ApiServer) -> None:
    notebook = open_notebook("%sessions", "%%agent\nwho am I?")
    store = SessionStore(notebook.project)
    with closing(store.create()) as session:
        session.append(Message(role="user", content="my name is Bo"))
        session.append(Message(role="assistant", content=[{"type": "text", "text": "Hello Bo."}]))
    listed = notebook.run(1)
    listed.get_by_role("button", name="my name is Bo").click()
    expect(listed.get_by_role("region", name="The conversation")).to_contain_text("Hello Bo.")
    listed.get_by_role("button", name="Resume").click()
    expect(listed.get_by_role("status")).to_contain_text(f"Resumed {session.id}")
    expect(listed.locator(".mew-row")).to_contain_text(["open here"])
    api.reply("You are Bo.")
    expect(notebook.run(2)).to_contain_text("You are Bo.")
    assert "Hello Bo." in str(api.requests[-1].body["messages"])
    assert "You are Bo." in session.path.read_text(encoding="utf-8")


def test_lists_are_used_by_keys_alone(open_notebook: Open) -> None:
    notebook = open_notebook("%remember --type project --name api-frozen The API is frozen.", "%memory")
    notebook.run(1)
    index = notebook.run(2)
    keys = notebook.page.keyboard
    index.get_by_label("Search memories").focus()
    for _ in range(3):  # the filter, Refresh, the first row
        keys.press("Tab")
    expect(index.get_by_role("button", name="api-frozen")).to_be_focused()
    keys.press("Enter")
    back = index.get_by_role("button", name="← All memories")
    expect(back).to_be_focused()
    keys.press("Enter")
    expect(index.get_by_role("button", name="api-frozen")).to_be_focused()


def test_page_loaded_again_without_kernel_shows_the_tables(open_notebook: Open) -> None:
    notebook = open_notebook("%remember --type project --name api-frozen The API is frozen.", "%memory")
    notebook.run(1)
    index = notebook.run(2)
    (row,) = index.locator(".mew-row").all()
    expect(row).to_contain_text(re.compile("just now|min ago"))
    expect(row.get_by_role("button")).to_have_attribute("title", MOMENT)
    table = index.locator("table")
    expect(table).to_be_hidden()
    notebook.save()
    notebook.lab.end_kernels()
    notebook.reload()
    expect(table).to_be_visible()
    expect(table).to_contain_text(re.compile("api-frozen.*The API is frozen"))
    expect(table.get_by_title(MOMENT)).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d$"))
    expect(index.locator(".jp-OutputArea-child").first).to_be_hidden()  # what says that there is no widget
