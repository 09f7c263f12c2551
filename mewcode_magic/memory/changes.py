"""What is different between two looks at the store."""

from __future__ import annotations

from dataclasses import dataclass

from mewcode_magic.memory.record import Memory

__all__ = ["Changes"]


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
