"""Importing the Anthropic SDK behind the user's work: neither the first answer nor a cell waits for it.

The import takes one to three seconds of computing. A thread does it while the shell is idle; when a cell
starts, it stands still before the next of the SDK's 3,500 modules, and goes on when the cell has ended.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

__all__ = ["warm"]

SDK = "mewcode_magic.model.wire"
"""What imports the SDK, and the little that the first request needs besides."""
IDLE_BEFORE_START = 0.3
"""Seconds without a cell after which the import begins: cells that follow one another are not held up."""
PATIENCE = 30.0
"""Seconds that the thread stands still in all. Half-imported modules must not stay so for ever."""
_LOOK = 0.02
"""Seconds between two looks at whether a cell runs."""


def warm(busy: threading.Event, *, module: str = SDK) -> threading.Thread | None:
    """Import `module` in a daemon thread, while `busy` is clear; return the thread, or None if it is there.

    The caller sets `busy` when a cell starts and clears it when the cell has ended. Whoever needs the module
    imports it as ever: the thread sees that somebody waits and no longer stands still. An error of the import
    is not lost, since that same import then fails in the same way.
    """
    if module in sys.modules:
        return None
    thread = threading.Thread(target=_import, args=(busy, module), name="mewcode-warm", daemon=True)
    thread.start()
    return thread


def _import(busy: threading.Event, module: str) -> None:
    idle = 0.0
    while idle < IDLE_BEFORE_START:
        time.sleep(_LOOK)
        idle = 0.0 if busy.is_set() else idle + _LOOK
    finder = _Finder(_pauses(busy))
    # Another thread may be looking through the list at this moment, so it is replaced, never changed.
    index = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path = [*sys.meta_path[:index], finder, *sys.meta_path[index:]]
    try:
        with contextlib.suppress(Exception):  # the first use meets it again
            importlib.import_module(module)
    finally:
        sys.meta_path = [other for other in sys.meta_path if other is not finder]


def _pauses(busy: threading.Event) -> Callable[[], None]:
    """Return what waits while a cell runs, until somebody waits for an import or patience ends."""
    patience = PATIENCE

    def pause() -> None:
        nonlocal patience
        while busy.is_set() and patience > 0 and not _somebody_waits():
            time.sleep(_LOOK)
            patience -= _LOOK

    return pause


def _somebody_waits() -> bool:
    """Whether a thread stands at the lock of a module that another one is importing."""
    return any(
        frame.f_code.co_name == "acquire" and frame.f_code.co_filename == "<frozen importlib._bootstrap>"
        for frame in sys._current_frames().values()  # noqa: SLF001 - documented, its underscore notwithstanding
    )


class _Finder:
    """Finds what its own thread imports from source, and gives it a loader that pauses first."""

    def __init__(self, pause: Callable[[], None]) -> None:
        self._thread = threading.get_ident()
        self._pause = pause

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # Pausing here would stop the imports of all threads: the import lock is held meanwhile.
        if threading.get_ident() != self._thread:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(name, spec.loader.path, self._pause)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module from source after a pause; other threads can import meanwhile."""

    def __init__(self, fullname: str, path: str, pause: Callable[[], None]) -> None:
        super().__init__(fullname, path)
        self._pause = pause

    def exec_module(self, module: ModuleType) -> None:
        self._pause()
        super().exec_module(module)
