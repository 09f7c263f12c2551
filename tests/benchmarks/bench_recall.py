"""What recall by keywords finds, and what it costs as a multiple of reading the memory files once.

Run it by hand: `python tests/benchmarks/bench_recall.py`.
"""

import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.memory import Memory, MemoryStore, rank_by_keywords, recall
from mewcode_magic.memory.document import write_document

LABELLED = json.loads((Path(__file__).parents[1] / "memory" / "labelled.json").read_text(encoding="utf-8"))
QUESTIONS = [question["question"] for question in LABELLED["questions"]]
WORDS = " ".join(memory["body"] for memory in LABELLED["memories"]).split()
BODY_WORDS = 100


def main() -> None:
    """Print both."""
    memories = [Memory(**memory) for memory in LABELLED["memories"]]
    answers = [
        (set(q["expected"]), {m.name for m in rank_by_keywords(q["question"], memories)})
        for q in LABELLED["questions"]
    ]
    asked = [found & expected for expected, found in answers if expected]
    unanswerable = [found for expected, found in answers if not expected]
    picks = sum(len(found) for _, found in answers)
    print(f"labelled questions over {len(memories)} memories")
    print(f"  found among the first five: {sum(map(bool, asked))} of {len(asked)}")
    print(f"  found in vain:              {sum(map(bool, unanswerable))} of {len(unanswerable)}")
    print(f"  picks that were expected:   {sum(map(len, asked))} of {picks}")
    for size in (200, 2_000):
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), size)


def measure(root: Path, size: int) -> None:
    """Print the costs over a store of `size` memories."""
    store = MemoryStore(root, root / "home")
    folder = store.folder("project")
    folder.mkdir(parents=True)
    rng = random.Random(size)
    for number in range(size):
        origin = Memory(**rng.choice(LABELLED["memories"]))
        body = " ".join(rng.choices(WORDS, k=BODY_WORDS))
        memory = Memory(f"{origin.name} {number}", origin.description, "project", body)
        (folder / f"{number}.md").write_text(write_document(memory), encoding="utf-8")
    settings = MewCode()

    def ask(question: str) -> None:
        recall(question, store, surfaced=[], settings=settings, now=datetime.now(UTC))

    def read() -> None:
        for path in folder.iterdir():
            path.read_bytes()

    read()
    base = typical(read)
    print(f"{size} memories; reading their files once takes {base * 1000:.1f} ms")
    started = time.perf_counter()
    ask(QUESTIONS[0])
    print(f"  first recall, files parsed: {(time.perf_counter() - started) / base:6.1f} times that")
    questions = iter(QUESTIONS * 2)
    print(f"  later recall, nothing new:  {typical(lambda: ask(next(questions))) / base:6.1f}")
    memories = store.list()
    ranking = typical(lambda: rank_by_keywords(next(questions), memories))
    print(f"  ranking alone, all of them: {ranking / base:6.1f}")
    long_prompt = " ".join(QUESTIONS)
    print(f"  later recall, long prompt:  {typical(lambda: ask(long_prompt)) / base:6.1f}")


def typical(action: Callable[[], None]) -> float:
    """Return the median seconds of 20 runs."""
    times = []
    for _ in range(20):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
