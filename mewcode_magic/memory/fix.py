"""What `%memory check` lists and can be mended with nothing lost: it is mended, each change with its undo.

What only a person can decide stays: which of two memories of one name is meant, whether an old one still
holds, whose a file is that git tracks.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from mewcode_magic.errors import InvalidMemory, StorageError
from mewcode_magic.files import shown, write_atomic
from mewcode_magic.memory.document import (
    NO_FRONTMATTER,
    NO_TYPE,
    NOT_YAML,
    read_document,
    write_document,
)
from mewcode_magic.memory.folder import MemoryFolder, ProblemKind
from mewcode_magic.memory.names import has_name
from mewcode_magic.memory.places import MemoryPlaces
from mewcode_magic.memory.record import PLACE_OF, PLACES, Memory, Place
from mewcode_magic.memory.screened import refuse_credentials
from mewcode_magic.memory.similar import duplicates, words_of
from mewcode_magic.memory.validity import validate

__all__ = ["MENDED_KINDS", "Mended", "mend", "places_to_mend"]

GIT_SECONDS = 2.0

MENDED_KINDS: frozenset[ProblemKind] = frozenset(
    {"dangling", "not indexed", "stale index", "frontmatter", "misplaced", "expired", "same body"}
)
"""Kinds of problems of which at least some can be mended."""


@dataclass(frozen=True, slots=True)
class Mended:
    """One problem that is gone; `text` is one line, without the path: what was done, and how to undo it."""

    kind: ProblemKind
    path: Path
    text: str


def places_to_mend(places: MemoryPlaces) -> set[Place]:
    """Return the places whose folders are there, and those that something in them belongs to."""
    # Path.is_dir raises where a folder above it cannot be searched.
    there = {p for p in PLACES if os.path.isdir(places[p].path) and not places[p].refusal()}  # noqa: PTH112
    return there | {PLACE_OF[memory.type] for memory in _strays(places)}


def mend(places: MemoryPlaces, now: datetime) -> list[Mended]:
    """Mend what can be mended. Needs the locks of `places_to_mend`.

    What cannot be moved or written stays as it is, and the next check lists it again.
    """
    steps = (
        _bury_expired(places, now),
        _complete(places),
        _bury_duplicates(places, now),
        _move_home(places, now),
        _rewrite_indexes(places),
    )
    return [mended for step in steps for mended in step]


def _bury_expired(places: MemoryPlaces, now: datetime) -> Iterator[Mended]:
    for memory in places.all_memories():
        if memory.path and memory.is_expired(now):
            with contextlib.suppress(StorageError):
                places[memory.place].trash.take(memory.path)
                yield Mended("expired", memory.path, f"moved to the trash; undo: {_restore(memory)}")


def _complete(places: MemoryPlaces) -> Iterator[Mended]:
    """Write the frontmatter of files that lack it, or have one that is no YAML."""
    for folder in places.folders():
        contents = folder.contents()
        faulty = {problem.path for problem in contents.problems if problem.kind == "frontmatter"}
        for memory in contents.memories:
            if memory.path not in faulty or memory.path is None:
                continue
            with contextlib.suppress(InvalidMemory, StorageError):
                if text := _completed(folder, memory):
                    folder.write(memory.path, text)
                    done = f"wrote name {memory.name!r}, description and type {memory.type} into it"
                    yield Mended("frontmatter", memory.path, f"{done}; undo: {_restore(memory)}")


def _completed(folder: MemoryFolder, memory: Memory) -> str:
    """Return the text of a memory's file with a whole frontmatter, "" if something would be lost by it.

    Raises:
        InvalidMemory: it has no body, or is otherwise none that may be written.
        StorageError: the file cannot be read.
    """
    if memory.path is None or memory.body.startswith("---"):  # a frontmatter without an end, or none at all
        return ""
    standing, clean = folder.read(memory.path)
    now, before = read_document(standing, memory.slug, memory.place)
    if now != memory:  # changed since the folder was read
        return ""
    dated = memory.updated or memory.created
    whole = replace(memory, updated=memory.updated if dated else memory.modified)
    validate(whole)
    text = write_document(whole)
    again, after = read_document(text, memory.slug, memory.place)
    header = _header(standing)
    said = whole if memory.description in header else replace(whole, description="")
    keeps = again.body == memory.body and words_of(header) <= words_of(_header(write_document(said)))
    can_mend = clean and "\0" not in standing and set(before) <= {NO_FRONTMATTER, NO_TYPE, NOT_YAML}
    return text if can_mend and keeps and not after else ""


def _header(text: str) -> str:
    """Return what stands between the first two rules of a file's text."""
    return text.partition("\n---")[0] if text.startswith("---") else ""


def _strays(places: MemoryPlaces) -> list[Memory]:
    """Return the project's memories that are about the person.

    In the home's folder, those about a project stay: the home is a project of its own, and which one else
    they could be about only a person knows.
    """
    if places.shared:
        return []
    return [memory for memory in places.memories("project") if PLACE_OF[memory.type] == "user"]


def _move_home(places: MemoryPlaces, now: datetime) -> Iterator[Mended]:
    """Move memories about the person to the home, but not what came with the repository."""
    ours, own = places["project"], places["user"]
    for memory in _strays(places):
        if memory.path is None or _is_tracked(memory.path):
            continue
        standing = places.memories("user")
        with contextlib.suppress(InvalidMemory, StorageError):
            twins = [m for m in standing if m.body_key == memory.body_key and not m.is_expired(now)]
            if twins:
                ours.trash.take(memory.path)
                text = f"moved to the trash, for the user memory {twins[0].name!r} says the same"
                yield Mended("misplaced", memory.path, f"{text}; undo: {_restore(memory)}")
            elif not any(has_name(m, memory.name) for m in standing):
                validate(memory)
                refuse_credentials(memory, None)
                target = own.free_path(memory.slug.rpartition("/")[2])
                write_atomic(target, write_document(replace(memory, updated=memory.when)))
                try:
                    ours.trash.take(memory.path)
                except StorageError:
                    target.unlink()
                    raise
                undo = f"{_restore(memory)}, then %forget --type {memory.type} {target.stem}"
                yield Mended("misplaced", memory.path, f"moved to {shown(target)}; undo: {undo}")


def _bury_duplicates(places: MemoryPlaces, now: datetime) -> Iterator[Mended]:
    """Put away what a folder holds twice; of two folders, one may be a team's and the other one's own."""
    for folder in places.folders():
        live = [m for m in places.all_memories() if places[m.place] is folder and not m.is_expired(now)]
        for kept, memory in duplicates(live):
            if memory.path:
                with contextlib.suppress(StorageError):
                    folder.trash.take(memory.path)
                    text = f"moved to the trash, for {kept.slug}.md says the same"
                    yield Mended("same body", memory.path, f"{text}; undo: {_restore(memory)}")


def _rewrite_indexes(places: MemoryPlaces) -> Iterator[Mended]:
    for folder in places.folders():
        path = folder.index_path
        with contextlib.suppress(StorageError):
            before = folder.index_text()[0]
            kept = folder.trash.keep(path) if before else None
            folder.mend_index()
            after = folder.index_text()[0]
            if after != before:
                old = f"; as it was: {shown(kept.path)}" if kept else ""
                yield Mended("stale index", path, f"written anew from the files{old}")
            elif kept:
                folder.trash.discard(kept)


def _restore(memory: Memory) -> str:
    return f"%memory restore {memory.slug}"


def _is_tracked(path: Path) -> bool:
    """Return whether a repository has the file, so that others have it too; True where git cannot tell."""
    if not any(os.path.lexists(folder / ".git") for folder in path.parents):
        return False
    # What a repository's own settings would start is none of our business.
    command = ["git", "-C", str(path.parent), "-c", "core.fsmonitor=false", "ls-files", "--error-unmatch"]
    try:
        status = subprocess.run(  # noqa: S603 - a fixed command; the path is one argument of it
            [*command, "--", path.name], check=False, capture_output=True, timeout=GIT_SECONDS
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return True
    return status == 0
