"""The memory index and the session list as live widgets; ipywidgets is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mewcode_magic.memory import MemoryStore
    from mewcode_magic.sessions import SessionStore
    from mewcode_magic.widgets.memories import MemoryIndex
    from mewcode_magic.widgets.sessions import SessionList

__all__ = ["memory_index", "session_list"]


def memory_index(store: MemoryStore, *, hides: str) -> MemoryIndex:
    """Return a widget that filters, searches, opens, edits, deletes and restores memories.

    `hides` is a CSS class that no other output has: elements of that class, the table that stands beside the
    widget, are not displayed while the widget lives.
    """
    from mewcode_magic.widgets.memories import MemoryIndex

    return MemoryIndex(store, hides=hides)


def session_list(
    store: SessionStore,
    *,
    current: Callable[[], str],
    resume: Callable[[str], object],
    preview: Callable[[str], str] | None = None,
    numbered: Sequence[str] = (),
    hides: str,
) -> SessionList:
    """Return a widget that lists, searches, previews, resumes, renames and deletes sessions.

    `current` returns the id of the open session. `resume` takes an id; a string that it returns is shown as
    what came of it. `preview` takes an id and returns plain text; without it there is none. `numbered` are
    the ids that the user may name by their number, from 1. `hides` is as in `memory_index`. The widget's
    `refresh()` shows what the store has now and may be called by any thread: whoever fills the counts in
    behind calls it at the end.
    """
    from mewcode_magic.widgets.sessions import SessionList

    return SessionList(store, current=current, resume=resume, preview=preview, numbered=numbered, hides=hides)
