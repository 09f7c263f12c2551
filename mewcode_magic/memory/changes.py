"""What is different between two looks at the store."""

from __future__ import annotations

from dataclasses import dataclass

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import one_line
from mewcode_magic.files import shown
from mewcode_magic.memory.record import Memory

__all__ = ["Changes"]

MAX_NOTICES = 20
"""Lines about changes, such as those of a whole branch checked out; what is beyond is counted."""


@dataclass(frozen=True)
class Changes:
    """Memories that came, changed and went."""

    added: tuple[Memory, ...] = ()
    changed: tuple[Memory, ...] = ()
    """As they are now."""
    removed: tuple[Memory, ...] = ()
    """As they were: deleted, moved to the other place, or expired."""

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    @classmethod
    def between(cls, before: dict[str, Memory], after: dict[str, Memory]) -> Changes:
        """Return what happened between two snapshots."""
        return cls(
            added=tuple(memory for key, memory in after.items() if key not in before),
            changed=tuple(memory for key, memory in after.items() if before.get(key, memory) != memory),
            removed=tuple(memory for key, memory in before.items() if key not in after),
        )

    def notices(self) -> list[str]:
        """Return a line for each change, for the agent and the user; many are cut to a number.

        Credentials are masked, for files change by hand.
        """
        lines = [f"New {_introduced(memory)}" for memory in self.added]
        lines += [f"Changed {_introduced(memory)}" for memory in self.changed]
        lines += [
            f"The {memory.type} memory {memory.name!r} is gone: it holds no longer."
            for memory in self.removed
        ]
        told = [one_line(mask_credentials(line)) for line in lines[:MAX_NOTICES]]
        more = len(lines) - len(told)
        return [*told, f"{more} more memories changed."] if more else told


def _introduced(memory: Memory) -> str:
    file = shown(memory.path) if memory.path else f"{memory.slug}.md"
    return f"{memory.type} memory {memory.name!r} ({file}): {memory.description}"
