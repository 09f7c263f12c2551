"""What it costs to run a command by `Bash`, beside the bare subprocess, and to judge one by rules.

Run it by hand: `python tests/benchmarks/bench_bash.py`.
"""

import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import Bash, Permissions, ToolContext, run_call

RUNS = 200
RULES = [f"Bash(tool{n} run *)" for n in range(20)]
LONG = "git log --oneline | head -20 && (cd src; grep -rn 'a b' .) > out.txt; echo \"$(date)\"\n" * 50


def main() -> None:
    """Print medians in milliseconds, and what a flood of output adds to the memory."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        settings = MewCode(permission_mode="auto")
        context = ToolContext("s", project, MemoryStore(project, project), settings, Permissions(settings))
        measure("subprocess.run(['bash', '-c', 'true'])", bare)
        measure("Bash, true", lambda: run(context, "true"))
        measure("Bash, seq 1 1000", lambda: run(context, "seq 1 1000"))
        settings.deny = settings.allow = RULES
        measure("20 deny and 20 allow rules, git status", lambda: judge(context, "git status"))
        measure(f"the same, {len(LONG):,} characters", lambda: judge(context, LONG), runs=10)
        settings.deny = settings.allow = []
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        run(context, "yes 'some words of a line' | head -c 100000000")
        seconds = time.perf_counter() - started
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(f"100 MB of output: {seconds:.2f} s, {grown / 1024:.1f} MB more memory")


def bare() -> None:
    """Run a command as Python does it."""
    subprocess.run(["bash", "-c", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=True)


def run(context: ToolContext, command: str) -> None:
    """Run a command as the turn does."""
    call = {"id": "t", "name": "Bash", "input": {"command": command}}
    for _ in run_call(call, {"Bash": Bash()}, context):
        pass


def judge(context: ToolContext, command: str) -> None:
    """Decide on a command without running it."""
    context.permissions.decide(Bash().action(Bash.Arguments(command=command), context))


def measure(name: str, action: Callable[[], object], runs: int = RUNS) -> None:
    """Print the median time of an action."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        action()
        times.append((time.perf_counter() - started) * 1000)
    print(f"{name:45}{statistics.median(times):8.2f} ms", flush=True)


if __name__ == "__main__":
    main()
