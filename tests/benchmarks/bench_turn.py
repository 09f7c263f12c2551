"""What a turn costs in a real kernel, beside the model and the tools.

Run it by hand: `python tests/benchmarks/bench_turn.py`.
"""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from api_server import ApiServer
from live_kernel import LiveKernel, live_kernel

TURNS = 60
DELTAS = 10_000
ROUNDS = 5
TEXTS = {
    "one paragraph": "seven c" * DELTAS,
    "prose, lists, links, code": (
        "Some **bold** words and `code`, then a list:\n\n- one\n- two\n\n" * 5
        + "See [the page](https://jupyter.org), where a < b.\n\n```python\ntotal = sum(values)\n```\n\n"
    )
    * (DELTAS // 54),
    "one long block of code": "```python\n" + "total = sum(values) + 1\n" * (DELTAS * 7 // 24) + "```\n",
}

A_CALL = f"""
import statistics, time
from mewcode_magic.app import Mew
from mewcode_magic.events import ToolEnded
from mewcode_magic.model import Scripted
from mewcode_magic.render import show_turn
frame = [list(range(50)) for _ in range(1_000)]
_call = [{{"type": "tool_use", "id": "t1", "name": "Inspect", "input": {{"names": ["frame"]}}}}]
_model = Scripted([reply for _ in range({TURNS}) for reply in (_call, "It is a list.")])
_mew = Mew(shell=get_ipython(), model=_model, settings=get_ipython().meta["mewcode_magic"].settings)
_added = []
def _turn():
    tool = 0.0
    def watched():
        nonlocal tool
        for event in _mew.ask("What is frame?"):
            if isinstance(event, ToolEnded):
                tool += event.seconds
            yield event
    began, used = time.perf_counter(), time.process_time()
    show_turn(watched(), shell=get_ipython())
    _added.append((time.perf_counter() - began - tool, time.process_time() - used - tool))
"""

A_STREAM = """
import os, time, anthropic
from mewcode_magic.app import Mew
from mewcode_magic.render import show_turn
_mew = Mew(shell=get_ipython(), settings=get_ipython().meta["mewcode_magic"].settings)
_mew.settings.extract, _mew.settings.recall = "off", False
_client = anthropic.Anthropic()
def _drain():
    asked = [{"role": "user", "content": "Tell me a long story."}]
    with _client.messages.stream(model="claude-test", max_tokens=9, messages=asked) as stream:
        for _ in stream:
            pass
def _rendered():
    _mew.new()
    show_turn(_mew.ask("Tell me a long story."), shell=get_ipython())
def _timed(run):
    began, used = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - began, time.process_time() - used
_figures = {"drain": [], "rendered": []}
"""


def main() -> None:
    """Print a line a measure."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MEWCODE_HOME": f"{folder}/home", "IPYTHONDIR": f"{folder}/ipython"}
        with live_kernel(Path(folder)) as kernel:
            one_call(kernel)
        for name, text in TEXTS.items():
            with api(text, 2 * (ROUNDS + 1)) as url:
                os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "some-key"}
                with live_kernel(Path(folder)) as kernel:
                    streaming(kernel, name)


def one_call(kernel: LiveKernel) -> None:
    """A turn with one call of `Inspect`, all that is shown and recorded included."""
    run(kernel, A_CALL)
    for _ in range(TURNS):
        run(kernel, "_turn()")
    clock, work = (sorted(seconds) for seconds in zip(*kernel.value("_added[5:]"), strict=True))
    print(f"a turn with one Inspect adds {clock[len(clock) // 2] * 1000:.1f} ms beside the tool (median of")
    print(f"  {len(clock)} turns of one session; {work[len(work) // 2] * 1000:.1f} ms of computing)")


def streaming(kernel: LiveKernel, name: str) -> None:
    """A long reply as a turn that is shown and recorded, against draining the SDK's `messages.stream`."""
    run(kernel, A_STREAM)
    for _ in range(ROUNDS + 1):
        for one in ("drain", "rendered"):
            run(kernel, f"_figures[{one!r}].append(_timed(_{one}));")
    figures = kernel.value("_figures")
    least = [[min(column) for column in zip(*times[1:], strict=True)] for times in figures.values()]
    (theirs, their_work), (ours, our_work) = least
    print(f"{DELTAS:,} deltas, {name}: {ours / theirs:.2f} of the time of messages.stream ({theirs:.2f} s),")
    print(f"  {our_work / their_work:.2f} of its computing")


def run(kernel: LiveKernel, code: str) -> None:
    """Run a cell that must succeed."""
    seen = kernel.run(code, timeout=120)
    assert seen.status == "ok", seen.of("error")


@contextmanager
def api(text: str, replies: int) -> Iterator[str]:
    """Yield the address of an API in a process of its own, which gives that reply so many times."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there, text, replies), daemon=True)
    process.start()
    yield here.recv()
    here.send("stop")
    process.join()


def serve(pipe: Connection, text: str, replies: int) -> None:
    """Serve until the pipe says so."""
    with ApiServer() as server:
        for _ in range(replies):
            server.reply(text)
        pipe.send(server.url)
        pipe.recv()


if __name__ == "__main__":
    main()
