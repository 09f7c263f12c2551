"""What the offline rules keep of labelled texts, and what a turn's extraction by them costs.

Run it by hand: `python tests/benchmarks/bench_extract.py`. Costs are multiples of writing one memory file.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.files import write_atomic
from mewcode_magic.memory import MemoryStore, extract
from mewcode_magic.messages import Message
from mewcode_magic.model.offline import Offline
from mewcode_magic.model.rules.stated import lasting_statements

LABELLED = json.loads(
    (Path(__file__).parents[1] / "model" / "rules" / "statements.json").read_text(encoding="utf-8")
)
TEXTS = [text for parts in LABELLED.values() for texts in parts.values() for text in texts]


def main() -> None:
    """Print both."""
    for part in LABELLED["kept"]:
        kept, ignored = (
            [bool(lasting_statements(t)) for t in LABELLED[label][part]] for label in ("kept", "ignored")
        )
        print(f"{part:>7}: kept {sum(kept)} of {len(kept)}, wrongly kept {sum(ignored)} of {len(ignored)}")
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))


def measure(root: Path) -> None:
    """Print the costs over an empty store."""
    store = MemoryStore(root, root / "home")
    texts = iter(TEXTS * 3)

    def turn(prompt: str) -> None:
        extract(
            Offline(),
            store,
            messages=[Message(role="user", content=prompt)],
            earlier=[],
            instructions="",
            session_id="20270129-120000-abcd",
            settings=MewCode(),
            now=datetime.now(UTC),
        )

    base = typical(lambda: write_atomic(root / "one.md", "x" * 300))
    print(f"writing one file takes {base * 1000:.2f} ms")
    print(
        f"  rules on one text:                {typical(lambda: lasting_statements(next(texts))) / base:6.1f}"
    )
    print(f"  a turn that leaves nothing:       {typical(lambda: turn('Load sales.csv')) / base:6.1f}")
    numbers = iter(range(1_000))
    saving = typical(lambda: turn(f"I prefer {next(numbers)} dpi"))
    print(f"  a turn that leaves a memory:      {saving / base:6.1f}")


def typical(action: Callable[[], None]) -> float:
    """Return the median seconds of 50 runs."""
    times = []
    for _ in range(50):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
