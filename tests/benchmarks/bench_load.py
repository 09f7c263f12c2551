"""What loading the extension costs beside a bare IPython: medians of processor and wall time.

    python tests/benchmarks/bench_load.py [ROUNDS]

Each round is a new process; the two kinds alternate, so that a busy machine slows both.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import json, sys, time
wall, processor = time.perf_counter(), time.process_time()
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
shell.run_cell("None")
bare = time.perf_counter() - wall, time.process_time() - processor
wall, processor = time.perf_counter(), time.process_time()
shell.run_cell(sys.argv[1])
print(json.dumps([*bare, time.perf_counter() - wall, time.process_time() - processor]))
"""


def measure(cell: str, folder: str) -> list[float]:
    """Return four times in seconds: bare IPython's, wall and processor; the cell's, wall and processor."""
    environment = os.environ | {"HOME": folder, "IPYTHONDIR": folder}
    command = [sys.executable, "-c", PROGRAM, cell]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, env=environment)
    return json.loads(ran.stdout.splitlines()[-1])


def main() -> None:
    """Print the medians."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    cells = {"None": [], "%load_ext mewcode": [], "%load_ext mewcode\n%mewcode": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            for cell, times in cells.items():
                times.append(measure(cell, folder))
    for cell, times in cells.items():
        wall, processor, more_wall, more_processor = (
            statistics.median(t) for t in zip(*times[1:], strict=True)
        )
        print(
            f"{cell!r:32} adds {more_wall:.3f} s wall, {more_processor:.3f} s processor, "
            f"to {wall:.3f} s wall, {processor:.3f} s processor: {more_processor / processor:.2f} times"
        )


if __name__ == "__main__":
    main()
