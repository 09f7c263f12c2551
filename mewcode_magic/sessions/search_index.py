"""The index of what was said in all sessions: a cache beside them that makes a search quick.

`sessions/.search.sqlite` holds, of every record that somebody said something in, its words without their
order (an FTS5 table without contents), and of every session up to where it was read. Of the texts themselves
it has nothing: they are read from the session's file again. Files only grow, so that only what is new of
them is read; one whose beginning has changed is read anew. Paths and machines do not occur in it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

import msgspec

from mewcode_magic.sessions.facts import skim, without_wrappers
from mewcode_magic.sessions.listing import SessionFile
from mewcode_magic.sessions.records import UNREADABLE, text_of
from mewcode_magic.words import TOKENIZER, words_of

__all__ = ["ROLES", "Place", "SearchIndex", "said", "said_by", "start_of"]

FORMAT = 1
"""Of the file, and of how texts are cut into words; an index of another format is built anew."""

PATIENCE = 2.0
"""Seconds that another process is waited for."""

BATCH = 4 * 1024 * 1024
"""Bytes of session files that are read in one transaction: what an interrupt loses, others wait for."""

ROLES = ("user", "assistant", "tool_result")
"""Who says something, by the number that a place has for it."""

_END = 4 * 1024
"""Bytes at the beginning, and before the place up to which a file was read, that have to be the same."""

SPARE = 100
"""Sessions that are gone, and whose words may stay in an index without any that are there."""

LONGEST_WORD = 64
"""Characters of a word; what is longer (an image in base64) is none that anybody looks for."""

# A row of the FTS5 table is a place: 29 bits for the session, 32 for the line, 2 for the role. FTS5 stores
# the distances between them, so that more bits would make a larger file.
_SESSION, _LINE = 34, 2
_ROLE_BITS = 3

MOST = 1 << _SESSION - _LINE
"""Bytes of a session's file; what stands beyond 4 GiB is not found."""

Place: TypeAlias = int
"""What somebody says on one line of a session's file; one number, for there are many."""

_TABLES = (
    "DROP TABLE IF EXISTS sessions",
    "DROP TABLE IF EXISTS said",
    """CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL,
    size INTEGER, mtime INTEGER, inode INTEGER, read INTEGER, ends BLOB)""",
    f"""CREATE VIRTUAL TABLE said USING fts5(words, content = '', detail = none, columnsize = 0,
    tokenize = '{TOKENIZER}')""",
    # Bytes that FTS5 gathers before it writes: more than a batch has, which then needs no merging.
    "INSERT INTO said(said, rank) VALUES ('hashsize', 16000000)",
    f"PRAGMA user_version = {FORMAT}",
)


class _State(NamedTuple):
    """A session's file as it was when it was read up to the byte `read`, with a digest of its ends then."""

    number: int
    size: int
    mtime: int
    inode: int
    read: int
    ends: bytes

    def is_of(self, stat: os.stat_result) -> bool:
        """Tell whether nothing has happened to the file since."""
        return (self.size, self.mtime, self.inode) == (stat.st_size, stat.st_mtime_ns, stat.st_ino)

    def is_beginning_of(self, descriptor: int, stat: os.stat_result) -> bool:
        """Tell whether the file has only grown since, or is a copy."""
        grown = self.inode == stat.st_ino and self.size < stat.st_size
        copied = (self.size, self.mtime) == (stat.st_size, stat.st_mtime_ns)
        return (grown or copied) and self.ends == _ends(descriptor, self.read)


def place_of(number: int, start: int, role: str) -> Place:
    """Return the place of what `role` says on the line that begins at the byte `start`."""
    return number << _SESSION | start << _LINE | ROLES.index(role)


def said_by(place: Place) -> tuple[int, int]:
    """Return the number of the session in which something is said, and of ROLES who says it."""
    return place >> _SESSION, place & _ROLE_BITS


def start_of(place: Place) -> int:
    """Return where in the file the line begins on which something is said."""
    return place >> _LINE & MOST - 1


def said(line: bytes) -> dict[str, str]:
    """Return what is said on a line of a session file, by role: no calls, thinking, images and markers."""
    texts: dict[str, list[str]] = {}
    for seen in skim(line):
        if seen.is_said:
            content = _decoded(seen.content)
            text = text_of(content)
            texts.setdefault(seen.kind, []).append(without_wrappers(text) if seen.kind == "user" else text)
            # Some programs record results as the API takes them.
            texts.setdefault("tool_result", []).extend(_results(content))
    return {role: text for role, parts in texts.items() if (text := "\n\n".join(filter(None, parts)))}


def _decoded(content: Any) -> Any:
    if not isinstance(content, msgspec.Raw):
        return content
    try:
        return msgspec.json.decode(bytes(content).decode("utf-8", "replace"))
    except UNREADABLE:
        return None


def _results(content: Any) -> Iterator[str]:
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                yield text_of(block.get("content"))


def _ends(descriptor: int, read: int) -> bytes:
    """Return a digest of the beginning of a file and of what stands before the byte `read`."""
    length = min(_END, read)
    return blake2b(
        os.pread(descriptor, length, 0) + os.pread(descriptor, length, read - length), digest_size=16
    ).digest()


class SearchIndex:
    """An open index. Every method raises `sqlite3.Error` if the index cannot be used."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @classmethod
    def at(cls, path: Path) -> SearchIndex:
        """Open the index in a file, which is made if it is missing; one that must not be written is read.

        Raises:
            sqlite3.Error: it cannot be opened.
            OSError: something else stands there.
        """
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
        address = f"file:{quote(str(path))}?mode=rw"
        return cls(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None))

    @classmethod
    def in_memory(cls) -> SearchIndex:
        """Make an index for one search."""
        return cls(sqlite3.connect(":memory:", isolation_level=None))

    def close(self) -> None:
        """Leave it as the last whole transaction left it."""
        self._database.close()

    def update(self, files: Sequence[SessionFile]) -> None:
        """Take in what is new in these files, which are all there are. Those that cannot be read stay out."""
        done: set[str] = set()
        while any(_plan(self._states(), files, done)):  # with nothing to do, it need not be writable
            self._execute("BEGIN IMMEDIATE")
            states = self._states()  # another process may have done some of it
            waiting, gone = _plan(states, files, done)
            for session_id in gone:
                self._execute("DELETE FROM sessions WHERE id = ?", session_id)
            if self._is_to_be_made():
                for statement in _TABLES:
                    self._execute(statement)
                states, waiting = {}, list(files)
                done.clear()
            room = BATCH
            for file in waiting:
                try:
                    taken, whole = self._take_in(file, states.get(file.id), room)
                except OSError:
                    taken, whole = 0, True
                if whole:
                    done.add(file.id)
                room -= taken
                if room <= 0:
                    break
            self._execute("COMMIT")

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Keep the index as it is for this reader, whoever begins it anew."""
        self._execute("BEGIN")
        yield
        self._execute("COMMIT")

    def sessions(self) -> dict[int, str]:
        """Return the sessions' ids by their numbers."""
        return {state.number: session_id for session_id, state in self._states().items()}

    def places(self, expression: str) -> list[Place]:
        """Return where an FTS5 expression holds, also in sessions that are gone."""
        rows = self._database.execute("SELECT rowid FROM said WHERE said MATCH ?", (expression,))
        return [place for (place,) in rows]

    # -- within ----------------------------------------------------------------------------------------

    def _execute(self, statement: str, *values: object) -> list[Any]:
        return self._database.execute(statement, values).fetchall()

    def _format(self) -> int:
        return int(self._execute("PRAGMA user_version")[0][0])

    def _states(self) -> dict[str, _State]:
        if self._format() != FORMAT:
            return {}
        rows = self._execute("SELECT id, number, size, mtime, inode, read, ends FROM sessions")
        return {session_id: _State(*rest) for session_id, *rest in rows}

    def _is_to_be_made(self) -> bool:
        """Tell whether the tables are missing, or hold more of what is gone than of what is there."""
        if self._format() != FORMAT:
            return True
        given = self._execute("SELECT seq FROM sqlite_sequence WHERE name = 'sessions'")
        (there,) = self._execute("SELECT count(*) FROM sessions")[0]
        return bool(given) and given[0][0] - there > there + SPARE

    def _take_in(self, file: SessionFile, known: _State | None, room: int) -> tuple[int, bool]:
        """Index what is new in a file, about `room` bytes; return how many, and whether that was all.

        Raises:
            OSError: the file cannot be read.
        """
        descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as reader:
            stat = os.fstat(descriptor)
            if known is not None and known.is_beginning_of(descriptor, stat):
                number, start = known.number, known.read
            else:
                self._execute("DELETE FROM sessions WHERE id = ?", file.id)
                self._execute("INSERT INTO sessions (id) VALUES (?)", file.id)
                number, start = self._execute("SELECT last_insert_rowid()")[0][0], 0
            rows: list[tuple[Place, str]] = []
            reader.seek(start)
            end, whole = start, False
            while end - start < room:
                line = reader.readline()
                whole = not line or end >= MOST or (not line.endswith(b"\n") and not _is_sound(line))
                if whole:
                    break
                for role, text in said(line).items():
                    words = words_of(text)
                    if max(map(len, words), default=0) > LONGEST_WORD:
                        words = {word for word in words if len(word) <= LONGEST_WORD}
                    rows.append((place_of(number, end, role), " ".join(words)))
                end += len(line)
            self._database.executemany("INSERT INTO said(rowid, words) VALUES (?, ?)", rows)
            self._execute(
                "UPDATE sessions SET size = ?, mtime = ?, inode = ?, read = ?, ends = ? WHERE number = ?",
                stat.st_size if whole else end,
                stat.st_mtime_ns,
                stat.st_ino,
                end,
                _ends(descriptor, end),
                number,
            )
        return end - start, whole


def _plan(
    states: dict[str, _State], files: Sequence[SessionFile], done: AbstractSet[str]
) -> tuple[list[SessionFile], AbstractSet[str]]:
    """Return which files are to be read, those that are `done` left out, and which sessions are gone."""
    waiting = [
        file
        for file in files
        if file.id not in done and not ((known := states.get(file.id)) and known.is_of(file.stat))
    ]
    return waiting, states.keys() - {file.id for file in files}


def _is_sound(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        return False
    return True
