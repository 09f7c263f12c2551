"""One memory as a value: its types and where they belong, its slug, its age."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias

__all__ = ["BODY_CHARS", "PLACES", "PLACE_OF", "RESERVED", "TYPES", "Memory", "Place", "moment", "slug_of"]

Place: TypeAlias = Literal["user", "project"]
"""`user` is the folder in the MewCode home, `project` the one in the project."""

PLACES: tuple[Place, ...] = ("user", "project")
PLACE_OF: dict[str, Place] = {
    "user": "user",
    "feedback": "user",
    "project": "project",
    "reference": "project",
}
TYPES = tuple(PLACE_OF)

BODY_CHARS = 10_000
"""Characters of one body that are sent; the agent reads the rest from the file."""

SLUG_LENGTH = 64
"""Characters of a slug before its hash."""

RESERVED = frozenset(
    {"memory", "con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
"""The index is `MEMORY.md`, and Windows keeps the rest for devices, whatever the ending."""


FIRST_YEAR, LAST_YEAR = 2, 9998
"""Years whose times can be shown in every time zone."""

_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Memory:
    """One thing to remember.

    Texts are normalised, so that what is written is what is read back: name and description are one line,
    the body has Unix line ends and nothing blank around it. Times are aware, to the millisecond; one without
    an offset is taken as local. Two memories are equal when their content is, wherever they stand.
    """

    name: str
    description: str
    """When it is of use: all that is seen of it until the body is read."""
    type: str
    """`user`, `feedback`, `project` or `reference`; it decides the place."""
    body: str
    created: datetime | None = field(default=None, kw_only=True)
    updated: datetime | None = field(default=None, kw_only=True)
    expires: datetime | None = field(default=None, kw_only=True)
    """From then on it is neither sent nor recalled."""
    source: str | None = field(default=None, kw_only=True)
    """The id of the session that it came from."""
    extra: dict[str, Any] = field(default_factory=dict, hash=False, kw_only=True)
    """The file's other keys, which an update keeps."""
    path: Path | None = field(default=None, compare=False, kw_only=True)
    """The file that it was read from or written to."""
    found_in: Place | None = field(default=None, compare=False, kw_only=True)
    """The place of that file; None for a memory that is not written yet."""
    file_slug: str | None = field(default=None, compare=False, kw_only=True)
    """That file's path below its memory folder, without `.md`."""
    modified: datetime | None = field(default=None, compare=False, kw_only=True)
    """When the file last changed."""

    def __post_init__(self) -> None:
        """Normalise.

        Raises:
            ValueError: a time is none that `moment` reads.
        """
        texts = {
            "name": unicodedata.normalize("NFC", _line(self.name)),
            "description": _line(self.description),
            "body": _text(self.body),
        }
        times = {
            name: moment(value, end_of_day=name == "expires")
            for name in ("created", "updated", "expires")
            if (value := getattr(self, name)) is not None
        }
        for name, normal in {**texts, **times}.items():
            object.__setattr__(self, name, normal)

    @property
    def slug(self) -> str:
        """What its file is called, without `.md`; before it is written, what follows from the name."""
        return self.file_slug or slug_of(self.name)

    @property
    def place(self) -> Place:
        """Where it stands, or would be written."""
        return self.found_in or PLACE_OF.get(self.type, "project")

    @property
    def when(self) -> datetime | None:
        """The moment from which its age counts: `updated`, else `created`, else the file's time."""
        return self.updated or self.created or self.modified

    @property
    def recency(self) -> datetime:
        """The same to sort by: what has no time at all is the oldest."""
        return self.when or _EARLIEST

    @functools.cached_property
    def body_key(self) -> str:
        """The body without case and white space: two memories with the same one say the same."""
        return "".join(self.body.split()).casefold()

    def age(self, now: datetime) -> timedelta:
        """Return how old it is, at least 0; what has no time at all is new."""
        return max(now - self.when, timedelta()) if self.when else timedelta()

    def is_expired(self, now: datetime) -> bool:
        """Return whether its time has passed."""
        return self.expires is not None and self.expires <= now


@functools.lru_cache(maxsize=4096)
def slug_of(name: str) -> str:
    """Return the file name, without `.md`, for a memory's name.

    ASCII letters and digits in lower case, joined by hyphens; where other characters were dropped, it was
    cut, or the name is reserved, the first 8 hex digits of the name's SHA-1 follow, so that distinct names
    do not share a file.
    """
    plain = unicodedata.normalize("NFC", _line(name))
    kept = re.sub(r"[\s_-]+", "-", re.sub(r"[^A-Za-z0-9\s_-]", "", plain)).strip("-").lower()
    cut = kept[:SLUG_LENGTH].rstrip("-")
    if cut and cut == kept and kept not in RESERVED and not re.search(r"[^A-Za-z0-9\s_-]", plain):
        return cut
    digest = hashlib.sha1(plain.encode("utf-8"), usedforsecurity=False).hexdigest()[:8]
    return f"{cut or 'memory'}-{digest}"


def _line(text: str) -> str:
    """Return `text` as one line of printable characters, its white space single spaces."""
    return " ".join("".join(c if c.isprintable() or c in _JOINERS else _instead(c) for c in text).split())


_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""Emoji and some scripts are written with them; other invisible characters only hide things."""


def _instead(character: str) -> str:
    # A lone surrogate, as in a file name that is not UTF-8, cannot be written; it should not vanish either.
    return "\N{REPLACEMENT CHARACTER}" if "\ud800" <= character <= "\udfff" else " "


def _text(text: str) -> str:
    """Return `text` with Unix line ends, nothing blank around it, and nothing that a request may not hold."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"[\x00\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text).strip()


def moment(value: object, *, end_of_day: bool = False) -> datetime:
    """Return an aware time for an ISO 8601 text, a date or a time.

    A bare date is its first moment, or with `end_of_day` its last, in local time.

    Raises:
        ValueError: it is none of these, or at the very ends of the calendar.
    """
    if isinstance(value, str):
        text = value.strip()
        value = date.fromisoformat(text) if len(text) <= len("2026-01-01") else datetime.fromisoformat(text)
    if isinstance(value, datetime):
        stamp = value
    elif isinstance(value, date):
        stamp = datetime.combine(value, time.max if end_of_day else time.min)
    else:
        raise ValueError(f"{value!r} is no date or time")  # noqa: TRY004 - it is a value from a file
    if not FIRST_YEAR <= stamp.year <= LAST_YEAR:
        raise ValueError(f"the year {stamp.year} is out of range")
    stamp = stamp.replace(microsecond=stamp.microsecond // 1000 * 1000)
    return stamp.astimezone() if stamp.tzinfo is None else stamp
