"""What was deleted or overwritten in a memory folder: `.trash/<time>-<4 hex digits>/<path in the folder>`."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mewcode_magic.errors import StorageError
from mewcode_magic.files import private_folder, shown, storage_errors

__all__ = ["Trash", "TrashedFile"]

_TIME = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-[0-9a-f]{4}")


@dataclass(frozen=True)
class TrashedFile:
    """One file in the trash."""

    path: Path
    relative: Path
    """Where it stood in the memory folder."""
    when: datetime
    """When it was put here."""


class Trash:
    """The trash of one memory folder. Whoever changes it holds the folder's lock.

    A file keeps its own time and its path below a folder that is named for the moment it was put here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / ".trash"

    def keep(self, file: Path) -> TrashedFile:
        """Put a copy of `file`, which is about to be overwritten, into the trash.

        Raises:
            StorageError: it cannot be kept, so it should not be overwritten.
        """
        with self._room(file) as trashed, storage_errors("keep the old version of", file):
            try:
                # The name moves on to a new file, and the old content stays here at no cost.
                os.link(file.resolve(), trashed.path)
            except OSError:  # no hard links on this file system
                shutil.copy2(file, trashed.path)
        return trashed

    def take(self, file: Path) -> TrashedFile:
        """Move `file` into the trash; a subfolder that is empty then goes.

        Raises:
            StorageError: it cannot be moved; it stands as before.
        """
        with self._room(file) as trashed, storage_errors("move to the trash", file):
            file.rename(trashed.path)
        with contextlib.suppress(OSError):
            for parent in file.parents:
                if parent == self.folder:
                    break
                parent.rmdir()
        return trashed

    def put_back(self, trashed: TrashedFile, target: Path) -> None:
        """Move a file out of the trash to `target`, where nothing stands.

        Raises:
            StorageError: it cannot be moved; it stays in the trash.
        """
        private_folder(target.parent)
        with storage_errors("restore", target):
            trashed.path.rename(target)
        self.discard(trashed)

    def discard(self, trashed: TrashedFile) -> None:
        """Remove for good what was kept, with the folder made for it.

        Raises:
            StorageError: it cannot be removed.
        """
        holder = self.path / trashed.path.relative_to(self.path).parts[0]
        with storage_errors("empty the trash", holder):
            shutil.rmtree(holder)

    def files(self) -> Iterator[TrashedFile]:
        """Yield what can be restored, the latest first."""
        for when, holder in self._holders():
            for parent, _, names in os.walk(holder):
                for path in (Path(parent, name) for name in sorted(names)):
                    yield TrashedFile(path, path.relative_to(holder), when)

    def empty(self, max_age: timedelta) -> None:
        """Remove for good what was put here longer than `max_age` ago; what cannot be removed waits."""
        oldest = datetime.now(UTC) - max_age
        for when, holder in self._holders():
            if when <= oldest:
                shutil.rmtree(holder, ignore_errors=True)

    @contextlib.contextmanager
    def _room(self, file: Path) -> Iterator[TrashedFile]:
        """Make the folder for `file`, and remove it again if the block fails."""
        if self.path.is_symlink():
            raise StorageError(
                f"{shown(self.path)} is a link; remove it, so that the trash stays in its folder"
            )
        now = datetime.now(UTC)
        holder = self.path / f"{now.strftime(_TIME)}-{secrets.token_hex(2)}"
        relative = file.relative_to(self.folder)
        private_folder((holder / relative).parent)
        try:
            yield TrashedFile(holder / relative, relative, now)
        except BaseException:
            shutil.rmtree(holder, ignore_errors=True)
            raise

    def _holders(self) -> list[tuple[datetime, Path]]:
        """Return the folders in the trash, the latest first."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.path) as entries:
            for entry in () if self.path.is_symlink() else entries:
                match = _NAME.fullmatch(entry.name)
                if match and entry.is_dir(follow_symlinks=False):
                    with contextlib.suppress(ValueError):
                        when = datetime.strptime(match[1], _TIME).replace(tzinfo=UTC)
                        found.append((when, Path(entry.path)))
        return sorted(found, reverse=True)
