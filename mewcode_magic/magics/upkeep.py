"""Upkeep of a project's sessions: old ones move to the trash, missing counts are filled in behind."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from mewcode_magic.errors import StorageError
from mewcode_magic.files import shown
from mewcode_magic.magics.screen import counted

if TYPE_CHECKING:
    from mewcode_magic.config import MewCode
    from mewcode_magic.sessions import SessionStore

__all__ = ["clean_up", "fill_counts"]


def clean_up(store: SessionStore, settings: MewCode, *, days: int | None = None) -> str:
    """Move the sessions that were inactive for `days` to the trash; return the line on them, "" for none.

    None takes the setting, of which 0 turns it off.

    Raises:
        StorageError: something cannot be read or moved.
    """
    moved = store.cleanup(days)
    if not moved:
        return ""
    limit = settings.session_max_age_days if days is None else days
    trash, kept = shown(store.folder / ".trash"), counted(settings.trash_days, "day")
    return (
        f"Moved {counted(len(moved), 'session')} without activity for {counted(limit, 'day')} to {trash}. "
        f"For {kept}, moving a .jsonl back restores it. "
        "MewCode.session_max_age_days is the limit, and 0 turns this off."
    )


def fill_counts(store: SessionStore, *, then: Callable[[], object] | None = None) -> None:
    """Count, in a daemon thread, what the list does not know yet; call `then` if that was anything."""

    def fill() -> None:
        with contextlib.suppress(StorageError):  # whoever lists the sessions meets it
            if store.fill_counts() and then is not None:
                then()

    threading.Thread(target=fill, name="mewcode-counts", daemon=True).start()
