"""Importing the Anthropic SDK behind the user's work: neither the first answer nor a cell waits for it.

The import takes one to three seconds of computing, in 3,500 modules. A thread does it: at full speed while
the shell is idle, and while a cell runs with a rest after each module, as far as the cell computes too.
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
REST = 4.0
"""Seconds of rest for each second of computing that the import took from a cell."""
SETTLED = 0.3
"""Seconds without a cell after which the shell counts as idle: cells may follow one another."""
_LOOK = 0.02
"""Seconds between two looks at whether the rest is still called for."""


def warm(busy: threading.Event, *, module: str = SDK) -> threading.Thread | None:
    """Import `module` in a daemon thread that is easy on cells; return it, or None if the module is there.

    The caller sets `busy` when a cell starts and clears it when the cell has ended. Whoever needs the module
    imports it as ever: the thread sees that somebody waits and no longer rests. An error of the import is not
    lost, since that same import then fails in the same way.
    """
    if module in sys.modules:
        return None
    thread = threading.Thread(target=_import, args=(busy, module), name="mewcode-warm", daemon=True)
    thread.start()
    return thread


def _import(busy: threading.Event, module: str) -> None:
    finder = _Finder(_Pace(busy).rest)
    # Another thread may be looking through the list at this moment, so it is replaced, never changed.
    index = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
    sys.meta_path = [*sys.meta_path[:index], finder, *sys.meta_path[index:]]
    try:
        with contextlib.suppress(Exception):  # the first use meets it again
            importlib.import_module(module)
    finally:
        sys.meta_path = [other for other in sys.meta_path if other is not finder]


class _Pace:
    """Shares the interpreter between the import, in the thread that this is made in, and the cells."""

    def __init__(self, busy: threading.Event) -> None:
        self._busy = busy
        self._shared_until = time.monotonic() + SETTLED
        self._spent = _spent()

    def rest(self) -> None:
        """Rest for what was taken from a cell since the last rest, unless somebody waits for the import.

        A cell that itself only waited, for a download or a child process, was taken nothing from.
        """
        own, others = (now - then for now, then in zip(_spent(), self._spent, strict=True))
        end = time.monotonic() + REST * min(own, others)
        while (left := end - time.monotonic()) > 0 and self._is_shared() and not _somebody_waits():
            time.sleep(min(left, _LOOK))
        self._spent = _spent()

    def _is_shared(self) -> bool:
        """Whether a cell runs, or one ended so shortly ago that the next may follow."""
        now = time.monotonic()
        if self._busy.is_set():
            self._shared_until = now + SETTLED
        return now < self._shared_until


def _spent() -> tuple[float, float]:
    """Return the seconds that this thread has computed, and all others together."""
    own = time.thread_time()
    return own, time.process_time() - own


def _somebody_waits() -> bool:
    """Whether a thread stands at the lock of a module that another one is importing."""
    return any(
        frame.f_code.co_name == "acquire" and frame.f_code.co_filename == "<frozen importlib._bootstrap>"
        for frame in sys._current_frames().values()  # noqa: SLF001 - documented, its underscore notwithstanding
    )


class _Finder:
    """Finds what its own thread imports from source, and gives it a loader that rests first."""

    def __init__(self, rest: Callable[[], None]) -> None:
        self._thread = threading.get_ident()
        self._rest = rest

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        # Resting here would stop the imports of all threads: the import lock is held meanwhile.
        if threading.get_ident() != self._thread:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(name, spec.loader.path, self._rest)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module from source after a rest; other threads can import meanwhile."""

    def __init__(self, fullname: str, path: str, rest: Callable[[], None]) -> None:
        super().__init__(fullname, path)
        self._rest = rest

    def exec_module(self, module: ModuleType) -> None:
        self._rest()
        super().exec_module(module)
