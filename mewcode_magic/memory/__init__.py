"""Long-term memory: plain Markdown files in two folders, their index, and what of them fits a question."""

from mewcode_magic.memory.record import PLACE_OF, PLACES, TYPES, Memory, Place, slug_of

__all__ = ["PLACES", "PLACE_OF", "TYPES", "Memory", "Place", "slug_of"]
