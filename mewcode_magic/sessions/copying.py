"""A copy of a session under another id: its file, and the results that it keeps in files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import orjson

from mewcode_magic.sessions.result_files import RESULTS, copy_results, results_folder

__all__ = ["copy_session", "remove_copy"]


def copy_session(source: Path, target: Path, project: Path) -> None:
    """Copy a session's file, and its kept results; what names these names the copy's in the copy.

    Raises:
        OSError: it cannot be copied.
    """
    renames = copy_results(project, source.stem, target.stem)
    with source.open("rb") as reader:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as writer:
            if renames:
                old, new = (orjson.dumps(f"{RESULTS.name}/{path.stem}/")[1:-1] for path in (source, target))
                writer.writelines(line.replace(old, new) for line in reader)
            else:
                shutil.copyfileobj(reader, writer, 1 << 20)
            writer.flush()
            os.fsync(writer.fileno())


def remove_copy(path: Path, project: Path) -> None:
    """Remove what there is of a copy that could not be completed.

    Raises:
        OSError: a file of it cannot be removed.
    """
    for made in (path, path.with_suffix(".meta"), path.with_suffix(".lock")):
        made.unlink(missing_ok=True)
    shutil.rmtree(results_folder(project, path.stem), ignore_errors=True)
