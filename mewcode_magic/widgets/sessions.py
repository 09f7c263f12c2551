"""The session list: search, look into a session, resume, rename and delete it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from ipywidgets import HTML, Text, VBox

from mewcode_magic.errors import SessionNotFound
from mewcode_magic.files import shown
from mewcode_magic.sessions import SessionInfo, SessionStore
from mewcode_magic.widgets.parts import Actions, Panel, Row, Rows, bar
from mewcode_magic.widgets.text import block, clip, count_of, exactly, sendable, since, span

__all__ = ["SessionList"]

PREVIEW_LIMIT = 20_000
"""Characters of a conversation's end that are shown; a front end is slow with more."""

HEADS = (
    ("title", "Title"),
    ("when", "Started"),
    ("when", "Last active"),
    ("count", "Messages"),
    ("count", "Tokens"),
    ("place", "Notebook"),
)
"""The columns: how each is set, and what stands over it."""


class SessionList(Panel):
    """All sessions of a project, the latest first; and one of them when it is opened."""

    def __init__(
        self,
        store: SessionStore,
        *,
        current: Callable[[], str],
        resume: Callable[[str], object],
        preview: Callable[[str], str] | None,
        numbered: Sequence[str],
        hides: str,
    ) -> None:
        super().__init__(hides=hides)
        self._store, self._current, self._resume, self._preview = store, current, resume, preview
        self._numbers = {session_id: number for number, session_id in enumerate(numbered, 1)}
        self._sessions: Sequence[SessionInfo] = ()
        self._opened: SessionInfo | None = None
        heads = "".join(span(kind, text) for kind, text in HEADS)
        self._rows: Rows[SessionInfo] = Rows(self, describe=self._describe, chosen=self._open, heads=heads)
        self._list = self._make_list()
        self._session = self._make_session()
        self.arrange(self._list, self._session, pager=self._rows.pager)
        self.refresh()

    def refresh(self) -> None:
        """Read the store again and show what it has now; any thread may call it."""
        self.act(self._reload)

    def _make_list(self) -> VBox:
        self._search = Text(placeholder="Search titles, summaries, notebooks", description="Search sessions")
        self._search.observe(self._narrow, "value")
        find = bar(self._search, self.button("Refresh", self._reload, hint="Read the folder again"))
        find.add_class("mew-find")
        view = VBox([find, self._rows.widget])
        view.add_class("mew-sessions")
        return view

    def _make_session(self) -> VBox:
        self._back = self.button("← All sessions", self._leave)
        self._heading, self._facts, self._text = HTML(), HTML(), HTML()
        self._heading.add_class("mew-heading")
        self._title = Text(description="Title")
        self._go_on = self.button("Resume", self._do_resume, kind="primary")
        self._remove = self.button("Delete…", self._ask_to_delete)
        self._actions = Actions(self, self._go_on, self._remove)
        view = VBox(
            [
                bar(self._back, self._heading),
                self._facts,
                bar(self._title, self.button("Rename", self._rename)),
                self._text,
                self._actions.widget,
            ]
        )
        view.add_class("mew-detail")
        return view

    def _reload(self) -> str | None:
        self._sessions = self._store.list()
        said = self._fill()
        return said if self.seen is self._list else None

    def _narrow(self, _: object) -> None:
        self.act(lambda: self._fill(rewind=True))

    def _fill(self, *, rewind: bool = False) -> str:
        words = self._search.value.casefold().split()
        found = [info for info in self._sessions if _matches(info, words)]
        every = len(self._sessions)
        nothing = "No session matches. Clear the search." if every else "No sessions yet. Try: %agent hello"
        self._rows.fill(found, of=every, empty=nothing, rewind=rewind)
        if len(found) < every:
            return f"{len(found):,} of {every:,}"
        return f"{every:,} session{'' if every == 1 else 's'} in {shown(self._store.folder)}"

    def _describe(self, info: SessionInfo) -> Row:
        now = datetime.now(UTC)
        number = self._numbers.get(info.id)
        title = info.title or info.id
        return Row(
            f"{number}. {title}" if number else title,
            (span("badge mew-here", "open here") if info.id == self._current() else "")
            + span("when mew-started", since(info.created, now))
            + span("when", since(info.last_active, now))
            + count_of(info.messages, "message")
            + count_of(info.tokens, "token")
            + span("place", info.notebook or ""),
            [info.title, *_facts(info)],
        )

    def _open(self, info: SessionInfo) -> str:
        self._opened = info
        self._heading.value = span("name", clip(info.title or info.id))
        self._facts.value = span("faint", " · ".join(_facts(info)))
        self._title.value = sendable(info.title)
        self._text.value = ""
        here = info.id == self._current()
        self._go_on.disabled = self._remove.disabled = here
        self._actions.settle()
        self.turn_to(self._session)
        self._back.focus()
        if self._preview:
            text = self._preview(info.id)
            cut = "…\n" if len(text) > PREVIEW_LIMIT else ""
            self._text.value = block(cut + text[-PREVIEW_LIMIT:], label="The conversation", from_end=True)
        return "It is open here; to begin another: %sessions new" if here else ""

    def _leave(self) -> str | None:
        self.turn_to(self._list)
        said = self._reload()
        self._rows.focus()
        return said

    def _do_resume(self) -> str:
        info = self._known()
        told = self._resume(info.id)
        self._leave()
        return told if isinstance(told, str) else f"Resumed “{_name(info)}”. Go on with %%agent."

    def _rename(self) -> str:
        info = self._known()
        self._store.rename(info.id, self._title.value)
        self._reload()
        renamed = next((known for known in self._sessions if known.id == info.id), info)
        self._open(renamed)
        return f"Renamed to “{_name(renamed)}”."

    def _ask_to_delete(self) -> None:
        self._actions.ask(f"Delete “{_name(self._known())}”?", yes="Delete", no="Keep", then=self._delete)

    def _delete(self) -> str:
        info = self._known()
        self._store.delete(info.id)
        self._leave()
        return f"Deleted “{_name(info)}”: its file is in {shown(self._store.folder / '.trash')}."

    def _known(self) -> SessionInfo:
        if self._opened is None:
            raise SessionNotFound("no session is open in this list; choose one")
        return self._opened


def _matches(info: SessionInfo, words: Sequence[str]) -> bool:
    text = "\n".join((info.id, info.title, info.summary, info.notebook or "")).casefold()
    return all(word in text for word in words)


def _name(info: SessionInfo) -> str:
    return clip(info.title or info.id, 60)


def _facts(info: SessionInfo) -> list[str]:
    parts = [
        info.id,
        f"started {exactly(info.created)}" if info.created else "",
        f"last active {exactly(info.last_active)}" if info.last_active else "",
        info.notebook or "",
        info.usage.in_words() if info.usage and info.tokens else "",
        info.summary,
    ]
    return [part for part in parts if part]
