"""File primitives: private folders, atomic writes, reads that name their failure, locks with an owner."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mewcode_magic.errors import SettingError, StorageError

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = [
    "FileState",
    "Lock",
    "absolute",
    "is_foreign",
    "is_planted",
    "private_folder",
    "read_text",
    "reason",
    "shown",
    "state_of",
    "storage_errors",
    "write_atomic",
    "write_new",
]

FileState: TypeAlias = tuple[int, int, int]
"""What tells one state of a file from another: mtime in ns, bytes, inode."""

_ADVICE = {
    errno.EACCES: "permission denied; change its permissions",
    errno.EPERM: "permission denied; change its permissions",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EFBIG: "the file may not grow any further; raise the limit on file sizes, or free its folder",
    errno.EDQUOT: "your disk quota is used up; free some space and run the command again",
    errno.ENOTDIR: "a file stands where a folder should be; move that file away",
    errno.EEXIST: "a file stands where a folder should be; move that file away",
    errno.EISDIR: "a folder stands where a file should be; move that folder away",
    errno.ENOENT: "it is not there; check the path, and that no link in it is broken",
    errno.ELOOP: "its links lead in a circle; remove one of them",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


@contextlib.contextmanager
def storage_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an OSError inside the block into a StorageError.

    The error says "cannot `action` `path`", the reason, and what to do.
    """
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot {action} {shown(path)}: {reason(error)}") from error


def reason(error: OSError) -> str:
    """Return why an operation failed and what to do about it, in a few words."""
    return _ADVICE.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__


def shown(path: Path) -> str:
    """Return `path` as people know it: relative inside the working directory, with `~` inside the home."""
    for base, prefix in ((_working_directory(), ""), (_home(), "~")):
        # The working directory itself would be ".", which tells nobody where it is.
        if base is not None and path.is_relative_to(base) and (prefix or path != base):
            rest = path.relative_to(base)
            return str(Path(prefix) / rest) if prefix else str(rest)
    return str(path)


def _working_directory() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # the directory was removed
        return None


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # no home is known for this user
        return None


def absolute(path: Path | str) -> Path:
    """Return a folder that a person named as an absolute path: `~` and `..` taken out, links left in.

    Raises:
        SettingError: its `~` is that of an unknown user, or the working directory was removed.
    """
    try:
        return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - Path.absolute keeps `..`
    except RuntimeError as error:
        raise SettingError(f"no home is known for {str(path)!r}; write the folder in full") from error
    except FileNotFoundError as error:
        raise SettingError("the working directory was removed; change to another one") from error


def private_folder(path: Path) -> Path:
    """Make `path` and its missing parents with mode 0700, and return it.

    Raises:
        StorageError: it cannot be made, or a file stands in its place.
    """
    with storage_errors("make the folder", path):
        missing = []
        for folder in (path, *path.parents):
            if folder.is_dir():
                break
            missing.append(folder)
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
    return path


def state_of(status: os.stat_result) -> FileState:
    """Return what tells this state of a file from a later one."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def is_foreign(path: Path) -> bool:
    """Whether another user may have written a file, or the link that it is; root does not count.

    So may any that cannot be looked at, and any where files have no owner that could be told (Windows).
    """
    if sys.platform == "win32":
        return True
    try:
        status = path.stat()
        owners = {path.lstat().st_uid, status.st_uid}
    except OSError:
        return True
    return not owners <= {os.getuid(), 0} or bool(status.st_mode & stat.S_IWOTH)


def is_planted(path: Path) -> bool:
    """Whether another user has put something into a folder that is everybody's, such as `/tmp`."""
    if sys.platform == "win32":
        return False
    try:
        mode, owner = path.parent.stat().st_mode, path.lstat().st_uid
    except OSError:
        return False
    is_everybodys = bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)
    return is_everybodys and owner not in (os.getuid(), 0)


def read_text(path: Path) -> tuple[str, bool]:
    """Return a text file's content without BOM, and whether all of it was UTF-8.

    Bytes that are not UTF-8 become replacement characters. Line ends stay as they are.

    Raises:
        StorageError: the file cannot be read.
    """
    with storage_errors("read", path):
        data = path.read_bytes()
    try:
        return data.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        return data.decode("utf-8-sig", errors="replace"), False


def write_atomic(path: Path, content: str | bytes, *, mode: int = 0o600) -> None:
    """Replace `path` by `content` so that a reader, or a crash, finds the old or the new content, never half.

    A link is followed: what it points to is replaced. A file that stands keeps its permissions.

    Raises:
        StorageError: it cannot be written; the old content stands.
    """
    with storage_errors("write", path):
        target = Path(os.path.realpath(path))  # Path.resolve raises RuntimeError for links in a circle
        with contextlib.suppress(FileNotFoundError):
            mode = target.stat().st_mode & 0o777
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-", suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(
                    content if isinstance(content, bytes) else content.encode("utf-8", errors="replace")
                )
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, mode)  # noqa: PTH101
            os.replace(name, target)  # noqa: PTH105
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108
            raise


def write_new(contents: Mapping[Path, str | bytes], *, overwrite: bool = False) -> None:
    """Write files, none of which is there yet; with `overwrite`, also those that are. Folders are made.

    Raises:
        StorageError: something stands where one of them goes, then none is written; or it cannot be written.
    """
    for path in contents:
        if os.path.lexists(path) and not overwrite:
            raise StorageError(
                f"{shown(path)} is there already; name another path, or replace it with --force"
            )
    for path, content in contents.items():
        private_folder(path.parent)
        write_atomic(path, content)


class Lock:
    """A lock file that names its owner, held between processes and between threads of this one.

    The operating system frees it when the owner dies, whatever the file then says.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: FileLock | None = None

    def acquire(self, timeout: float = 0) -> bool:
        """Take the lock, waiting at most `timeout` seconds; return whether it was got.

        Raises:
            StorageError: the lock file cannot be opened.
        """
        from filelock import FileLock, Timeout

        # One object a lock: the same object would let a second thread of this process in.
        lock = FileLock(self.path, timeout=timeout, thread_local=False, mode=0o600)
        with storage_errors("lock", self.path):
            try:
                lock.acquire(poll_interval=0.02)
                with contextlib.suppress(OSError):  # a full disk; the lock holds without a name in it too
                    self.path.write_text(f"{os.getpid()} {socket.gethostname()}\n", encoding="utf-8")
                self._lock = lock
            except Timeout:
                return False
            except NotImplementedError as error:  # a file system without locks
                raise OSError(errno.ENOLCK, "its file system has no locks; use a local folder") from error
            except BaseException:  # an interrupt: whoever shows its traceback would keep the lock
                lock.release(force=True)
                self._lock = None
                raise
        return True

    def release(self) -> None:
        """Let go of the lock; harmless when it is not held."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._lock is not None

    def owner(self) -> str:
        """Return "process PID on HOST" as the lock file has it, or "another process"."""
        with contextlib.suppress(OSError, ValueError):
            pid, host = self.path.read_text(encoding="utf-8").split()
            return f"process {int(pid)} on {host}"
        return "another process"
