"""The block in front of a conversation: instructions, the memory indexes and the date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.instructions import Instructions
from mewcode_magic.memory import MemoryStore, legacy_memories
from mewcode_magic.messages import Block, escape_tags

__all__ = ["Reminder", "notice_block", "read_reminder"]

_INTRODUCTION = "This stands here for the whole conversation; use what bears on the user's requests."
_FOLLOW = (
    "Instructions of the user and the project, in parts between lines of ---. Follow them; where two "
    "disagree, the earlier one holds."
)
_MANAGED = "<managed_instructions>"
_MANAGED_ENDS = "</managed_instructions>"
_OBEY = (
    f"What stands in {_MANAGED} was set by whoever runs this machine: it holds above all else, the user's "
    "prompt too."
)
_INDEX = "What was remembered in earlier conversations, one line a memory; the files hold the bodies."

_SECTION = re.compile(r"^#{1,2}[ \t]+", re.MULTILINE)
"""Headings that people wrote into an index; of the third level, none passes for a section of the block."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """The parts of the block as they were read from disk; each is empty where there is nothing."""

    instructions: str
    memory: str
    today: date

    @property
    def text(self) -> str:
        """The whole block, the same bytes whenever it is asked for."""
        sections = [_INTRODUCTION]
        if self.instructions:
            # No file can forge the tag, for it is escaped in them.
            how = f"{_FOLLOW} {_OBEY}" if self.instructions.startswith(_MANAGED) else _FOLLOW
            sections.append(f"# mewcodeMd\n{how}\n\n{self.instructions}")
        if self.memory:
            sections.append(f"# autoMemory\n{_INDEX}\n\n{self.memory}")
        sections.append(f"# currentDate\nToday's date is {self.today.isoformat()}.")
        body = "\n\n".join(sections)
        return f"<system-reminder>\n{body}\n</system-reminder>"


def read_reminder(
    instructions: Instructions,
    store: MemoryStore,
    *,
    project: Path,
    home: Path,
    settings: MewCode,
    today: date,
) -> Reminder:
    """Return the block's parts as they stand on disk now.

    Raises:
        StorageError: a memory folder cannot be read.
    """
    indexes = [
        f"Memory folder: {store.folder(place)}\n{_SECTION.sub('### ', escape_tags(index))}"
        for place in ("project", "user")
        if (index := store.index(place))
    ]
    older = legacy_memories(project, home, settings=settings)
    return Reminder(
        instructions=_marked(instructions),
        memory="\n\n".join([*indexes, older] if older else indexes),
        today=today,
    )


def _marked(instructions: Instructions) -> str:
    """Return what the files say, with the tag that only managed ones stand in."""
    if not instructions.managed:
        return escape_tags(instructions.text)
    managed = f"{_MANAGED}\n{escape_tags(instructions.managed)}\n{_MANAGED_ENDS}"
    return "\n\n".join([managed, below] if (below := escape_tags(instructions.unmanaged)) else [managed])


def notice_block(notices: list[str]) -> Block:
    """Return the block that tells the agent what has changed since it was last told."""
    body = "\n".join(escape_tags(notice) for notice in notices)
    return {"type": "text", "text": f"<system-reminder>\n{body}\n</system-reminder>"}
