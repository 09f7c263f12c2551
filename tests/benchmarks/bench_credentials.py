"""What is found of credentials and of look-alikes, and what that costs.

Run it by hand: `python tests/benchmarks/bench_credentials.py`.
"""

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from credential_samples import (
    SEEN_CREDENTIALS,
    SEEN_LOOKALIKES,
    UNSEEN_CREDENTIALS,
    UNSEEN_LOOKALIKES,
)

from mewcode_magic.credentials import find_credentials, mask_credentials
from mewcode_magic.files import write_atomic
from mewcode_magic.memory import Memory, MemoryStore
from mewcode_magic.memory.document import write_document

LABELLED = json.loads((Path(__file__).parents[1] / "memory" / "labelled.json").read_text(encoding="utf-8"))
WORDS = " ".join(memory["body"] for memory in LABELLED["memories"]).split()
MEMORIES = 2_000
BODY_WORDS = 100


def main() -> None:
    """Print both."""
    started = time.perf_counter()
    find_credentials("commit 0123456789abcdef0123456789abcdef01234567")
    print(f"first text that could hold a token: {(time.perf_counter() - started) * 1000:.0f} ms")
    for name, credentials, lookalikes in (
        ("tuned on", SEEN_CREDENTIALS, SEEN_LOOKALIKES),
        ("written before, apart", UNSEEN_CREDENTIALS, UNSEEN_LOOKALIKES),
    ):
        found = sum(value not in mask_credentials(text) for text, value in credentials)
        wrong = sum(bool(find_credentials(text)) for text in lookalikes)
        print(f"{name}: {found} of {len(credentials)} found, {wrong} of {len(lookalikes)} in vain")
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))


def measure(root: Path) -> None:
    """Print the costs: of one memory, and of a store of MEMORIES."""
    store = MemoryStore(root, root / "home")
    folder = store.folder("project")
    folder.mkdir(parents=True)
    rng = random.Random(1)
    for number in range(MEMORIES):
        origin = rng.choice(LABELLED["memories"])
        body = " ".join(rng.choices(WORDS, k=BODY_WORDS))
        memory = Memory(f"{origin['name']} {number}", origin["description"], "project", body)
        (folder / f"{number}.md").write_text(write_document(memory), encoding="utf-8")
    memories = store.list()
    texts = [f"{memory.name}\n{memory.description}\n{memory.body}" for memory in memories]
    files = [(root / f"{number}.txt", text) for number, text in enumerate(texts[:200])]
    looking = typical(find_credentials, texts)
    writing = typical(lambda file: write_atomic(*file), files)
    print(f"one memory of {BODY_WORDS} words: {looking:.3f} ms to look through, {writing:.3f} ms to write")
    for what, action in (
        ("first look through all", lambda: [store.sendable(memory) for memory in memories]),
        ("later, nothing changed", lambda: [store.sendable(memory) for memory in memories]),
        ("the index, masked", lambda: store.index("project")),
        ("%memory's notices", lambda: store.notices),
    ):
        started = time.perf_counter()
        action()
        print(f"{MEMORIES} memories, {what}: {(time.perf_counter() - started) * 1000:.1f} ms")


def typical(action: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Return the median milliseconds of an action on each item."""
    times = []
    for item in items:
        started = time.perf_counter()
        action(item)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


if __name__ == "__main__":
    main()
