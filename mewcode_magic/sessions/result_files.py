"""Tool results that were too long for the conversation, as files of the session that they came up in.

::

    <project>/.mewcode/session/tool-results/SESSION_ID/CALL_ID.txt

They stay where they are while their session is in the trash, so that it is whole again as soon as its file is
moved back, and are removed with it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Container, Iterator
from hashlib import sha1
from itertools import count
from pathlib import Path

from mewcode_magic.files import private_folder, storage_errors
from mewcode_magic.project import mark_private

__all__ = ["RESULTS", "copy_results", "remove_results", "results_folder", "store_result"]

RESULTS = Path(".mewcode") / "session" / "tool-results"
"""Where the folders of all sessions are, relative to the project."""
_NAME_CHARS = 80
_NOT_IN_NAMES = re.compile("[^a-zA-Z0-9_-]")
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def results_folder(project: Path, session_id: str) -> Path:
    """Return where the results of a session are kept, whether there are any or not."""
    return project / RESULTS / session_id


def store_result(project: Path, session_id: str, call_id: str, text: str) -> Path:
    """Write a result to a file of its own and return it, absolute.

    Raises:
        StorageError: it cannot be written; then nothing is left behind.
    """
    mark_private(project)
    folder = private_folder(results_folder(project, session_id))
    data = text.encode("utf-8", "replace")
    for path in _names(folder, call_id):
        with storage_errors("write", path):
            try:
                descriptor = os.open(path, _FLAGS, 0o600)
            except FileExistsError:  # some servers count their calls from one in each reply
                continue
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
            return path
    raise AssertionError("names never end")


def copy_results(project: Path, source_id: str, target_id: str) -> bool:
    """Copy what is kept of one session's results to another session; tell whether there was any.

    Raises:
        OSError: it cannot be copied.
    """
    source, target = results_folder(project, source_id), results_folder(project, target_id)
    if source.is_symlink() or not source.is_dir():
        return False
    private_folder(target)
    for file in source.iterdir():
        if file.is_file() and not file.is_symlink():
            copy = target / file.name
            copy.touch(mode=0o600)
            shutil.copyfile(file, copy)
    return True


def remove_results(project: Path, *, known: Container[str], gone: Container[str], before: float) -> None:
    """Remove the results of sessions that are not `known`: those `gone`, and those that nobody knows of.

    The latter have time: they go if nothing was added since `before`, in Unix seconds. Files beside the
    sessions' folders, as other programs leave them, stay.

    Raises:
        StorageError: something cannot be removed.
    """
    folder = project / RESULTS
    with storage_errors("clean up", folder):
        try:
            with os.scandir(folder) as found:
                entries = [entry for entry in found if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return
        for entry in entries:
            if entry.name in known:
                continue
            if entry.name in gone or entry.stat(follow_symlinks=False).st_mtime < before:
                shutil.rmtree(entry.path)


def _names(folder: Path, call_id: str) -> Iterator[Path]:
    """Yield names for a call's result, the best first; none leads out of the folder."""
    name = _NOT_IN_NAMES.sub("_", call_id)[:_NAME_CHARS]
    if name != call_id:
        name += f"-{sha1(call_id.encode('utf-8', 'replace'), usedforsecurity=False).hexdigest()[:8]}"
    yield folder / f"{name}.txt"
    for number in count(2):
        yield folder / f"{name}-{number}.txt"
