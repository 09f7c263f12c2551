"""An end by time for foreign code that a description calls, such as a `__repr__` that asks a server."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

__all__ = ["TooLong", "ending_after"]

AGAIN_SECONDS = 0.05
"""Between two attempts to end code that catches whatever is raised in it."""


class TooLong(BaseException):
    """The time is over; no Exception, so that foreign code does not take it for one of its own."""


@contextlib.contextmanager
def ending_after(seconds: float) -> Iterator[None]:
    """End the block by TooLong once its time is over.

    That takes a signal, and so the main thread, where cells run; elsewhere, on Windows, and while the user's
    own code has set an alarm, nothing ends it.
    """
    can_end = (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )
    if not can_end:
        yield
        return
    is_over = False

    def end(_signal: int, _frame: object) -> None:
        if not is_over:
            raise TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        try:
            is_over = True
        finally:  # also where the signal came just now
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
