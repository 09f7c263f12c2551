"""What of a place's index is sent, and how full it is."""

from __future__ import annotations

from datetime import UTC, datetime

from mewcode_magic.config import MewCode
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.memory.index import IndexLine, capped, merged, size
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import Place

__all__ = ["fullness", "sent_index"]


def sent_index(places: MemoryPlaces, place: Place, settings: MewCode) -> str:
    """Return the lines of a place's memories within the limits, the credentials in them masked, or ""."""
    lines, most = _live_lines(places, place), settings.index_max_bytes
    room = most
    while True:
        text = capped(lines, max_lines=settings.index_max_lines, max_bytes=room)
        masked = mask_credentials(text)
        excess = len(masked.encode()) - most  # masks can be longer than what they stand for
        if excess <= 0 or masked == text:
            return masked
        room -= excess


def fullness(places: MemoryPlaces, place: Place, settings: MewCode) -> list[str]:
    """Return a line that asks to condense a place's index if it is nearly full, else none."""
    count, total = size(_live_lines(places, place))
    most_lines, most_bytes = settings.index_max_lines, settings.index_max_bytes
    if max(count / most_lines, total / most_bytes) < settings.index_warn_ratio:
        return []
    lines, room = f"{count} of {most_lines} lines", f"{total:,} of {most_bytes:,} bytes"
    advice = "%memory condense merges what overlaps; beyond the limits the oldest are not sent"
    return [f"the {place} memory index has {lines} and {room}; {advice}"]


def _live_lines(places: MemoryPlaces, place: Place) -> list[IndexLine]:
    now = datetime.now(UTC)
    live = [memory for memory in places.memories(place) if not memory.is_expired(now)]
    return merged(places[place].index_lines(), live)
