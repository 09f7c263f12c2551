"""What a memory must be to be written."""

from __future__ import annotations

import re

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import InvalidMemory
from mewcode_magic.memory.document import write_document
from mewcode_magic.memory.folder import MAX_BYTES
from mewcode_magic.memory.record import PLACE_OF, RESERVED, TYPES, Memory, Place

__all__ = ["place_of", "validate", "validate_slug"]

NAME_BYTES = 255
"""Bytes that file systems allow for one name."""
PATH_BYTES = 1_024
"""Bytes of a path below a memory folder; the trash puts some more in front of it."""

_BAD_IN_NAMES = re.compile(r'[\\:*?"<>|]')
"""What Windows does not have in names; the files may be shared."""

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
    name = mask_credentials(memory.name)
    if len(write_document(memory).encode()) > MAX_BYTES:
        raise InvalidMemory(f"the memory {name!r} is larger than {MAX_BYTES >> 20} MiB; shorten it")
    if line := next((line for line in memory.body.split("\n") if _PLACEHOLDER.fullmatch(line)), ""):
        words = mask_credentials(line.strip())
        raise InvalidMemory(
            f"the body of {name!r} holds {words!r}, which would replace what it stands for; "
            "give the whole body"
        )


def validate_slug(slug: str) -> None:
    """Refuse a path for a new file that could not stand below a memory folder everywhere.

    Raises:
        InvalidMemory: a part of it is empty, hidden, reserved or too long, or has characters that names lack.
    """
    for part in (parts := f"{slug}.md".split("/")):
        if not part.removesuffix(".md") or part.startswith(".") or part != part.strip().rstrip("."):
            fault = "is empty or hidden, or begins or ends in what file names should not"
        elif not part.isprintable() or _BAD_IN_NAMES.search(part):
            fault = "has characters that file names cannot have everywhere"
        elif part.split(".")[0].strip().lower() in RESERVED:
            fault = "is reserved"
        elif len(part.encode()) > NAME_BYTES:
            fault = f"is longer than {NAME_BYTES} bytes"
        else:
            continue
        raise InvalidMemory(
            f"a memory's file cannot be {slug + '.md'!r}: {part!r} {fault}; choose another name"
        )
    if len("/".join(parts).encode()) > PATH_BYTES:
        raise InvalidMemory(f"a memory's file cannot have a path of over {PATH_BYTES:,} bytes; shorten it")
