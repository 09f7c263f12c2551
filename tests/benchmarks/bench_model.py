"""What a model costs: at load, per streamed delta, and while its SDK is imported behind the user's work.

Run by hand: `python tests/benchmarks/bench_model.py`. Prints ratios; times depend on the machine.
"""

import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from api_server import ApiServer  # noqa: E402 - the folder of the tests is no package

DELTAS = 10_000
ROUNDS = 5
KERNELS = 3
IDLE = 3.0
"""Seconds without a cell before the first answer."""
WINDOW = 2.0
"""Seconds after the start of the import during which small cells are run."""

SETUP = """
import threading
busy = threading.Event()
busy.set()
shell = get_ipython()
shell.events.register("pre_run_cell", lambda info: busy.set())
shell.events.register("post_run_cell", lambda result: busy.clear())
"""
WORK = """
for _ in range(250_000):
    sum(range(1_000))
"""
NUMPY = """
import numpy
generator = numpy.random.default_rng(0)
for _ in range(400):
    numpy.sort(generator.random(100_000))
"""
WAIT = "import time; time.sleep(2)"
CELLS = {"3 s of Python": WORK, "2 s of numpy": NUMPY, "2 s of waiting": WAIT}
"""Cells that a Run All has between the load and the first cell of the agent."""
NOTHING = "None"
AGENT = """
import os
os.environ.update(ANTHROPIC_API_KEY="some-key", ANTHROPIC_BASE_URL="http://127.0.0.1:9")
from mewcode_magic.events import Request
from mewcode_magic.model.claude import Claude
try:
    next(Claude("claude-test", max_retries=0).stream(Request([], [{"role": "user", "content": "hi"}], [], 9)))
except Exception as error:
    assert type(error).__name__ == "Unreachable", error
else:
    raise AssertionError("there is a server on the discard port")
"""
WARM = "from mewcode_magic.model import warm_up; warm_up(busy)"
PLAIN = "threading.Thread(target=__import__, args=('mewcode_magic.model.wire',), daemon=True).start()"


def main() -> None:
    """Print all figures."""
    load()
    streaming()
    warming()
    run_all()


def load() -> None:
    """What `mewcode_magic.model` adds to what the extension loads anyway, and that no SDK is among it."""
    code = (
        "import time, sys, IPython, mewcode_magic.config, mewcode_magic.memory; t = time.perf_counter(); "
        "import mewcode_magic.model; print(time.perf_counter() - t, 'anthropic' in sys.modules)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(ROUNDS)
    ]
    seconds = min(float(run[0]) for run in runs)
    print(f"load: {seconds * 1000:.1f} ms for mewcode_magic.model; SDK imported: {runs[0][1]}")


def streaming() -> None:
    """A long reply through `Claude.stream`, against draining the SDK's own `messages.stream`."""
    import anthropic

    from mewcode_magic.events import Request, TextDelta
    from mewcode_magic.model.claude import Claude

    messages = [{"role": "user", "content": "Tell me a long story."}]
    with _server(2 * ROUNDS + 2) as url:
        os.environ.update(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="some-key")
        client = anthropic.Anthropic()
        claude = Claude("claude-test")

        def drain() -> None:
            with client.messages.stream(model="claude-test", max_tokens=9, messages=messages) as stream:
                assert sum(event.type == "text" for event in stream) == DELTAS

        def ours() -> None:
            events = claude.stream(Request([], messages, [], 9))
            assert sum(isinstance(event, TextDelta) for event in events) == DELTAS

        theirs, own = _measure(drain), _measure(ours)
    print(f"streaming {DELTAS:,} deltas: {own[0] / theirs[0]:.2f} of the time, {own[1] / theirs[1]:.2f} of")
    print(f"  the computing of messages.stream ({own[1] / DELTAS * 1e6:.0f} µs a delta)")


def warming() -> None:
    """Cells run during the import, and the first need of the SDK, with and without it."""
    os.environ["ANTHROPIC_API_KEY"] = "some-key"
    titles = ("1+1, median", "slowest", "ipywidgets", f"SDK after {IDLE:.0f} s")
    print(f"{'during the import:':30} " + " ".join(f"{title:>14}" for title in titles))
    base: list[float] = []
    for title, start in (("no import", NOTHING), ("import in a plain thread", PLAIN), ("warm_up", WARM)):
        figures = [_kernel_figures(start) for _ in range(KERNELS)]
        row = [statistics.median(column) for column in zip(*figures, strict=True)]
        base = base or row
        cells = [
            f"{value * 1000:6.0f} ms x{value / norm:4.1f}" for value, norm in zip(row, base, strict=True)
        ]
        print(f"{title:30} " + " ".join(f"{cell:>14}" for cell in cells))


def run_all() -> None:
    """A Run All: load, `import pandas`, a cell of some kind, an agent's cell; what the last two take.

    By turns without a background import, with it in a plain thread and with `warm_up`. The agent's cell
    sends its first request, to where nobody listens.
    """
    print("Run All with a cell of:            " + " ".join(f"{kind:>30}" for kind in CELLS))
    starts = {"no import": NOTHING, "import in a plain thread": PLAIN, "warm_up": WARM}
    taken: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for _ in range(KERNELS):
        for kind, cell in CELLS.items():
            for title, start in starts.items():
                with _kernel() as client:
                    _run(client, start)
                    times = tuple(_run(client, code) for code in ("import pandas", cell, AGENT))
                taken.setdefault((title, kind), []).append(times)
    for title in starts:
        shown = []
        for kind in CELLS:
            pandas, cell, agent = (min(column) for column in zip(*taken[title, kind], strict=True))
            base = min(times[1] for times in taken["no import", kind])
            shown.append(f"{pandas:.2f} s, x{cell / base:.2f}, {agent:.2f} s")
        print(f"{title:34} " + " ".join(f"{text:>30}" for text in shown))
    print("  (pandas; the cell, against no import; until the client can send: the least of the rounds)")


def _kernel_figures(start: str) -> list[float]:
    """Return seconds: small cells (median, longest), a user's import, the SDK's first use after a rest."""
    with _kernel() as client:
        _run(client, start)
        cells = []
        end = time.perf_counter() + WINDOW
        while time.perf_counter() < end:
            time.sleep(0.4)  # long enough for the import to get on between the cells
            cells.append(_run(client, "1+1"))
    with _kernel() as client:
        _run(client, start)
        time.sleep(0.5)
        users_import = _run(client, "import ipywidgets")
    with _kernel() as client:
        _run(client, start)
        time.sleep(IDLE)
        first_use = _run(client, "import mewcode_magic.model.wire")
    return [statistics.median(cells), max(cells), users_import, first_use]


@contextmanager
def _kernel() -> Iterator[BlockingKernelClient]:
    """Yield a client of a kernel that keeps `busy` as the extension does."""
    manager = KernelManager(kernel_name="python3")
    manager.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.start_kernel(stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        for code in (SETUP, "1+1", "1+1"):
            _run(client, code)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _run(client: BlockingKernelClient, code: str) -> float:
    """Return the seconds that a cell takes."""
    started = time.perf_counter()
    reply = client.execute_interactive(code, timeout=120, output_hook=lambda message: None)
    assert reply["content"]["status"] == "ok", reply["content"]
    return time.perf_counter() - started


def _measure(work: Callable[[], None]) -> tuple[float, float]:
    """Return the least seconds, on the clock and of computing, of several runs after a first one."""
    work()
    clock, computing = [], []
    for _ in range(ROUNDS):
        started, used = time.perf_counter(), time.process_time()
        work()
        clock.append(time.perf_counter() - started)
        computing.append(time.process_time() - used)
    return min(clock), min(computing)


@contextmanager
def _server(replies: int) -> Iterator[str]:
    """Yield the address of an API in a process of its own, which gives that many long replies."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, replies), daemon=True)
    process.start()
    yield here.recv()
    here.send("stop")
    process.join()


def _serve(pipe: Connection, replies: int) -> None:
    with ApiServer() as server:
        for _ in range(replies):
            server.reply("seven c" * DELTAS)
        pipe.send(server.url)
        pipe.recv()


if __name__ == "__main__":
    main()
