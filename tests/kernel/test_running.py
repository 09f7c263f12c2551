"""Code that runs in a real shell from inside: what is kept of it, and what of the shell stays as it was."""

import asyncio
import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from mewcode_magic.kernel.output import SHOWN_CHARS, STDOUT_CHARS
from mewcode_magic.kernel.running import Ran, run_code

Run = Callable[..., Ran]


@pytest.fixture
def shell(project: Path) -> Iterator[InteractiveShell]:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    instance = InteractiveShell.instance(config=config)
    yield instance
    InteractiveShell.clear_instance()
    atexit.unregister(instance.atexit_operations)


@pytest.fixture
def run(shell: InteractiveShell) -> Run:
    """Run code as the agent does: from inside a cell."""

    def run(code: str, **options: object) -> Ran:
        ran = []
        shell.user_ns["_inner"] = lambda: ran.append(run_code(shell, code, **options))
        with capture_output(display=False) as captured:
            outer = shell.run_cell("_inner();", store_history=True)
        outer.raise_error()
        run.shown = captured.stdout
        run.errors = captured.stderr
        return ran[0]

    return run


def test_what_is_put_out_is_shown_and_kept_by_kind(run: Run) -> None:
    ran = run("import sys\nprint('out')\nprint('err', file=sys.stderr)\n[1, 2]")
    assert (ran.stdout, ran.stderr, ran.result, ran.error) == ("out", "err", "[1, 2]", None)
    assert run.shown == "out\n[1, 2]\n"
    assert run.errors == "err\n"


@pytest.mark.parametrize("code", ["5;", "5; # done", "x = 5", "None", "def f():\n    return 5"])
def test_code_without_a_value_at_its_end_has_no_result(run: Run, code: str) -> None:
    assert run(code).result == ""
    assert run.shown == ""


def test_a_cells_own_semicolon_does_not_silence_the_code(run: Run) -> None:
    assert run("6 * 7").result == "42"  # the outer cell ends in one


def test_books_of_the_shell_stay_as_they_are(run: Run, shell: InteractiveShell) -> None:
    shell.run_cell("'mine'", store_history=True)
    run("0")
    before = {name: shell.user_ns[name] for name in ("_", "__", "___")}
    out, inputs, number = dict(shell.user_ns["Out"]), list(shell.user_ns["In"]), shell.execution_count
    run("for _ in range(3):\n    pass\n__ = 8\n7")
    assert {name: shell.user_ns[name] for name in before} == before
    assert shell.user_ns["_"] == "mine"
    assert shell.user_ns["Out"] == out
    assert shell.user_ns["In"][: len(inputs)] == inputs
    assert shell.execution_count == number + 1  # the outer cell's
    assert "range(3)" not in str(shell.user_ns["In"])


def test_names_that_were_bound_changed_and_deleted_are_told(run: Run, shell: InteractiveShell) -> None:
    shell.user_ns |= {"kept": 1, "rebound": 1, "part": {}, "added": [1], "gone": 1, "same": 5}
    ran = run(
        "import math\nrebound = 2\npart['x'] = 1\nadded += [2]\ndel gone\nsame\n_hidden = 1\n"
        "def f():\n    kept = 3\n[kept for kept in 'ab'];"
    )
    assert sorted(ran.bound) == ["added", "f", "math", "part", "rebound"]
    assert ran.deleted == ["gone"]


@pytest.mark.parametrize(
    ("code", "error", "shown"),
    [
        ("1 / 0", ZeroDivisionError, "division by zero"),
        ("def f(:", SyntaxError, "invalid syntax"),
        ("%nothing", Exception, "Line magic function `%nothing` not found."),
        ("def f():\n    f()\nf()", RecursionError, "maximum recursion depth"),
        ("raise ExceptionGroup('several', [ValueError('one')])", ExceptionGroup, "several"),
        ("class E(Exception):\n    def __str__(self): 1/0\nraise E", Exception, "E"),
        ("raise SystemExit(3)", SystemExit, "SystemExit"),
        ("exit()", SystemExit, "which goes on"),
        ("quit", SystemExit, "which goes on"),
    ],
)
@pytest.mark.filterwarnings("ignore:To exit:UserWarning")
def test_exception_is_shown_once_and_returned(run: Run, code: str, error: type, shown: str) -> None:
    ran = run(code)
    assert isinstance(ran.error, error)
    assert ran.stopped == ""
    assert shown in run.errors
    assert "Traceback" not in ran.stderr
    assert run("1").result == "1"


def test_value_that_cannot_be_shown_is_an_error_that_is_told(run: Run) -> None:
    ran = run("class Broken:\n    def __repr__(self):\n        raise KeyError('oh')\nBroken()")
    assert ran.result == ""
    assert "KeyError" in str(ran.notes)
    assert "KeyError" in run.errors


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.stdout.close()\nsys.stderr.close()",
        "import sys, io\nsys.stdout = io.StringIO()",
        "import sys\nsys.stdout = sys.stderr = None",
        "import sys\nsys.stdout.write = None",
        "import builtins\nprint = None",
        "import sys\nwith sys.stdout:\n    pass",
        "import sys\nsys.displayhook = None",
    ],
)
def test_streams_are_there_afterwards_whatever_the_code_does_to_them(run: Run, code: str) -> None:
    run(code)
    ran = run("import sys\nsys.stdout.write('there\\n')\n1 + 1")
    assert (ran.stdout, ran.result) == ("there", "2")
    assert run.shown == "there\n2\n"


def test_descriptor_that_was_closed_is_open_again(shell: InteractiveShell) -> None:
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "from mewcode_magic.kernel.running import run_code\n"
        "ran = run_code(InteractiveShell.instance(), 'import os; os.close(1)')\n"
        "print('still here', ran.error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "still here None\n"


def test_very_much_output_is_bounded_in_memory_and_on_the_screen(run: Run) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = run("print('first')\nfor i in range(1000):\n    print('x' * 100_000)\nprint('last')")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 40_000  # KB, for 100 MB of output
    assert ran.stdout.startswith("first")
    assert ran.stdout.endswith("last")
    assert "characters are left out here" in ran.stdout
    assert len(ran.stdout) < STDOUT_CHARS + 200
    assert SHOWN_CHARS <= len(run.shown) < SHOWN_CHARS + 200
    assert "more characters are not shown" in run.shown
    assert f"{SHOWN_CHARS:,}" in str(ran.notes)


def test_progress_bar_is_kept_in_its_last_state_without_colours(run: Run) -> None:
    ran = run("for i in range(101):\n    print(f'\\x1b[32m{i}%\\x1b[0m', end='\\r')\nprint('100% done')")
    assert ran.stdout == "100% done"


def test_output_of_commands_is_kept(run: Run) -> None:
    assert run("!echo from the shell").stdout == "from the shell"
    assert run("%%bash\necho one\necho two >&2").stdout == "one"
    assert run("files = !echo a").bound == ["files"]


def test_help_is_text_and_opens_no_pager(run: Run) -> None:
    assert "Return the number of items" in run("len?").stdout + run("len?").displayed


def test_await_works_where_no_loop_runs(run: Run) -> None:
    ran = run("import asyncio\nawait asyncio.sleep(0.01)\n'slept'")
    assert (ran.result, ran.notes) == ("'slept'", [])


@pytest.mark.parametrize("wait", ["import time\ntime.sleep(30)", "while True:\n    pass"])
def test_time_that_is_over_stops_the_code(run: Run, wait: str) -> None:
    began = time.monotonic()
    ran = run(f"got = 1\nprint('began')\n{wait}", seconds=0.3)
    assert time.monotonic() - began < 10
    assert (ran.stopped, ran.stdout, ran.bound[0]) == ("time", "began", "got")
    assert "Traceback" not in run.errors


def test_code_that_does_not_heed_the_first_interrupt_gets_another(run: Run) -> None:
    ran = run(
        "import time\nheeded = 0\nwhile heeded < 2:\n    try:\n        time.sleep(30)\n"
        "    except BaseException:\n        heeded += 1\ntime.sleep(30)",
        seconds=0.2,
    )
    assert ran.stopped == "time"


def test_time_that_suffices_changes_nothing(run: Run) -> None:
    ran = run("1", seconds=30)
    assert (ran.stopped, ran.result) == ("", "1")


def test_interrupt_stops_the_code_and_keeps_what_came_before(run: Run) -> None:
    threading.Timer(0.3, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()
    ran = run("print('began')\nimport time\ntime.sleep(30)")
    assert (ran.stopped, ran.stdout) == ("user", "began")
    assert run.errors == ""


def test_code_that_raises_cancelled_is_no_stop_of_the_user(run: Run) -> None:
    ran = run("import asyncio\nraise asyncio.CancelledError")
    assert isinstance(ran.error, asyncio.CancelledError)
    assert ran.stopped == ""


def test_working_directory_that_was_deleted_is_replaced(run: Run, project: Path) -> None:
    ran = run(
        "import os, tempfile\nfolder = tempfile.mkdtemp()\nos.chdir(folder)\nos.rmdir(folder)\nos.getcwd()"
    )
    assert isinstance(ran.error, FileNotFoundError)
    assert Path.cwd() == project
    assert "working directory is gone" in str(ran.notes)


def test_working_directory_that_was_changed_stays_and_is_told(run: Run, tmp_path: Path) -> None:
    ran = run(f"%cd -q {tmp_path}")
    assert Path.cwd() == tmp_path
    assert str(tmp_path) in str(ran.notes)


@pytest.mark.parametrize("code", ["globals().clear()", "%reset -f", "get_ipython().user_ns.clear()"])
def test_emptied_namespace_leaves_a_shell_that_works(run: Run, shell: InteractiveShell, code: str) -> None:
    shell.user_ns["mine"] = 1
    ran = run(code)
    assert "mine" in ran.deleted
    shell.run_cell("x = 5", store_history=True)
    assert shell.run_cell("x + len(In) * 0", store_history=True).result == 5
    assert shell.user_ns["_"] == 5
    assert shell.user_ns["__name__"] == "__main__"


def test_a_forked_child_never_goes_on_behind_the_code(run: Run, tmp_path: Path) -> None:
    mark = tmp_path / "behind"
    run("import os\nif (pid := os.fork()):\n    os.waitpid(pid, 0)")
    with mark.open("a") as file:
        file.write(f"{os.getpid()}\n")
    assert mark.read_text() == f"{os.getpid()}\n"


def test_child_that_ends_hard_is_no_matter(run: Run) -> None:
    ran = run(
        "import os\nif (pid := os.fork()) == 0:\n    os._exit(7)\n"
        "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
    )
    assert ran.result == "7"


def test_callbacks_of_the_user_run_and_may_fail(run: Run, shell: InteractiveShell) -> None:
    heard = []
    for event in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell"):
        shell.events.register(event, lambda *_, event=event: heard.append(event))
    shell.events.register("post_execute", lambda: 1 / 0)
    ran = run("1")
    inside = heard[2:-2]
    assert inside == ["pre_execute", "pre_run_cell", "post_execute", "post_run_cell"]
    assert ran.error is None
    assert "ZeroDivisionError" in str(ran.notes)


def test_next_cell_is_not_the_codes_to_write(run: Run, shell: InteractiveShell) -> None:
    shell.rl_next_input = "the user's"
    run("get_ipython().set_next_input('x', replace=True)")
    assert shell.rl_next_input == "the user's"


def test_shell_and_streams_get_all_their_own_methods_back(run: Run, shell: InteractiveShell) -> None:
    owners = [shell, shell.display_pub, shell.displayhook, shell.hooks, sys.stdout, sys.stderr]
    before = [dict(vars(owner)) for owner in owners]
    run_code(shell, "print(1)\n1/0")
    names = (
        "write",
        "close",
        "publish",
        "clear_output",
        "showtraceback",
        "_showtraceback",
        "ask_exit",
        "system",
    )
    for owner, earlier in zip(owners, before, strict=True):
        now = vars(owner)
        assert {n: now.get(n) for n in names} == {n: earlier.get(n) for n in names}
    assert sys.displayhook is not None
    assert shell.display_trap.hook is shell.displayhook
