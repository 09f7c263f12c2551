"""Which memories of a project came from elsewhere: with a cloned repository, a pull, or by hand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from mewcode_magic.memory.first_use import unknown_memories
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import Memory

__all__ = ["Arrivals"]


class Arrivals:
    """The project's memories that the home neither wrote nor told of; none where one folder is both.

    What the home knows outlasts the process; where the home cannot be written, this object remembers it.
    """

    def __init__(self, places: MemoryPlaces, home: Path) -> None:
        self._places, self._home = places, home
        self._told: set[str] = set()

    def take(self) -> list[Memory]:
        """Return them, each once. Expired ones are not used, so that there is nothing to tell of them."""
        if self._places.shared:
            return []
        now = datetime.now(UTC)
        here = [memory for memory in self._places.memories("project") if not memory.is_expired(now)]
        unknown = self._unknown(memory.slug for memory in here)
        return [memory for memory in here if memory.slug in unknown]

    def expect(self, path: Path) -> None:
        """Make the project's file known that is about to be written.

        Before it is there: another process would tell the user that it came from elsewhere.
        """
        if not self._places.shared:
            folder = self._places["project"].path
            self._unknown([path.relative_to(folder).as_posix().removesuffix(".md")])

    def _unknown(self, slugs: Iterable[str]) -> set[str]:
        """Return those that are not known; from now on they are."""
        unknown = unknown_memories(self._home, self._places.project, slugs) - self._told
        self._told |= unknown
        return unknown
