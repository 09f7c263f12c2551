"""Running code in the user's shell as a cell would run, from inside a cell that runs already.

The user sees what the code puts out, as it comes. IPython's books stay as they are: `_`, `Out`, `In`, the
counter, the next cell. What would take the kernel down with it (`exit()`, a closed stream, a working
directory that is gone, an emptied namespace) is kept from doing so, and told.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.kernel.activity import Figure
from mewcode_magic.kernel.bound import changed_names
from mewcode_magic.kernel.output import Output, swapped
from mewcode_magic.kernel.variables import is_shell_name

__all__ = ["Ran", "run_code"]

AGAIN_SECONDS = 1.0
"""Between two interrupts of code whose time is over."""
LATE_SECONDS = 0.05
"""What is waited for the last output of child processes, which a kernel reads in a thread."""

Stopped = Literal["", "time", "user"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of some code; all texts are bounded, and say where their middle is left out."""

    stdout: str
    stderr: str
    displayed: str
    """What was displayed as text."""
    result: str
    """How the value of the last expression is shown."""
    error: BaseException | None
    stopped: Stopped
    """Whether it was stopped because its time was over, or by the user."""
    figures: list[Figure]
    """The latest figures."""
    figures_left_out: int
    bound: list[str]
    """Names of the user's namespace that were bound or changed."""
    deleted: list[str]
    notes: list[str]
    """Sentences on what was kept from happening, or put right behind the code."""


def run_code(shell: Any, code: str, *, seconds: float | None = None) -> Ran:
    """Run code in a shell's namespace; whatever it raises is part of what is returned.

    With `seconds` it is stopped, as if the user had pressed the stop button, once they are over; that takes
    the main thread, where cells run.
    """
    before = dict(shell.user_ns)
    process, children = os.getpid(), _children()
    output = Output(shell, code)
    deadline = _Deadline(seconds)
    error: BaseException | None = None
    with _working_directory(output), _open_descriptors(), _no_further_payloads(shell, output):
        try:
            with output.listening(), _as_a_guest(shell, code, output):
                try:
                    with deadline.running():
                        error = _run(shell, code, output)
                finally:
                    if os.getpid() != process:  # a forked child that came back would go on with the turn
                        os._exit(0)
                    if children != _children():
                        time.sleep(LATE_SECONDS)
        except BaseException as raised:  # noqa: BLE001 - what a callback raises must not end the kernel
            error = raised
        _mend_namespace(shell, before, output)
    stopped: Stopped = ""
    if output.interrupted or isinstance(error, KeyboardInterrupt):
        stopped = "time" if deadline.passed else "user"
    figures, left_out = output.figures
    bound, deleted = changed_names(before, shell.user_ns, code)
    if error is None and output.shown_errors:
        output.note(f"The user was shown: {', '.join(dict.fromkeys(output.shown_errors))}.")
    return Ran(
        output.stdout,
        output.stderr,
        output.displayed,
        output.result,
        error,
        stopped,
        figures,
        left_out,
        bound,
        deleted,
        list(output.notes),
    )


def _run(shell: Any, code: str, output: Output) -> BaseException | None:
    """Run a cell to its end, callbacks of the user's included, and return what it raised."""
    failed = None
    try:
        transformed = shell.transform_cell(code)
    except Exception:  # noqa: BLE001 - IPython shows it, given what was raised
        transformed, failed = code, sys.exc_info()
    options = {"transformed_cell": transformed, "preprocessing_exc_tuple": failed}
    cell = shell.run_cell_async(code, store_history=False, **options)
    result = None
    try:
        waits = shell.should_run_async(code, **options)
        result = _in_loop(shell, cell, output) if waits else _at_once(cell)
    finally:
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)
    raised: BaseException | None = result.error_before_exec or result.error_in_exec
    return raised


def _at_once(cell: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that waits for nothing."""
    try:
        cell.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("the code waits for something outside of a loop")


def _in_loop(shell: Any, cell: Coroutine[Any, Any, Any], output: Output) -> Any:
    """Run a coroutine in the loop of the kernel, which runs already; in a terminal none does."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return shell.loop_runner(cell)
    try:
        import nest_asyncio2  # ipykernel brings it along
    except ImportError as error:
        cell.close()
        raise InvalidArgument("await needs the package nest_asyncio2 here; install it") from error
    if not hasattr(asyncio, "_nest_patched"):
        output.note("For the await, the kernel's asyncio loop was patched by nest_asyncio2, and stays so.")
    nest_asyncio2.apply(loop)
    task = loop.create_task(cell)
    try:
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        output.interrupted = True
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, KeyboardInterrupt):
            loop.run_until_complete(task)
        raise


# -- what the code must not change for others --------------------------------------------------------------


@contextlib.contextmanager
def _as_a_guest(shell: Any, code: str, output: Output) -> Iterator[None]:
    """Let results be shown without being kept, and nothing end the shell, or wait for a pager or debugger."""
    from IPython.core import page

    silent = _ends_in_semicolon(shell, code)

    def show_result(value: object) -> None:
        if value is not None and not silent:
            output.show_result(value)

    def refuse_exit() -> NoReturn:
        raise SystemExit("the code wanted to end the kernel, which goes on")

    trap, hook, debugs = shell.display_trap, sys.displayhook, shell.call_pdb
    kept_hook, trap.hook, sys.displayhook, shell.call_pdb = trap.hook, show_result, show_result, False
    try:
        with (
            swapped(shell, ask_exit=refuse_exit, system=shell.system_piped),
            swapped(shell.hooks, show_in_pager=page.display_page),
        ):
            yield
    finally:
        trap.hook, sys.displayhook, shell.call_pdb = kept_hook, hook, debugs


def _ends_in_semicolon(shell: Any, code: str) -> bool:
    try:
        return bool(shell.displayhook.semicolon_at_end_of_expression(code))
    except Exception:  # noqa: BLE001 - tokenize fails in many ways on what is no Python
        return False


@contextlib.contextmanager
def _no_further_payloads(shell: Any, output: Output) -> Iterator[None]:
    """Keep what the front end will be told at the end of the cell, such as to insert a cell, as it was."""
    manager = getattr(shell, "payload_manager", None)
    before = list(manager.read_payload()) if manager else []
    text = getattr(shell, "rl_next_input", None)
    yield
    if manager and manager.read_payload() != before:
        manager.clear_payload()
        for payload in before:
            manager.write_payload(payload, single=False)
        output.note("The code cannot change cells or open pagers; ProposeCell proposes a cell.")
    if hasattr(shell, "rl_next_input"):
        shell.rl_next_input = text


@contextlib.contextmanager
def _working_directory(output: Output) -> Iterator[None]:
    """See to it that there is a working directory."""
    try:
        before = os.getcwd()  # noqa: PTH109 - Path does no better
    except OSError:
        before = ""
    yield
    try:
        after = os.getcwd()  # noqa: PTH109
    except OSError:
        for folder in (before, os.path.expanduser("~"), os.sep):  # noqa: PTH111
            with contextlib.suppress(OSError):
                os.chdir(folder)
                output.note(f"The working directory is gone; it is {folder} now.")
                return
    else:
        if before and after != before:
            output.note(f"The working directory is {after} now.")


@contextlib.contextmanager
def _open_descriptors() -> Iterator[None]:
    """Open the descriptors of standard output and error anew if they were closed."""
    copies = {}
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            copies[descriptor] = os.dup(descriptor)
    try:
        yield
    finally:
        for descriptor, copy in copies.items():
            try:
                os.fstat(descriptor)
            except OSError:
                os.dup2(copy, descriptor)
            os.close(copy)


def _mend_namespace(shell: Any, before: dict[str, Any], output: Output) -> None:
    """Give the namespace back what IPython cannot do without, and `_` its value."""
    namespace = shell.user_ns
    for name in ("_", "__", "___"):
        if name in before:
            namespace[name] = before[name]
        else:
            namespace.pop(name, None)
    needed = {name: value for name, value in before.items() if name.startswith("_") or is_shell_name(name)}
    if any(name not in namespace for name in ("__name__", "_oh", "In", "get_ipython") if name in needed):
        for name, value in needed.items():
            namespace.setdefault(name, value)
        output.note("What IPython needs was deleted from the namespace, and has been put back.")


def _children() -> tuple[float, ...]:
    """Return what changes whenever a child process has ended."""
    try:
        import resource
    except ImportError:  # Windows
        return ()
    return tuple(resource.getrusage(resource.RUSAGE_CHILDREN))


class _Deadline:
    """Interrupts the main thread once some seconds are over, and again if that is not heeded; None: never."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.passed = False

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Count the seconds while the context is open."""
        if self._seconds is None:
            yield
            return
        threading.Thread(target=self._watch, args=(self._seconds,), name="deadline", daemon=True).start()
        try:
            yield
        finally:
            with self._lock:
                self._ended.set()

    def _watch(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            seconds = AGAIN_SECONDS
            with self._lock:
                if self._ended.is_set():
                    return
                self.passed = True
                if sys.platform == "win32":
                    import _thread

                    _thread.interrupt_main()
                else:
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
