"""Work in daemon threads: its results and failures, its order, and what an end does to it."""

import threading
import time

import pytest

from mewcode_magic.background import Worker, in_background


def test_result_and_failure_are_the_futures() -> None:
    assert in_background(lambda: 7, name="test").result(5) == 7

    def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        in_background(fail, name="test").result(5)


def test_worker_does_one_after_another_in_order() -> None:
    worker, done, inside = Worker("test"), [], []

    def work(number: int) -> None:
        inside.append(number)
        time.sleep(0.001)
        assert inside == [number]
        inside.clear()
        done.append(number)

    futures = [worker.submit(lambda n=n: work(n)) for n in range(20)]
    for future in futures:
        future.result(5)
    assert done == list(range(20))


def test_worker_goes_on_after_a_failure_and_after_a_rest() -> None:
    worker = Worker("test")
    failed = worker.submit(lambda: 1 / 0)
    assert worker.submit(lambda: 1).result(5) == 1
    with pytest.raises(ZeroDivisionError):
        failed.result(5)
    assert worker.finish(5)
    assert not worker.busy
    assert worker.submit(lambda: 2).result(5) == 2


def test_finish_waits_no_longer_than_it_is_told_and_drops_what_has_not_begun() -> None:
    worker, let_go = Worker("test"), threading.Event()
    first = worker.submit(lambda: let_go.wait(30))
    second = worker.submit(lambda: None)
    assert not worker.finish(0.05)
    let_go.set()
    assert first.result(5)
    assert second.cancelled()
    assert worker.finish(5)
