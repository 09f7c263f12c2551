"""What a large memory store costs: the table, the check and a save over 2,000 memories.

    python tests/benchmarks/bench_memory.py [MEMORIES]

Each memory has five lines of words with the frequencies of a language. "first" is in a process that has read
nothing yet, "again" after that. Times are milliseconds, the best of three.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from mewcode_magic.memory import MemoryStore, slug_of

WORDS = [f"word{number}" for number in range(3_000)]
WEIGHTS = [1 / (number + 1) for number in range(3_000)]

FIRST = """
import sys, time
from datetime import UTC, datetime
from mewcode_magic.memory import Memory, MemoryStore
from mewcode_magic.render import memories_table
store = MemoryStore(sys.argv[1], sys.argv[2])
work = {
    "%memory, the table": lambda: memories_table(store, now=datetime.now(UTC)).html(),
    "%memory check": store.check,
    "%memory check --fix, nothing to mend": store.fix,
    "a save": lambda: store.save(Memory("one more", "d", "project", f"It is {time.time()}")),
}[sys.argv[3]]
start = time.perf_counter()
work()
first = time.perf_counter() - start
start = time.perf_counter()
work()
print(first * 1000, (time.perf_counter() - start) * 1000)
"""
WORK = ("%memory, the table", "%memory check", "%memory check --fix, nothing to mend", "a save")


def main(count: int) -> None:
    """Write the memories, then print a line for each kind of work."""
    with tempfile.TemporaryDirectory() as folder:
        project, home = Path(folder, "project"), Path(folder, "home")
        (project / ".git").mkdir(parents=True)
        _write_memories(project, home, count)
        MemoryStore(project, home).fix()  # writes both indexes
        print(f"{count:,} memories{'first':>36}{'again':>10}")
        for name in WORK:
            runs = [_measured(project, home, name) for _ in range(3)]
            print(f"{name:<38}{min(r[0] for r in runs):>8.0f}{min(r[1] for r in runs):>10.0f}")


def _write_memories(project: Path, home: Path, count: int) -> None:
    chance = random.Random(1)
    now = datetime.now(UTC).isoformat()
    for number in range(count):
        kind = ("user", "feedback", "project", "reference")[number % 4]
        path = home / "memory" if number % 4 < 2 else project / ".mewcode" / "memory"
        path.mkdir(parents=True, exist_ok=True)
        body = "\n".join(" ".join(chance.choices(WORDS, WEIGHTS, k=12)) for _ in range(5))
        name = f"memory number {number}"
        header = f"name: {name}\ndescription: when asked for {number}\ntype: {kind}\nupdated: '{now}'"
        (path / f"{slug_of(name)}.md").write_text(f"---\n{header}\n---\n\n{body}\n", encoding="utf-8")


def _measured(project: Path, home: Path, name: str) -> tuple[float, float]:
    command = [sys.executable, "-c", FIRST, str(project), str(home), name]
    time.sleep(0.1)
    first, again = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(first), float(again)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
