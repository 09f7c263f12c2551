"""Memories from elsewhere: the older single files, a memory folder of Claude Code, or any Markdown.

Each becomes a memory of its own, by the rules of every save: nothing is overwritten, and a text that stands
already is not written again, so that importing twice changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from mewcode_magic.errors import InvalidMemory, StorageError, one_line
from mewcode_magic.files import shown, storage_errors
from mewcode_magic.memory.document import first_sentence, read_document
from mewcode_magic.memory.explicit import memory_from_text
from mewcode_magic.memory.folder import MemoryFolder, changed_at, real
from mewcode_magic.memory.index import IndexLine
from mewcode_magic.memory.legacy import FILE_NAME, legacy_files, legacy_items
from mewcode_magic.memory.names import free_name
from mewcode_magic.memory.record import PLACE_OF, Memory, Place
from mewcode_magic.memory.screened import refuse_credentials
from mewcode_magic.memory.store import MemoryStore
from mewcode_magic.memory.validity import validate

__all__ = ["Imported", "import_memories", "import_older_files"]

MOST_FILES = 2_000
"""Markdown files of a folder that is imported; more are no memories but somebody's documents."""

READS = 3
"""Times that an older file is read again because a program wrote to it meanwhile."""

_FIRST_TYPE: dict[Place, str] = {"user": "user", "project": "project"}


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of what was to be imported; on a dry run, what would."""

    saved: tuple[Memory, ...] = ()
    there: tuple[Memory, ...] = ()
    """Memories that say already what was to be imported."""
    left_out: tuple[str, ...] = ()
    """One line each: where it stands, and why it was left out."""
    renamed: tuple[Path, ...] = ()
    """The older files, as they are called now."""

    def __add__(self, other: Imported) -> Imported:
        return Imported(
            self.saved + other.saved,
            self.there + other.there,
            self.left_out + other.left_out,
            self.renamed + other.renamed,
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A memory that could be written, and where it was read."""

    memory: Memory
    where: str


def import_older_files(
    store: MemoryStore, project: Path, home: Path, *, now: datetime, dry_run: bool = False
) -> Imported:
    """Turn each item of the older memory files into a memory, and rename the files to `….imported`.

    What is left out still stands in the renamed file. A file of which something could not be written, for a
    full disk or the like, keeps its name.
    """
    result = Imported()
    for place, path in legacy_files(project, home).items():
        if os.path.lexists(path):
            result += _import_older_file(store, path, place, now=now, dry_run=dry_run)
    return result


def import_memories(store: MemoryStore, path: Path, *, now: datetime, dry_run: bool = False) -> Imported:
    """Import a Markdown file, or all in a folder and its subfolders, from wherever they are.

    Links that lead out of the folder are not followed, and nothing is changed there.

    Raises:
        StorageError: nothing is there, it is no Markdown, or far too much.
    """
    with storage_errors("import", path):
        path = Path(os.path.realpath(path, strict=True))
    if path.is_dir():
        found, left_out = _in_folder(path, now)
    elif path.suffix.lower() == ".md":
        found, left_out = _in_file(path, now)
    else:
        raise StorageError(f"cannot import {shown(path)}: it is no folder and no Markdown file (.md)")
    result, _ = _written(store, found, now=now, dry_run=dry_run)
    return Imported(left_out=tuple(left_out)) + result


def _import_older_file(
    store: MemoryStore, path: Path, place: Place, *, now: datetime, dry_run: bool
) -> Imported:
    result = Imported()
    for _ in range(READS):
        try:
            text = _text(real(path))
        except (InvalidMemory, StorageError) as error:
            return Imported(left_out=(f"{shown(path)}: {error}",))
        written, whole = _written(store, _items(path, text, now, place), now=now, dry_run=dry_run)
        own = {memory.path for memory in result.saved}
        there = tuple(memory for memory in written.there if memory.path not in own)
        result = Imported(result.saved + written.saved, there, written.left_out)
        if dry_run or not whole:
            break
        try:
            if _text(real(path)) == text:
                return replace(result, renamed=(_renamed(path),))
        except (InvalidMemory, StorageError) as error:
            if os.path.lexists(path):  # else another process imported it too
                kept = f"{shown(path)} keeps its name: {error}"
                return replace(result, left_out=(*result.left_out, kept))
            break
    return result


def _text(path: Path) -> str:
    """Return the text of a file that is no link.

    Raises:
        InvalidMemory: it is empty, or no text.
        StorageError: it cannot be read, or is too large.
    """
    text, clean = MemoryFolder(path.parent, "project").read(path)
    if not clean or "\0" in text:
        raise InvalidMemory("it is not UTF-8 text")
    if not text.strip():
        raise InvalidMemory("it is empty")
    return text


def _renamed(path: Path) -> Path:
    """Rename an older file so that it is not read any more."""
    number, target = 1, path.with_name(f"{path.name}.imported")
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{path.name}.imported-{number}")
    with storage_errors("rename", path):
        path.rename(target)
    return target


def _items(path: Path, text: str, now: datetime, place: Place | None = None) -> list[_Found]:
    """Return the items of an older memory file, which is the one of `place`.

    Under a heading that is not known, the words decide, but not that it belongs to the other place.
    """
    changed = _changed(path)
    found = []
    for item in legacy_items(text):
        memory = memory_from_text(item.text, type=item.type or None, now=now)
        if place and not item.type and PLACE_OF[memory.type] != place:
            memory = replace(memory, type=_FIRST_TYPE[place])
        dated = replace(memory, created=changed, updated=changed)
        found.append(_Found(dated, f"{shown(path)}, line {item.line}"))
    return found


def _in_folder(path: Path, now: datetime) -> tuple[list[_Found], list[str]]:
    """Return the memories of a folder, and a line on each file that cannot be imported."""
    _refuse_if_huge(path)
    folder = MemoryFolder(path, "project")
    contents = folder.contents()
    lines = {line.slug: line for line in folder.index_lines()}
    unreadable = [p for p in contents.problems if p.kind in ("unreadable", "encoding")]
    left_out = [f"{shown(p.path)}: {p.text}" for p in unreadable]
    found = []
    for memory in contents.memories:
        if memory.path is None or memory.path in {p.path for p in unreadable}:
            continue
        try:
            made = _imported(memory, _text(real(memory.path)), lines.get(memory.slug), now)
            found.append(_Found(made, shown(memory.path)))
        except (InvalidMemory, StorageError) as error:
            left_out.append(f"{shown(memory.path)}: {error}")
    notes = [line for line in folder.index_lines() if line.slug is None and first_sentence(line.text)]
    if any(not line.text.startswith("#") for line in notes):
        text = "its own text is no memory; name the file itself to import it as one"
        left_out.append(f"{shown(folder.index_path)}: {text}")
    return found, left_out


def _in_file(path: Path, now: datetime) -> tuple[list[_Found], list[str]]:
    try:
        text = _text(path)
        if path.name == FILE_NAME:
            return _items(path, text, now), []
        memory, _ = read_document(text, path.stem, "project", modified=_changed(path))
        return [_Found(_imported(memory, text, None, now), shown(path))], []
    except (InvalidMemory, StorageError) as error:
        return [], [f"{shown(path)}: {error}"]


def _imported(memory: Memory, text: str, line: IndexLine | None, now: datetime) -> Memory:
    """Return the memory of a file's text, read as the project's, as a new one.

    What its file does not say, its line in the index does, and else its text.

    Raises:
        InvalidMemory: it holds nothing, or its time is over.
    """
    if not memory.body:
        raise InvalidMemory("it has no text besides its frontmatter")
    if memory.is_expired(now):
        raise InvalidMemory("it has expired")
    name, description, kind = memory.name, memory.description, memory.type
    # What is another for another file and place, the text itself does not say.
    other, _ = read_document(text, "other", "user")
    if other.type != kind:
        kind = memory_from_text(memory.body, now=now).type
    if line and line.title and other.name != name:
        name = line.title
    if line and line.description and description == first_sentence(memory.body):
        description = line.description
    return replace(
        memory,
        name=name,
        description=description or one_line(memory.body),
        type=kind,
        created=memory.created or memory.when,
        updated=memory.when,
        path=None,
        found_in=None,
        file_slug=None,
        modified=None,
    )


def _changed(path: Path) -> datetime | None:
    with storage_errors("read", path):
        return changed_at(path.stat())


def _refuse_if_huge(path: Path) -> None:
    count = 0
    for _, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        count += sum(name.endswith(".md") and not name.startswith(".") for name in files)
        if count > MOST_FILES:
            raise StorageError(
                f"cannot import {shown(path)}: it holds more than {MOST_FILES:,} Markdown files; import its "
                "subfolders one by one"
            )


def _written(
    store: MemoryStore, found: Iterable[_Found], *, now: datetime, dry_run: bool
) -> tuple[Imported, bool]:
    """Write what was found, and return what became of it, and whether nothing failed for want of a disk."""
    saved: list[Memory] = []
    there: list[Memory] = []
    left_out: list[str] = []
    broken: dict[Place, str] = {}
    standing = store.list()
    keys = {memory.body_key: memory for memory in standing if not memory.is_expired(now)}
    for item in found:
        memory, place = item.memory, PLACE_OF[item.memory.type]
        if reason := broken.get(place):
            left_out.append(f"{item.where}: {reason}")
            continue
        try:
            validate(memory)
            if twin := keys.get(memory.body_key):
                there.append(twin)
                continue
            if dry_run:
                refuse_credentials(memory, None)
                memory, is_new = replace(memory, name=free_name([*standing, *saved], memory.name)), True
            else:
                done = store.save(memory, rename_if_taken=True)
                memory, is_new = done.memory, done.action != "unchanged"
            keys[memory.body_key] = memory
            (saved if is_new else there).append(memory)
        except InvalidMemory as error:
            left_out.append(f"{item.where}: {error}")
        except StorageError as error:
            broken[place] = str(error)
            left_out.append(f"{item.where}: {error}")
    return Imported(tuple(saved), tuple(there), tuple(left_out)), not broken
