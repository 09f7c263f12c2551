"""What it costs to run code as `RunPython` does, against the shell's own `run_cell`, in a real kernel.

Run it by hand: `python tests/benchmarks/bench_run_python.py`.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from live_kernel import live_kernel

CASES = {
    "1 + 1": "1 + 1",
    "1,000 lines printed": "for n in range(1000):\n    print('a line of some length', n)",
    "10 MB printed": "for n in range(100):\n    print('x' * 100_000)",
    "an exception": "1 / 0",
}
ROUNDS = 40

TIMED = """
import statistics, time
from mewcode_magic.tools import RunPython, run_call
def _timed(code, rounds):
    shell = get_ipython()
    mew = shell.meta["mewcode_magic"].mew
    context, tools = mew._current._context, {{"RunPython": RunPython()}}
    def agents():
        for event in run_call({{"id": "t", "name": "RunPython", "input": {{"code": code}}}}, tools, context):
            pass
    def cells():
        shell.run_cell(code, store_history=False)
    both = {{agents: [], cells: []}}
    for _ in range(rounds):
        for run, seconds in both.items():
            began = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - began)
    return [statistics.median(seconds[1:]) for seconds in both.values()]
_figures = _timed({code!r}, {rounds})
"""


def main() -> None:
    """Print a line for each case: milliseconds of both, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MEWCODE_HOME": f"{folder}/home", "IPYTHONDIR": f"{folder}/ipython"}
        os.environ["MEWCODE_PERMISSION_MODE"] = "auto"
        with live_kernel(Path(folder)) as kernel:
            print(f"{'':24}{'RunPython':>12}{'run_cell':>12}{'ratio':>8}")
            for name, code in CASES.items():
                kernel.run(TIMED.format(code=code, rounds=ROUNDS if "MB" not in name else 5), timeout=300)
                ours, cells = kernel.value("_figures")
                print(f"{name:24}{ours * 1000:>9.2f} ms{cells * 1000:>9.2f} ms{ours / cells:>8.2f}")


if __name__ == "__main__":
    main()
