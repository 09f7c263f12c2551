"""How much room a model's window leaves: when a conversation is compacted, and how much of it is kept."""

from __future__ import annotations

from dataclasses import dataclass

from mewcode_magic.config import MewCode

__all__ = ["Room"]


@dataclass(frozen=True, slots=True)
class Room:
    """Limits of one conversation, in tokens.

    Of a small window, of which the reserve and the margins would leave little, half is filled before it is
    compacted, and three quarters before no prompt is taken.
    """

    window: int
    compacts_above: int
    """A conversation that is longer is compacted by itself."""
    refuses_above: int
    """One that is longer takes no prompt where it is not."""
    keeps: int
    """What a compaction keeps word for word of the latest messages, if these are enough messages."""
    keeps_most: int

    @classmethod
    def of(cls, window: int, settings: MewCode) -> Room:
        """Return the room of a window of so many tokens."""
        usable = window - settings.output_reserve_tokens
        compacts_above = max(usable - settings.auto_compact_safety_margin, window // 2)
        keeps_most = min(settings.keep_max_tokens, compacts_above // 2)
        return cls(
            window=window,
            compacts_above=compacts_above,
            refuses_above=max(usable - settings.manual_compact_safety_margin, window * 3 // 4),
            keeps=min(settings.keep_recent_tokens, keeps_most),
            keeps_most=keeps_most,
        )
