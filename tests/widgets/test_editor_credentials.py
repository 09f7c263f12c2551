"""The editor shows and saves what stands in a file, and takes no new credential."""

from pathlib import Path

import pytest
from credential_samples import UPPER, made

from mewcode_magic.memory import Memory, MemoryStore
from mewcode_magic.widgets import memory_index

KEY, OTHER = ("AKIA" + made(UPPER, 16) for _ in range(2))


@pytest.fixture
def store(project: Path, home: Path) -> MemoryStore:
    store = MemoryStore(project, home)
    store.save(Memory("deploy", "when deploying", "user", f"The key is {KEY}."), force=True)
    return store


def test_credential_is_refused_inside_the_widget_and_the_text_stays(store, screen) -> None:
    index = screen(memory_index(store, hides="t1"))
    index.press("deploy")
    index.field("Text").value = entered = f"The key is {KEY}, or {OTHER}."
    index.press("Save")
    assert index.failed()
    assert "AWS access key" in index.said()
    assert OTHER not in index.said()
    assert index.field("Text").value == entered
    assert store.get("deploy").body == f"The key is {KEY}."


def test_editing_keeps_what_was_forced(store, screen) -> None:
    index = screen(memory_index(store, hides="t1"))
    index.press("deploy")
    assert index.field("Text").value == f"The key is {KEY}."
    index.field("Text").value += " Ask first."
    index.press("Save")
    assert not index.failed()
    assert store.get("deploy").body == f"The key is {KEY}. Ask first."
