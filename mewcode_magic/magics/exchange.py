"""`%sessions export` and `import`: a session as a file, to read or to go on with, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mewcode_magic.errors import CommandError
from mewcode_magic.files import absolute, shown, storage_errors, write_new
from mewcode_magic.magics.screen import counted

if TYPE_CHECKING:
    from mewcode_magic.sessions import SessionStore
    from mewcode_magic.sessions.importing import ImportedSession
    from mewcode_magic.sessions.records import Dialect

__all__ = ["FORMS", "export_session", "import_lines"]

FORMS = ("markdown", "notebook", "role", "typed")
"""What a session can be exported to: to read, to run, and as a session file of either dialect."""

MOST_LINES = 20
"""Files that are told one by one, of those that were imported and of those that were not."""

_ENDINGS = {"markdown": ".md", "notebook": ".ipynb"}


def export_session(store: SessionStore, session_id: str, path: str, *, form: str, force: bool) -> list[str]:
    """Write a session to a file and return the lines on it; an empty `path` is the working directory.

    Raises:
        CommandError: the form is none of `FORMS`, or the file would stand among the project's sessions.
        StorageError: something stands there and `force` is not set, or it cannot be written.
    """
    if form not in FORMS:
        raise CommandError(f"%sessions export: --to is {form!r}; it is one of {', '.join(FORMS)}")
    if form in ("role", "typed"):
        return _export_records(store, session_id, path, "role" if form == "role" else "typed", force=force)
    target = _target(store, path, f"{session_id}{_ENDINGS[form]}")
    info, messages = store.info(session_id), store.transcript(session_id)
    if form == "notebook":
        from mewcode_magic.render.notebook import notebook_of

        write_new({target: notebook_of(info, messages)}, overwrite=force)
        return [f"Exported session {session_id} as a notebook to {shown(target)}"]
    from mewcode_magic.render.document import document_of

    images = target.with_name(f"{target.stem}-images")
    document = document_of(info, messages, folder=images.name)
    files = {images / name: data for name, data in document.images.items()}
    write_new({**files, target: document.text}, overwrite=force)
    beside = f", {counted(len(document.images), 'image')} in {shown(images)}" if document.images else ""
    return [f"Exported session {session_id} as Markdown to {shown(target)}{beside}"]


def import_lines(results: Sequence[ImportedSession]) -> list[str]:
    """Return the lines on what was imported and what was not."""
    from mewcode_magic.render.text import line

    done = [result for result in results if not result.left_out]
    others = [f"Not imported: {shown(one.path)}: {one.left_out}." for one in results if one.left_out]
    lines = [
        f"Imported {shown(one.path)} as {one.session_id}, {line(one.title, 60)!r}: "
        f"{counted(one.messages, 'message')}{_damaged(one)}."
        for one in done
    ]
    for told in (lines, others):
        if len(told) > MOST_LINES:
            told[MOST_LINES:] = [f"… and {len(told) - MOST_LINES:,} more."]
    if len(results) > 1:
        others.append(f"{counted(len(done), 'session')} imported from {counted(len(results), 'file')}.")
    if done:
        others.append(f"Go on with one: %resume {done[-1].session_id}")
    return [*lines, *others]


def _damaged(imported: ImportedSession) -> str:
    skipped = imported.skipped_lines
    return f"; {counted(skipped, 'line')} could not be read" if skipped else ""


def _export_records(
    store: SessionStore, session_id: str, path: str, dialect: Dialect, *, force: bool
) -> list[str]:
    from mewcode_magic.sessions.export import convert_session, id_in, write_session

    info = store.info(session_id)
    target = _target(store, path, f"{id_in(info, dialect)}.jsonl")
    converted = convert_session(info, dialect)
    write_session(converted, target, overwrite=force)
    lines = [f"Exported session {session_id} in the {dialect} dialect to {shown(target)}"]
    if converted.skipped:
        lines.append(f"{counted(converted.skipped, 'line')} that could not be read are left out.")
    return lines


def _target(store: SessionStore, path: str, name: str) -> Path:
    """Return the file that is meant: a path, or a folder in which it gets `name`."""
    target = absolute(path or ".")
    if target.is_dir():
        target /= name
    with storage_errors("write", target):
        parent = target.parent.resolve(strict=True)
    if parent == store.folder.resolve():
        raise CommandError(
            f"{shown(store.folder)} is where this project keeps its sessions; export to another folder, "
            "or copy the session: %resume ID --fork"
        )
    return target
