"""Whether all is there that MewCode needs, and what to do where it is not: one value a check.

Nothing is left behind, nothing is paid for, and no check's failure keeps the others from being made.
"""

from __future__ import annotations

import platform
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mewcode_magic import __version__
from mewcode_magic.config import MewCode
from mewcode_magic.errors import MewCodeError, StorageError
from mewcode_magic.files import Lock, shown, storage_errors
from mewcode_magic.kernel import can_ask, front_end
from mewcode_magic.model import OFFLINE, Models, describe_connection
from mewcode_magic.model.claude import Claude
from mewcode_magic.model.connection import HOW_TO_CONNECT, Connection

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Check", "examine"]

PACKAGE = "mewcode-magic"

PROBE_SECONDS = 5.0
"""Seconds that a server has to answer."""

State: TypeAlias = Literal["ok", "note", "failed"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what was found, and what to do; `note` is what one may want to know or change."""

    name: str
    found: str
    state: State = "ok"
    advice: str = ""


def examine(settings: MewCode, *, shell: Any = None, seconds: float = PROBE_SECONDS) -> list[Check]:
    """Make all checks, for the project and home of `settings` and the front end of `shell`.

    `seconds` is what the server is given to answer.
    """
    project = Path(settings.project_dir or ".").absolute()
    sessions, memory = project / ".mewcode" / "sessions", project / ".mewcode" / "memory"
    checks: dict[str, Callable[[], Check]] = {
        "Version": lambda: Check("", f"MewCode {__version__}, Python {platform.python_version()}"),
        "Front end": lambda: _front_end(shell),
        "Packages": _packages,
        "Key": lambda: _key(settings),
        "Server": lambda: _server(settings, seconds),
        "Home": lambda: _folder(settings.home_path),
        "Sessions": lambda: _folder(sessions),
        "Memory": lambda: _folder(memory),
        "Locks": lambda: _locks(sessions.parent),
        "Search": _full_text_search,
    }
    return [_made(name, check) for name, check in checks.items()]


def _made(name: str, check: Callable[[], Check]) -> Check:
    """Return a check that was made, or the failure to make it."""
    try:
        made = check()
    except MewCodeError as error:
        found, _, advice = str(error).partition("; ")
        return Check(name, found, "failed", advice)
    except Exception as error:  # noqa: BLE001 - what is broken in an unforeseen way is what it is for
        return Check(name, f"could not be looked at: {type(error).__name__}: {error}", "failed")
    return Check(name, made.found, made.state, made.advice)


def _front_end(shell: Any) -> Check:
    name = front_end(shell)
    if can_ask(shell):
        return Check("", name)
    return Check("", f"{name}, nobody to ask", "note", "what needs a permission is denied, as in nbconvert")


def _packages(package: str = PACKAGE) -> Check:
    """Compare what is installed with what a package asks for."""
    from importlib.metadata import PackageNotFoundError, requires, version

    try:
        wanted = [line for line in requires(package) or [] if "extra ==" not in line]
    except PackageNotFoundError:
        return Check("", f"{package} is not installed by pip", "note", "versions cannot be compared")
    found, lacking, needed = [], [], []
    for line in wanted:
        match = re.match(r"(?P<name>[\w.-]+)\s*(?:>=\s*(?P<least>[\d.]+))?", line)
        if match is None:
            continue
        try:
            there = version(match["name"])
        except PackageNotFoundError:
            there = ""
        found.append(f"{match['name']} {there}")
        if _numbers(there) < _numbers(match["least"] or "0"):
            lacking.append(f"{match['name']} {there or 'is missing'}")
            needed.append(f'"{match.group()}"')
    if lacking:
        told = f"too old or not there: {', '.join(lacking)}"
        return Check("", told, "failed", f"run: pip install --upgrade {' '.join(needed)}")
    return Check("", ", ".join(found))


def _numbers(version: str) -> list[int]:
    """Return a version's numbers, by which two are compared; none for a package that is not there."""
    return [int(number) for number in re.findall(r"\d+", version)[:3]]


def _key(settings: MewCode) -> Check:
    model = Models(settings=settings).main().name
    if model == OFFLINE:
        return Check("", "no model is connected: answers are offline ones", "note", HOW_TO_CONNECT)
    return Check("", f"{describe_connection()}, model {model}")


def _server(settings: MewCode, seconds: float) -> Check:
    """Ask the server for nothing, which shows whether it is there, and takes the key."""
    model = Models(settings=settings).main()
    if not isinstance(model, Claude):
        return Check("", "none is asked while answers are offline")
    model.probe(seconds=seconds)
    with_key = Connection.from_environment().key_variable
    return Check("", "it answers, and takes the key" if with_key else "it answers")


def _folder(path: Path) -> Check:
    """Write into a folder, or where it would be made, and leave nothing there."""
    there = _nearest(path)
    with storage_errors("write into", there), tempfile.TemporaryFile(dir=there) as file:
        file.write(b"x")
    made = "" if there == path else "; it is made with the first file in it"
    return Check("", f"{shown(path)} can be written{made}")


def _nearest(path: Path) -> Path:
    """Return the folder, or the nearest above it that is there.

    Raises:
        StorageError: something that is no folder stands there.
    """
    there = next(folder for folder in (path, *path.parents) if folder.exists() or folder.is_symlink())
    if not there.is_dir():
        raise StorageError(f"{shown(there)} is no folder; move that file away")
    return there


def _locks(folder: Path, lock: Callable[[Path], Lock] = Lock) -> Check:
    """Take a lock twice where the sessions' are; the second time must fail."""
    there = _nearest(folder)
    with storage_errors("write into", there), tempfile.TemporaryDirectory(dir=there) as made:
        first, second = (lock(Path(made, "doctor.lock")) for _ in range(2))
        try:
            held = first.acquire() and not second.acquire()
        finally:
            second.release()
            first.release()
    where = f"the file system of {shown(there)}"
    if held:
        return Check("", f"{where} keeps them")
    advice = "open a session in one kernel at a time, or move the project to a local folder"
    return Check("", f"{where} does not keep them", "failed", advice)


def _full_text_search() -> Check:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as database:
        return _search_in(database)


def _search_in(database: sqlite3.Connection) -> Check:
    import sqlite3

    name = f"SQLite {sqlite3.sqlite_version}"
    try:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    except sqlite3.Error:
        advice = "%sessions search needs it: use the Python of python.org, conda or your system"
        return Check("", f"{name} was built without FTS5", "failed", advice)
    return Check("", f"{name} with FTS5")
