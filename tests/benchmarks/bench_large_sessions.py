"""What very large sessions cost: time and memory of resuming them, in processes of their own.

Run it by hand: `python tests/benchmarks/bench_large_sessions.py`. It needs 1 GB of disk for a moment.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
from bench_sessions import with_calls, words, write_session
from jupyter_client.manager import start_new_kernel

from mewcode_magic.sessions import SessionStore

PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
RESUME = """
import resource, sys, time
from mewcode_magic.sessions import SessionStore
store = SessionStore(sys.argv[1])
times = []
for _ in range(11):
    started = time.perf_counter()
    resumed = store.resume(sys.argv[2])
    times.append(time.perf_counter() - started)
    resumed.session.close()
assert len(resumed.messages) == 46, len(resumed.messages)
print(sorted(times)[5] * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
"""


def main() -> None:
    """Print all measures."""
    for measure in (gigabyte, kernel):
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder))


def gigabyte(root: Path) -> None:
    """Time and memory of resuming from a boundary near the end of 1 GB, and of 10 MB."""
    store = SessionStore(root / "gigabyte")
    small = write_session(store, "role", with_calls(21_000), name="20261129-120000-0001")
    large = small.with_stem("20261129-120000-0002")
    block = small.read_bytes()
    with large.open("wb") as file:
        while file.tell() < 1_000_000_000:
            file.write(block)
    kept = {"summary": words(200), "keep": [{"role": "user", "content": words(10)}] * 5}
    last = {"role": "compact_boundary", "content": kept, "ts": 1}
    for path in (small, large):
        lines = [last, *({**record, "ts": 2} for record in with_calls(40))]
        with path.open("ab") as file:
            file.writelines(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
        command = [sys.executable, "-c", RESUME, str(store.project), path.stem]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)
        taken, memory = map(float, ran.stdout.split())
        size = path.stat().st_size / 1e6
        print(
            f"resume of {size:,.0f} MB from its boundary: {taken:.1f} ms, limit 50; {memory:.0f} MB of memory"
        )


def kernel(root: Path) -> None:
    """Peak memory of a kernel that has resumed a session of 100 MB, beside one that has only loaded."""
    (root / ".git").mkdir()
    path = write_session(SessionStore(root), "role", with_calls(210_000))
    bare, resumed = (peak(root, cell) for cell in ("", f"%resume {path.stem}"))
    size = path.stat().st_size / 1e6
    print(f"kernel with a session of {size:.0f} MB resumed: {resumed:.0f} MB at most, without {bare:.0f} MB")


def peak(root: Path, cell: str) -> float:
    """Return the most memory, in MB, that a kernel takes that loads the extension and runs a cell."""
    manager, client = start_new_kernel(cwd=str(root), env={**os.environ, "MEWCODE_HOME": str(root / "home")})
    printed: list[str] = []
    for code in ("%load_ext mewcode", cell, PEAK):
        client.execute_interactive(
            code, output_hook=lambda message: printed.append(message["content"].get("text", "")), timeout=60
        )
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    return int("".join(printed).split()[-1]) / 1e3


if __name__ == "__main__":
    main()
