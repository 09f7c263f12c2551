"""`%sessions export` and `import`: a session as a file, to read or to go on with elsewhere, and the way back."""

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

    lines: list[str] = []
    done = [result for result in results if not result.left_out]
    for result in done:
        damaged = (
            f"; {counted(result.skipped_lines, 'line')} could not be read" if result.skipped_lines else ""
        )
        lines.append(
            f"Imported {shown(result.path)} as {result.session_id}, {line(result.title, 60)!r}: "
            f"{counted(result.messages, 'message')}{damaged}."
        )
    for result in results:
        if result.left_out and result.session_id:
            again = "" if "this project" in result.left_out else "; --again imports it once more"
            lines.append(
                f"Not imported: {shown(result.path)}: {result.left_out}, {result.session_id}{again}."
            )
        elif result.left_out:
            lines.append(f"Not imported: {result.left_out}.")
    if len(results) > 1:
        lines.append(f"{counted(len(done), 'session')} imported of {counted(len(results), 'file')}.")
    if done:
        lines.append(f"Go on with one: %resume {done[-1].session_id}")
    return lines


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
