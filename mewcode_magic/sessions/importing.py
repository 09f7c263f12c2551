"""Sessions from elsewhere as sessions of this project: transcripts of Claude Code, and other projects' files.

Each becomes a file of its own under a new id. Its first record is `imported`, with `{"from": path,
"sha256": digest}` of the file that it comes from, by which a second import of that file is known.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mewcode_magic.errors import SessionError, StorageError
from mewcode_magic.files import private_folder, reason, shown, storage_errors, write_atomic
from mewcode_magic.messages import Message
from mewcode_magic.project import mark_private
from mewcode_magic.sessions.claude_code import is_claude_code, read_claude_code
from mewcode_magic.sessions.encode import entries_of, marker_entry
from mewcode_magic.sessions.facts import one_line, survey
from mewcode_magic.sessions.ids import free_path
from mewcode_magic.sessions.listing import session_files
from mewcode_magic.sessions.meta import write_meta
from mewcode_magic.sessions.records import Dialect, Marker, read_line, values_in
from mewcode_magic.sessions.session import NAME_LENGTH
from mewcode_magic.sessions.store import SessionStore

__all__ = ["ImportedSession", "import_sessions"]

_ENDING = ".jsonl"

_FIRST_LINE = 8 * 1024
"""Bytes in which an `imported` record ends."""


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """What became of a file that was to be imported."""

    path: Path
    session_id: str = ""
    """The session that it is now, or was already; empty if it is none."""
    title: str = ""
    messages: int = 0
    skipped_lines: int = 0
    """Lines that could not be read, wholly or in part."""
    left_out: str = ""
    """Why nothing was done; empty if it was imported."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A file's records as lines of a session file, and how many of its own could not be read."""

    lines: list[bytes]
    dialect: Dialect
    skipped: int


def import_sessions(store: SessionStore, path: Path, *, again: bool = False) -> list[ImportedSession]:
    """Import a file, or all `.jsonl` files of a folder (not of its subfolders), as sessions of the project.

    Titles and times are kept. A file that was imported already is left out, also when it has grown since,
    unless `again` is set.

    Raises:
        SessionError: it is a file without a conversation, or a folder without such files.
        StorageError: it cannot be found, or a session cannot be written.
    """
    with storage_errors("import", path):
        path = Path(os.path.realpath(path, strict=True))
        is_folder = path.is_dir()
        files = (
            sorted(f for f in path.iterdir() if f.suffix == _ENDING and f.is_file()) if is_folder else [path]
        )
    if not files:
        raise SessionError(f"cannot import {shown(path)}: the folder itself holds no {_ENDING} file")
    earlier = _earlier(store.folder)
    results = [_import(store, file, earlier, again=again) for file in files]
    if not is_folder and not results[0].session_id:
        raise SessionError(f"cannot import {shown(path)}: {results[0].left_out}")
    return results


def _import(store: SessionStore, path: Path, earlier: dict[str, str], *, again: bool) -> ImportedSession:
    """Import a file, unless it is among the `earlier` ones, and add it to them."""
    done = ImportedSession(path)
    if path.parent == store.folder.resolve():
        return replace(done, session_id=path.stem, left_out="it is a session of this project")
    try:
        data = path.read_bytes()
    except OSError as error:
        return replace(done, left_out=reason(error))
    digest = hashlib.sha256(data).hexdigest()
    before = None if again else earlier.get(digest) or earlier.get(str(path))
    if before:
        changed = "" if digest in earlier else " and has changed since"
        why = f"it was imported already as {before}{changed}; --again imports it once more"
        return replace(done, session_id=before, left_out=why)
    source = _read(data.split(b"\n"), store.dialect)
    if source is None:
        return replace(done, left_out="it holds no conversation of MewCode or of Claude Code")
    line, _ = marker_entry("imported", {"from": str(path), "sha256": digest}, source.dialect)
    made = _write(store, [line, *source.lines], source.dialect)
    with storage_errors("read", made):
        facts = survey(made)
        with contextlib.suppress(StorageError):  # a cache, which the list does without
            write_meta(made.with_suffix(".meta"), made.stem, facts, made.stat())
    earlier[digest] = earlier[str(path)] = made.stem
    return replace(
        done,
        session_id=made.stem,
        title=facts.title,
        messages=facts.messages or 0,
        skipped_lines=source.skipped,
    )


def _earlier(folder: Path) -> dict[str, str]:
    """Return the sessions that were imported, by digest and by path of the files that they come from."""
    found: dict[str, str] = {}
    for file in session_files(folder):
        path = Path(file.path)
        with storage_errors("read", path), path.open("rb") as reader:
            start = reader.readline(_FIRST_LINE)
        if b'"imported"' not in start:
            continue
        for record in read_line(start).records:
            if isinstance(record, Marker) and record.kind == "imported" and isinstance(record.content, dict):
                names = (record.content.get("sha256"), record.content.get("from"))
                found |= {name: file.id for name in names if isinstance(name, str)}
    return found


def _read(lines: list[bytes], dialect: Dialect) -> _Source | None:
    """Return what a file holds, in `dialect` if it is in none of ours; None if nothing was said in it."""
    for line in lines:
        if any(map(is_claude_code, values_in(line)[0])):
            source = _foreign(lines, dialect)
            return source if any(map(_says_something, source.lines)) else None
        if _says_something(line):
            return _own(lines)
    return None


def _says_something(line: bytes) -> bool:
    return any(not isinstance(record, Marker) for record in read_line(line).records)


def _foreign(lines: list[bytes], dialect: Dialect) -> _Source:
    """Return the conversation of a transcript of Claude Code as lines."""
    transcript = read_claude_code(lines)
    written = []
    if title := one_line(transcript.title)[:NAME_LENGTH]:
        written.append(marker_entry("title", title, dialect)[0])
    for record in transcript.records:
        if isinstance(record, Message):
            written += [line for line, _ in entries_of(record, dialect)]
        else:
            written.append(marker_entry("compact_boundary", record.content, dialect, ts=record.ts)[0])
    return _Source(written, dialect, transcript.skipped)


def _own(lines: list[bytes]) -> _Source:
    """Return the lines of a session file as they are: in its dialect, with all that others put there."""
    dialect: Dialect = "role"
    skipped = 0
    kept = []
    for line in lines:
        found = read_line(line)
        skipped += found.lost
        dialect = found.dialect or dialect
        if line.strip():
            kept.append(line + b"\n")
    return _Source(kept, dialect, skipped)


def _write(store: SessionStore, lines: Sequence[bytes], dialect: Dialect) -> Path:
    """Write a session's file in one go, so that a crash leaves no half of it; return its path.

    Raises:
        StorageError: it cannot be written.
    """
    mark_private(store.project)
    path = free_path(private_folder(store.folder), dialect, ())
    write_atomic(path, b"".join(lines))
    return path
