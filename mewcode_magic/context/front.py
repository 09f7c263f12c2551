"""What stands in front of a conversation, and what has changed on disk since its agent was told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.context.reminder import Reminder, read_reminder
from mewcode_magic.files import shown
from mewcode_magic.instructions import Instructions, load_instructions
from mewcode_magic.memory import Memory, MemoryStore

__all__ = ["Front", "listed", "read_front"]

MOST_NAMES = 20
"""Files that are named one by one."""


@dataclass(frozen=True, slots=True)
class Front:
    """The block in front of a session, and the date and memories that the agent knows of.

    The block stays as it was read, byte for byte, so that the provider's prompt cache keeps hitting; what
    changes on disk reaches the agent as a notice.
    """

    instructions: Instructions
    reminder: Reminder
    told_date: date
    told_memories: dict[str, Memory]

    def news(self, store: MemoryStore) -> tuple[list[str], Front]:
        """Return what has changed since the agent was last told, and the front once it is told that."""
        today, memories = _today(), store.snapshot()
        notices = [f"Today's date is now {today.isoformat()}."] if today != self.told_date else []
        notices += store.changes(self.told_memories, memories).notices()
        return notices, replace(self, told_date=today, told_memories=memories)

    def learned(self, before: dict[str, Memory], after: dict[str, Memory]) -> Front:
        """Return the front once the agent knows what it changed itself between two snapshots."""
        kept = {
            key: memory for key, memory in self.told_memories.items() if key in after or key not in before
        }
        changed = {key: memory for key, memory in after.items() if before.get(key) != memory}
        return replace(self, told_memories=kept | changed)

    def uses(self, *, told: Iterable[Memory] = ()) -> str:
        """Return one line that names instruction files and memory folders; "" if there are none.

        `told`: memories that the user was told of otherwise.
        """
        files = listed(self.instructions.files)
        parts = [f"instructions from {files}"] if files else []
        paths = {memory.path for memory in told}
        folders = Counter(
            memory.path.parent
            for memory in self.told_memories.values()
            if memory.path and memory.path not in paths
        )
        parts += [
            f"{count} {'memory' if count == 1 else 'memories'} from {shown(folder)}"
            for folder, count in folders.items()
        ]
        return f"This project uses {', '.join(parts)}; %context shows what is sent." if parts else ""


def read_front(project: Path, home: Path, store: MemoryStore, settings: MewCode) -> Front:
    """Return the front as it stands on disk now.

    Raises:
        StorageError: a memory folder cannot be read.
    """
    memories = store.snapshot()  # before the index is read: a save in between is told rather than lost
    instructions = load_instructions(project, home, settings=settings)
    today = _today()
    reminder = read_reminder(instructions, store, project=project, home=home, settings=settings, today=today)
    return Front(instructions, reminder, today, memories)


def listed(paths: Sequence[Path]) -> str:
    """Return the names of files, of very many the first."""
    names = [shown(path) for path in paths[:MOST_NAMES]]
    more = len(paths) - len(names)
    return ", ".join([*names, f"{more:,} more"] if more else names)


def _today() -> date:
    return date.today()  # noqa: DTZ011 - the user's day
