"""Long-term memory: plain Markdown files in two folders, their index, and what of them fits a question."""

from mewcode_magic.memory.changes import Changes
from mewcode_magic.memory.condense import Condensation, merges_by_rule, propose_merges, write_merges
from mewcode_magic.memory.deleted import DeletedMemory
from mewcode_magic.memory.explicit import expiry, memory_from_text
from mewcode_magic.memory.extract import Extraction, extract
from mewcode_magic.memory.first_use import first_use
from mewcode_magic.memory.fix import MENDED_KINDS, Mended
from mewcode_magic.memory.folder import Problem
from mewcode_magic.memory.importing import Imported, import_memories, import_older_files
from mewcode_magic.memory.legacy import legacy_memories
from mewcode_magic.memory.proposal import Merge
from mewcode_magic.memory.ranking import rank_by_keywords
from mewcode_magic.memory.recall import Recall, Recalling
from mewcode_magic.memory.record import PLACE_OF, PLACES, TYPES, Memory, Place, slug_of
from mewcode_magic.memory.store import MemoryStore
from mewcode_magic.memory.writing import Saved

__all__ = [
    "MENDED_KINDS",
    "PLACES",
    "PLACE_OF",
    "TYPES",
    "Changes",
    "Condensation",
    "DeletedMemory",
    "Extraction",
    "Imported",
    "Memory",
    "MemoryStore",
    "Mended",
    "Merge",
    "Place",
    "Problem",
    "Recall",
    "Recalling",
    "Saved",
    "expiry",
    "extract",
    "first_use",
    "import_memories",
    "import_older_files",
    "legacy_memories",
    "memory_from_text",
    "merges_by_rule",
    "propose_merges",
    "rank_by_keywords",
    "slug_of",
    "write_merges",
]
