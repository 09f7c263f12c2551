"""What a memory must be to be written."""

from __future__ import annotations

import re

from mewcode_magic.errors import InvalidMemory
from mewcode_magic.memory.document import write_document
from mewcode_magic.memory.folder import MAX_BYTES
from mewcode_magic.memory.record import PLACE_OF, TYPES, Memory, Place

__all__ = ["place_of", "validate"]

_PLACEHOLDER = re.compile(
    r"\s*(?:\[|\(|<!--|\.\.|\N{HORIZONTAL ELLIPSIS})\W*"
    r"(?:(?:the )?(?:rest|remainder)\b.{0,40}\b(?:unchanged|as before|the same)"
    r"|unchanged|same as before|其余(?:内容)?(?:不变|同上))\W*",
    re.IGNORECASE,
)
"""A line that stands for text left out, as models write it: `[rest unchanged]`, in Chinese too."""


def place_of(type: str) -> Place:
    """Return where memories of a type stand.

    Raises:
        InvalidMemory: the type is unknown.
    """
    if type not in PLACE_OF:
        raise InvalidMemory(f"a memory's type is {', '.join(TYPES[:-1])} or {TYPES[-1]}, not {type!r}")
    return PLACE_OF[type]


def validate(memory: Memory) -> None:
    """Refuse what must not be written.

    Raises:
        InvalidMemory: a part is missing, too large or stands for text left out, or the type is unknown.
    """
    place_of(memory.type)
    missing = [part for part in ("name", "description", "body") if not getattr(memory, part)]
    if missing:
        raise InvalidMemory(
            f"a memory needs a name, a description and a body; it has no {' and no '.join(missing)}"
        )
    if len(write_document(memory).encode()) > MAX_BYTES:
        raise InvalidMemory(f"the memory {memory.name!r} is larger than {MAX_BYTES >> 20} MiB; shorten it")
    if line := next((line for line in memory.body.split("\n") if _PLACEHOLDER.fullmatch(line)), ""):
        raise InvalidMemory(
            f"the body of {memory.name!r} holds {line.strip()!r}, which would replace what it stands for; "
            "give the whole body"
        )
