"""One memory, opened: read, edit, save and delete it; or, from the trash, read and restore it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from ipywidgets import HTML, Dropdown, Text, Textarea, VBox

from mewcode_magic.errors import MemoryChanged, MemoryNotFound
from mewcode_magic.files import shown
from mewcode_magic.memory import TYPES, DeletedMemory, Memory, MemoryStore, expiry
from mewcode_magic.widgets.parts import Actions, Panel, bar
from mewcode_magic.widgets.text import block, clip, exactly, span

__all__ = ["Editor", "Remains"]


class Editor:
    """A form for one memory. `left` is called when the user has done with it, with what to say then."""

    def __init__(self, panel: Panel, store: MemoryStore, *, left: Callable[[str | None], str | None]) -> None:
        self._store, self._left = store, left
        self._memory: Memory | None = None
        self._back = panel.button("← All memories", self._ask_to_leave)
        self._heading, self._facts = HTML(), HTML()
        self._heading.add_class("mew-heading")
        self._description = Text(description="Description", placeholder="When it is of use")
        self._type = Dropdown(description="Type", options=TYPES)
        self._expires = Text(description="Expires", placeholder="never; or a date, or days such as 30d")
        self._body = Textarea(description="Text", rows=10)
        self._actions = Actions(
            panel,
            panel.button("Save", self._save, kind="primary"),
            panel.button("Reload", self._ask_to_reload, hint="Show the file as it is now"),
            panel.button("Delete…", self._ask_to_delete),
        )
        self.widget = VBox(
            [
                bar(self._back, self._heading),
                self._facts,
                self._description,
                bar(self._type, self._expires),
                self._body,
                self._actions.widget,
            ]
        )
        self.widget.add_class("mew-detail")

    def open(self, memory: Memory) -> None:
        """Show the memory that now stands where `memory` was read.

        Raises:
            MemoryNotFound: its file is gone.
        """
        standing = self._memory = self._standing(memory)
        self._heading.value = span("name", clip(standing.name or standing.slug))
        self._facts.value = span("faint", _facts(standing))
        self._description.value, self._type.value, self._expires.value, self._body.value = _fields(standing)
        self._actions.settle()

    def focus(self) -> None:
        """Move the keyboard's focus to the first button."""
        self._back.focus()

    def _save(self) -> str:
        memory = self._opened()
        entered, before = self._entered(), _fields(memory)
        if entered == before:
            return "Nothing has changed."
        description, kind, expires, body = entered
        until = memory.expires
        if expires != before[2]:
            until = expiry(expires, now=datetime.now(UTC)) if expires.strip() else None
        edited = replace(memory, description=description, type=kind, body=body, expires=until)
        try:
            saved = self._store.save(edited, if_unchanged=memory)
        except MemoryChanged as error:
            raise MemoryChanged(
                f"Not saved: {memory.name!r} changed on disk since you opened it. "
                "Copy what you want to keep, then press Reload."
            ) from error
        if saved.action == "unchanged":
            return " ".join(["Nothing was written.", *saved.notes])
        self.open(saved.memory)
        return " ".join([f"Saved {shown(saved.path)}.", *saved.notes])

    def _reload(self) -> str:
        self.open(self._opened())
        return "This is the file as it is now."

    def _ask_to_reload(self) -> str | None:
        return self._unless_edited(self._reload)

    def _ask_to_leave(self) -> str | None:
        return self._unless_edited(lambda: self._left(None))

    def _unless_edited(self, action: Callable[[], str | None]) -> str | None:
        """Do what takes the form's content away; ask first if that holds changes."""
        if self._entered() == _fields(self._opened()):
            return action()
        self._actions.ask("Your changes are not saved.", yes="Discard them", no="Go on editing", then=action)
        return None

    def _ask_to_delete(self) -> None:
        name = clip(self._opened().name, 60)
        self._actions.ask(f"Delete “{name}”?", yes="Delete", no="Keep", then=self._delete)

    def _delete(self) -> str | None:
        memory = self._opened()
        self._store.delete(self._key(memory), type=memory.place)
        return self._left(f"Deleted “{clip(memory.name, 60)}”. Show Deleted to have it back.")

    def _opened(self) -> Memory:
        if self._memory is None:
            raise MemoryNotFound("no memory is open; choose one from the list")
        return self._memory

    def _standing(self, memory: Memory) -> Memory:
        for standing in self._store.list(memory.place):
            if standing.path == memory.path:
                return standing
        raise _gone(memory)

    def _key(self, memory: Memory) -> str:
        """Return what names this memory and no other: one file's slug can be another's name."""
        for key in (memory.slug, memory.name):
            found = self._store.get(key, type=memory.place)
            if found and found.path == memory.path:
                return key
        raise _gone(memory)

    def _entered(self) -> tuple[str, str, str, str]:
        return self._description.value, self._type.value, self._expires.value, self._body.value


class Remains:
    """A deleted memory. `left` is called when the user has done with it, with what to say then."""

    def __init__(self, panel: Panel, store: MemoryStore, *, left: Callable[[str | None], str | None]) -> None:
        self._store, self._left = store, left
        self._deleted: DeletedMemory | None = None
        self._back = panel.button("← Deleted memories", lambda: self._left(None))
        self._heading, self._facts, self._text = HTML(), HTML(), HTML()
        self._heading.add_class("mew-heading")
        restore = Actions(panel, panel.button("Restore", self._restore, kind="primary"))
        self.widget = VBox([bar(self._back, self._heading), self._facts, self._text, restore.widget])
        self.widget.add_class("mew-detail")

    def open(self, deleted: DeletedMemory) -> None:
        """Show what the trash has of a memory."""
        self._deleted, memory = deleted, deleted.memory
        self._heading.value = span("name", clip(memory.name or memory.slug))
        facts = f"{memory.type} · deleted {exactly(deleted.when)} · {clip(memory.description)}"
        self._facts.value = span("faint", facts)
        self._text.value = block(memory.body, label="Text of the memory")

    def focus(self) -> None:
        """Move the keyboard's focus to the first button."""
        self._back.focus()

    def _restore(self) -> str | None:
        if self._deleted is None:
            raise MemoryNotFound("no memory is open; choose one from the list")
        restored = self._store.restore(self._deleted.memory.name)
        return self._left(f"Restored “{clip(restored.name, 60)}”.")


def _fields(memory: Memory) -> tuple[str, str, str, str]:
    """Return what the form shows of a memory: description, type, expiry, text."""
    until = exactly(memory.expires)
    return memory.description, memory.type, until.removesuffix(" 23:59:59"), memory.body


def _facts(memory: Memory) -> str:
    parts = [
        shown(memory.path) if memory.path else "",
        f"created {exactly(memory.created)}" if memory.created else "",
        f"updated {exactly(memory.updated)}" if memory.updated else "",
        f"from session {memory.source}" if memory.source else "",
    ]
    return " · ".join(part for part in parts if part)


def _gone(memory: Memory) -> MemoryNotFound:
    return MemoryNotFound(f"{memory.name!r} was deleted or moved on disk; go back to the list")
