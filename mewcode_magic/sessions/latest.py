"""Which of a project's sessions can be gone on with: the latest that nobody has open."""

from __future__ import annotations

from collections.abc import Iterator

from mewcode_magic.sessions.meta import SessionInfo
from mewcode_magic.sessions.store import SessionStore

__all__ = ["free_sessions"]


def free_sessions(
    store: SessionStore, *, but: str | None = None, first_of: str | None = None
) -> Iterator[SessionInfo]:
    """Yield the sessions that are not open elsewhere, the latest first; none is looked at before its turn.

    `but` is the id of one to leave out. Those of the notebook `first_of` go before all others.

    Raises:
        StorageError: the folder, or a lock file, cannot be read.
    """
    infos = [info for info in store.list() if info.id != but]
    if first_of is not None:
        infos.sort(key=lambda info: info.notebook != first_of)
    for info in infos:
        if not store.is_open_elsewhere(info.id):
            yield info
