"""The instruction files: which there are, their order, what they bring in, and what joins later."""

from __future__ import annotations

from mewcode_magic.instructions.layers import (
    FILE_NAME,
    Instructions,
    is_instruction_file,
    load_instructions,
)
from mewcode_magic.instructions.rules import Rule
from mewcode_magic.instructions.scoped import Joined, ScopedInstructions, Source, split_joined

__all__ = [
    "FILE_NAME",
    "Instructions",
    "Joined",
    "Rule",
    "ScopedInstructions",
    "Source",
    "is_instruction_file",
    "load_instructions",
    "split_joined",
]
