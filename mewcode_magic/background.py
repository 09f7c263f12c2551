"""Work beside the user's: in daemon threads, which an exit does not wait for."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

__all__ = ["Worker", "in_background"]

T = TypeVar("T")


def in_background(work: Callable[[], T], *, name: str) -> Future[T]:
    """Do `work` in a thread of its own; its result, or what it raised, is the future's."""
    future: Future[T] = Future()
    _start(lambda: _do(work, future), name)
    return future


class Worker:
    """Does one piece of work after another, in the order in which they came.

    It has a thread only while there is something to do.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Callable[[], None], Future[object]]] = deque()
        self._running = False
        self._present: Future[object] | None = None

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Do `work` when all before it is done; its result, or what it raised, is the future's."""
        future: Future[T] = Future()
        with self._lock:
            self._waiting.append((lambda: _do(work, future), future))  # type: ignore[arg-type]
            start, self._running = not self._running, True
        if start:
            _start(self._work, self._name)
        return future

    @property
    def busy(self) -> bool:
        """Whether there is work that is not done."""
        return bool(self._undone())

    def finish(self, seconds: float) -> bool:
        """Wait at most `seconds` for all work, then drop what has not begun; tell whether all is done."""
        futures = self._undone()
        wait(futures, timeout=seconds)
        dropped = [future for future in futures if future.cancel()]
        return not dropped and all(future.done() for future in futures)

    def _undone(self) -> list[Future[object]]:
        with self._lock:
            futures = [self._present, *(future for _, future in self._waiting)]
        return [future for future in futures if future is not None and not future.done()]

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return
                do, self._present = self._waiting.popleft()
            do()


def _do(work: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001 - whoever asks for the result meets it
        future.set_exception(error)
    else:
        future.set_result(result)


def _start(work: Callable[[], None], name: str) -> None:
    threading.Thread(target=work, name=f"mewcode-{name}", daemon=True).start()
