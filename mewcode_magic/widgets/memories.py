"""The memory index: all memories of a store by type, a search over them, and those that were deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from ipywidgets import Dropdown, Text, VBox

from mewcode_magic.files import shown
from mewcode_magic.memory import PLACES, TYPES, DeletedMemory, Memory, MemoryStore
from mewcode_magic.memory.index import parsed
from mewcode_magic.widgets.editor import Editor, Remains
from mewcode_magic.widgets.parts import Panel, Row, Rows, bar
from mewcode_magic.widgets.text import clip, exactly, since, span

__all__ = ["MemoryIndex"]

ALL, DELETED = "all", "deleted"
"""Choices of the filter beside the types."""

Entry: TypeAlias = Memory | DeletedMemory


class MemoryIndex(Panel):
    """The memories, the latest first, or the deleted ones; and one of them when it is opened."""

    def __init__(self, store: MemoryStore, *, hides: str) -> None:
        super().__init__(hides=hides)
        self._store = store
        self._memories: Sequence[Memory] = ()
        self._deleted: Sequence[DeletedMemory] = ()
        self._indexed: set[tuple[str, str | None]] = set()
        self._search = Text(placeholder="Search names, descriptions and texts", description="Search memories")
        self._filter = Dropdown(options=[("All types", ALL)], description="Show")
        for control in (self._search, self._filter):
            control.observe(self._narrow, "value")
        refresh = self.button("Refresh", self._reload, hint="Read the folders again")
        self._rows: Rows[Entry] = Rows(self, describe=self._describe, chosen=self._open)
        find = bar(self._search, self._filter, refresh)
        find.add_class("mew-find")
        self._list = VBox([find, self._rows.widget])
        self._editor = Editor(self, store, left=self._back_to_list)
        self._remains = Remains(self, store, left=self._back_to_list)
        self.arrange(self._list, self._editor.widget, self._remains.widget, pager=self._rows.pager)
        self.refresh()

    def refresh(self) -> None:
        """Read the store again and show what it has now; any thread may call it."""
        self.act(self._reload)

    def _reload(self) -> str | None:
        self._memories = sorted(self._store.list(), key=_moment, reverse=True)
        self._deleted = self._store.deleted()
        self._indexed = {(place, line.slug) for place in PLACES for line in parsed(self._store.index(place))}
        self._count()
        said = self._fill()
        return said if self.seen is self._list else None

    def _count(self) -> None:
        """Write the counts into the filter, without choosing anew."""
        counts = Counter(memory.type for memory in self._memories)
        options = (
            (f"All types ({len(self._memories):,})", ALL),
            *((f"{kind} ({counts[kind]:,})", kind) for kind in TYPES),
            (f"Deleted ({len(self._deleted):,})", DELETED),
        )
        if options != self._filter.options:
            chosen = self._filter.value
            self._filter.unobserve(self._narrow, "value")
            with self._filter.hold_sync():
                self._filter.options, self._filter.value = options, chosen
            self._filter.observe(self._narrow, "value")

    def _narrow(self, _: object) -> None:
        self.act(lambda: self._fill(rewind=True))

    def _fill(self, *, rewind: bool = False) -> str:
        words, kind = self._search.value.casefold().split(), self._filter.value
        every: Sequence[Entry] = self._deleted if kind == DELETED else self._memories
        found = [
            entry
            for entry in every
            if kind in (ALL, DELETED, _memory(entry).type) and _matches(_memory(entry), words)
        ]
        self._rows.fill(found, of=len(every), empty=self._nothing(every), rewind=rewind)
        return f"{len(found):,} of {len(every):,}" if len(found) < len(every) else self._summary()

    def _summary(self) -> str:
        if self._filter.value == DELETED:
            return f"What is deleted can be restored for {self._store.settings.trash_days} days."
        places = Counter(memory.place for memory in self._memories)
        folders = " and ".join(f"{places[place]:,} in {shown(self._store.folder(place))}" for place in PLACES)
        wrong = len(self._store.notices)
        problems = f"{wrong:,} {'problem' if wrong == 1 else 'problems'}, see %memory check"
        return f"{folders}; {problems}" if wrong else folders

    def _nothing(self, every: Sequence[Entry]) -> str:
        if every:
            return "No memory matches. Clear the search, or show all types."
        if self._filter.value == DELETED:
            return "Nothing is deleted."
        return "No memories yet. To keep something: %remember I prefer polars over pandas"

    def _describe(self, entry: Entry) -> Row:
        memory, now = _memory(entry), datetime.now(UTC)
        marks = dict(self._marks(entry, now)) if isinstance(entry, Memory) else {}
        return Row(
            memory.name or memory.slug,
            span("about", clip(memory.description))
            + "".join(span(f"badge mew-{mark.replace(' ', '-')}", mark) for mark in marks)
            + span("type", memory.type)
            + span("when", since(entry.when, now)),
            [memory.name, memory.description, f"{_verb(entry)} {exactly(entry.when)}", *marks.values()],
        )

    def _marks(self, memory: Memory, now: datetime) -> Iterator[tuple[str, str]]:
        """Yield what to mind about a memory: a word, and a line that explains it."""
        if memory.is_expired(now):
            yield "expired", f"expired {exactly(memory.expires)}: it is not sent to the agent"
        elif (memory.place, memory.slug) not in self._indexed:
            yield "not indexed", "not indexed: the index is full, and the agent is not told of it"
        if memory.age(now) > timedelta(days=self._store.settings.stale_after_days):
            yield "stale", "stale: the agent is told to verify it"

    def _open(self, entry: Entry) -> str:
        if isinstance(entry, Memory):
            self._editor.open(entry)
        else:
            self._remains.open(entry)
        view = self._editor if isinstance(entry, Memory) else self._remains
        self.turn_to(view.widget)
        view.focus()
        return ""

    def _back_to_list(self, said: str | None) -> str | None:
        self.turn_to(self._list)
        summary = self._reload()
        self._rows.focus()
        return said or summary


def _memory(entry: Entry) -> Memory:
    return entry if isinstance(entry, Memory) else entry.memory


def _verb(entry: Entry) -> str:
    return "last changed" if isinstance(entry, Memory) else "deleted"


def _moment(memory: Memory) -> datetime:
    return memory.when or datetime.min.replace(tzinfo=UTC)


def _matches(memory: Memory, words: Sequence[str]) -> bool:
    text = f"{memory.name}\n{memory.description}\n{memory.body}".casefold()
    return all(word in text for word in words)
