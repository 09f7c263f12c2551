"""The background import: it is easy on a cell that computes, goes on all the same, and blocks nobody."""

import importlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from mewcode_magic.model import warm_up
from mewcode_magic.model.warm import warm


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """A package `heavy` whose first half computes for as long as `gate.work` says, and sets `gate.reached`.

    It sets `gate.busy` too, as if a cell started then.
    """
    gate = ModuleType("gate")
    gate.reached = threading.Event()
    gate.busy = threading.Event()
    gate.work = lambda: None
    monkeypatch.setitem(sys.modules, "gate", gate)
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "heavy"
    package.mkdir()
    (package / "__init__.py").write_text("from heavy import first, second\n")
    (package / "first.py").write_text("import gate\ngate.busy.set()\ngate.work()\ngate.reached.set()\n")
    (package / "second.py").write_text("DONE = True\n")
    (tmp_path / "light.py").write_text("DONE = True\n")
    (tmp_path / "broken.py").write_text("raise ImportError('half installed')\n")
    yield gate
    gate.busy.clear()
    for name in ("heavy", "heavy.first", "heavy.second", "light", "broken"):
        sys.modules.pop(name, None)


def test_import_happens_while_the_shell_is_idle(gate: ModuleType) -> None:
    finders = list(sys.meta_path)
    thread = warm(threading.Event(), module="heavy")
    assert thread is not None
    thread.join(10)
    assert "heavy.second" in sys.modules
    assert sys.meta_path == finders
    assert warm(threading.Event(), module="heavy") is None


def test_import_goes_on_while_a_cell_waits(gate: ModuleType) -> None:
    gate.busy.set()
    thread = warm(gate.busy, module="heavy")
    assert thread is not None
    thread.join(10)
    assert gate.busy.is_set()
    assert sys.modules["heavy.second"].DONE


def test_import_goes_on_while_a_cell_computes(gate: ModuleType) -> None:
    gate.busy.set()
    thread = warm(gate.busy, module="heavy")
    assert thread is not None
    end = time.monotonic() + 20
    while thread.is_alive() and time.monotonic() < end:
        sum(range(1_000))
    assert gate.busy.is_set()
    assert sys.modules["heavy.second"].DONE


@pytest.fixture
def resting(gate: ModuleType) -> Iterator[threading.Thread]:
    """The import of `heavy` in a long rest, after its first half took a second from a cell that computes."""

    def compute() -> None:
        end = time.thread_time() + 1
        while time.thread_time() < end:
            sum(range(1_000))

    def compute_beside_a_cell() -> None:
        cell = threading.Thread(target=compute)
        cell.start()
        compute()
        cell.join()

    gate.work = compute_beside_a_cell
    thread = warm(gate.busy, module="heavy")
    assert thread is not None
    assert gate.reached.wait(30)
    yield thread
    gate.busy.clear()
    thread.join(30)


def test_import_rests_for_longer_than_it_took_from_a_cell(
    gate: ModuleType, resting: threading.Thread
) -> None:
    resting.join(1)
    assert "DONE" not in vars(sys.modules["heavy.second"])
    assert importlib.import_module("light").DONE  # what the cell imports comes through meanwhile
    assert resting.is_alive()


def test_rest_ends_when_the_shell_is_idle(gate: ModuleType, resting: threading.Thread) -> None:
    gate.busy.clear()
    resting.join(2)
    assert sys.modules["heavy.second"].DONE


def test_cell_that_needs_the_module_ends_the_rest(gate: ModuleType, resting: threading.Thread) -> None:
    rest = threading.Timer(2, gate.busy.clear)  # the rest would last four seconds
    rest.start()
    assert importlib.import_module("heavy").second.DONE
    assert gate.busy.is_set()
    rest.cancel()


def test_error_of_the_import_is_met_by_the_first_use(gate: ModuleType) -> None:
    thread = warm(gate.busy, module="broken")
    assert thread is not None
    thread.join(10)
    with pytest.raises(ImportError, match="half installed"):
        importlib.import_module("broken")


def test_source_of_what_was_imported_can_be_read(gate: ModuleType) -> None:
    thread = warm(threading.Event(), module="light")
    assert thread is not None
    thread.join(10)
    spec = sys.modules["light"].__spec__
    assert spec is not None
    assert spec.loader.get_source("light") == "DONE = True\n"


@pytest.mark.parametrize(("variable", "value"), [("", ""), ("MEWCODE_MODEL", "offline")])
def test_nothing_is_imported_for_the_offline_answers(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    if variable:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "some-key")
        monkeypatch.setenv(variable, value)
    monkeypatch.delitem(sys.modules, "mewcode_magic.model.wire", raising=False)
    assert warm_up(threading.Event()) is None


def test_kernel_that_ends_during_the_import_says_nothing() -> None:
    code = (
        "import threading, time; from mewcode_magic.model import warm_up; "
        "warm_up(threading.Event()); time.sleep(0.5)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"ANTHROPIC_API_KEY": "some-key"}, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
