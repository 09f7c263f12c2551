"""What the file tools cost over 20,000 files and in a file of 100 MB, against `os.walk` and `rg`.

Run it by hand: `python tests/benchmarks/bench_tools.py`. Where `rg` is installed, `Grep` is measured with and
without it.
"""

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tool_calls import run_tool

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import Glob, Grep, Permissions, ReadFile, Tool, ToolContext

FILES = 20_000
LINES = 1_000_000
RUNS = 5
PATH = os.environ["PATH"]
IGNORED = "\n".join(
    [
        "__pycache__/",
        "*.py[cod]",
        "build/",
        "dist/",
        "*.egg-info/",
        ".venv/",
        "*.log",
        "/data/",
        "*.tmp",
        ".cache",
    ]
    + [f"generated_{n}.txt" for n in range(40)]
)


def tree(project: Path) -> None:
    """Write a project of small modules and texts, a tenth of it ignored."""
    pick = random.Random(0)
    words = ["alpha", "beta", "gamma", "return", "import", "def", "total", "frame", "value", "self"]
    (project / ".git").mkdir()
    (project / ".gitignore").write_text(IGNORED)
    for n in range(FILES):
        folder = project / f"part_{n % 100}" / f"sub_{n // 100 % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        suffix = "log" if n % 10 == 0 else "py" if n % 2 else "md"
        lines = [" ".join(pick.choices(words, k=8)) for _ in range(60)]
        if n % 1_000 == 1:
            lines[30] += " needle_in_the_haystack"
        (folder / f"file_{n}.{suffix}").write_text("\n".join(lines))


def median(action: Callable[[], object]) -> float:
    """Return the median time of some runs, in ms, after one that warms the caches."""
    times = []
    for _ in range(1 + RUNS):
        started = time.perf_counter()
        action()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[1:])


def call(tool: Tool, context: ToolContext, **arguments: object) -> Callable[[], object]:
    """Return what runs a tool, and checks that it succeeds."""

    def run() -> None:
        result = run_tool(tool, context, **arguments)
        assert not result.is_error, result.text
        assert "stopped after" not in result.text, result.text

    return run


def walked(project: Path) -> int:
    """Stat all files, as the least that finding the newest can cost."""
    return sum(
        os.lstat(Path(folder, name)).st_size for folder, _, names in os.walk(project) for name in names
    )


def searched(project: Path, pattern: str) -> None:
    """Search by `rg` alone."""
    subprocess.run(["rg", "--hidden", "--line-number", pattern, project], capture_output=True, check=False)


def main() -> None:
    """Print a line a measure: its time, and its ratio to what it is held against."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        project.mkdir()
        tree(project)
        settings = MewCode()
        memory = MemoryStore(project, Path(folder) / "home")
        context = ToolContext("s", project, memory, settings, Permissions(settings))
        base = median(lambda: walked(project))
        report("os.walk and lstat", base, base)
        report("Glob **/*.py", median(call(Glob(), context, pattern="**/*.py")), base)
        patterns = {
            "a rare word": "needle_in_the_haystack",
            "a common word": "total",
            "a class": r"needle[^;]*k$",
        }
        for name, pattern in patterns.items():
            grep = call(Grep(), context, pattern=pattern)
            if shutil.which("rg"):
                base = median(lambda pattern=pattern: searched(project, pattern))
                report(f"rg, {name}", base, base)
                report(f"Grep with rg, {name}", median(grep), base)
                with_rg = run_tool(Grep(), context, pattern=pattern).text
            os.environ["PATH"] = ""
            report(f"Grep without rg, {name}", median(grep), base)
            without = run_tool(Grep(), context, pattern=pattern).text
            os.environ["PATH"] = PATH
            assert not shutil.which("rg") or with_rg == without
        settings.deny = ["ReadFile(.env)", "Grep(*.pem)"]
        rare = call(Grep(), context, pattern=patterns["a rare word"])
        os.environ["PATH"] = ""
        report("  with two deny rules", median(rare), base)
        os.environ["PATH"] = PATH
        settings.deny = []
        large = project / "large.txt"
        large.write_text("".join(f"{n:>9} {'x' * 90}\n" for n in range(LINES)))
        base = median(large.read_bytes)
        report("read_bytes of 101 MB", base, base)
        for offset in (1, LINES // 2, LINES - 10):
            report(
                f"ReadFile of it, offset {offset:,}",
                median(call(ReadFile(), context, path="large.txt", offset=offset)),
                base,
            )


def report(name: str, milliseconds: float, base: float) -> None:
    """Print one measure."""
    print(f"{name:40}{milliseconds:9.1f} ms{milliseconds / base:8.2f}x", flush=True)


if __name__ == "__main__":
    main()
