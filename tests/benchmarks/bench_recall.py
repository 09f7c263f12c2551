"""What recall by keywords finds beside plain BM25, and what it costs beside a plain scan of the texts.

Run it by hand: `python tests/benchmarks/bench_recall.py`.
"""

import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from labelled_memories import (  # noqa: E402 - found by the line above
    FIRST,
    HELD_OUT,
    MEMORIES,
    TUNED,
    Figures,
    Question,
    Ranking,
    figures,
)

from mewcode_magic.config import MewCode  # noqa: E402
from mewcode_magic.memory import Memory, MemoryStore, Recalling, rank_by_keywords  # noqa: E402
from mewcode_magic.memory.document import write_document  # noqa: E402

QUESTIONS = [asked.question for asked in TUNED + HELD_OUT]
WORDS = " ".join(memory.body for memory in MEMORIES).split()
BODY_WORDS = 100
RUNS = 20

_TOKEN = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\\W_]+")


def main() -> None:
    """Print both."""
    floor = best_floor()
    rankings: dict[str, Ranking] = {
        "plain BM25, first five": plain_bm25,
        f"plain BM25, score of {floor:.1f} or more": partial(plain_bm25, floor=floor),
        "rank_by_keywords": rank_by_keywords,
    }
    for half, questions in (("tuned", TUNED), ("held out", HELD_OUT)):
        print_figures(half, questions, rankings)
    for size in (200, 2_000):
        memories = many(size)
        print(f"{size:,} memories, ranked")
        measure_ranking(memories)
        with tempfile.TemporaryDirectory() as folder:
            measure_recall(Path(folder), memories)


# --- what is found


def print_figures(half: str, questions: Sequence[Question], rankings: dict[str, Ranking]) -> None:
    """Print a table: a row a ranking."""
    print(f"{len(questions)} questions, {half}, over {len(MEMORIES)} memories")
    print(f"  {'':36}{'hit@1':>10}{'hit@5':>10}{'MRR':>8}{'in vain':>10}{'precision':>11}")
    for name, ranking in rankings.items():
        found = figures(ranking, questions)
        hits = [f"{hit}/{found.answerable}" for hit in (found.hit_at_1, found.hit_at_5)]
        in_vain = f"{found.recalled_in_vain}/{found.unanswerable}"
        print(
            f"  {name:36}{hits[0]:>10}{hits[1]:>10}{found.mean_reciprocal_rank:8.3f}"
            f"{in_vain:>10}{found.precision:11.2f}"
        )


def plain_bm25(
    query: str, memories: Sequence[Memory], limit: int = FIRST, floor: float = 0.0
) -> list[Memory]:
    """Return what SQLite ranks first by itself, with a score of `floor` or more.

    Chinese, Japanese and Korean are given to it as single characters: else it would find none.
    """
    tokens = dict.fromkeys(_TOKEN.findall(query))
    if not tokens:
        return []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE m USING fts5(name, description, body, tokenize = 'porter')")
        database.executemany(
            "INSERT INTO m(rowid, name, description, body) VALUES (?, ?, ?, ?)",
            (
                (n, *(" ".join(_TOKEN.findall(text)) for text in (m.name, m.description, m.body)))
                for n, m in enumerate(memories)
            ),
        )
        rows = database.execute(
            "SELECT rowid FROM m WHERE m MATCH ? AND bm25(m) <= ? ORDER BY bm25(m) LIMIT ?",
            (" OR ".join(f'"{token}"' for token in tokens), -floor, limit),
        )
        return [memories[number] for (number,) in rows]


def best_floor() -> float:
    """Return the BM25 score that tells the tuned half's questions apart best."""

    def gain(floor: float) -> float:
        found: Figures = figures(partial(plain_bm25, floor=floor), TUNED)
        return found.hit_at_5 / found.answerable - found.recalled_in_vain / found.unanswerable

    return max((half / 2 for half in range(2, 30)), key=gain)


# --- what it costs


def many(size: int) -> list[Memory]:
    """Return `size` memories with names and descriptions like the labelled ones'."""
    rng = random.Random(size)
    origins = [rng.choice(MEMORIES) for _ in range(size)]
    return [
        Memory(f"{m.name} {n}", m.description, "project", " ".join(rng.choices(WORDS, k=BODY_WORDS)))
        for n, m in enumerate(origins)
    ]


def measure_ranking(memories: list[Memory]) -> None:
    """Print the cost of the first call and of later ones, a new question each."""
    questions = iter(QUESTIONS)

    def scan() -> None:
        """Look for each word of a question in each text."""
        words = next(questions).lower().split()
        for memory in memories:
            text = f"{memory.name} {memory.description} {memory.body}".lower()
            for word in words:
                word in text  # noqa: B015 - only its time is of interest

    def rank() -> None:
        rank_by_keywords(next(questions), memories)

    base = typical(scan)
    print(f"  plain scan with `in`:       {base * 1000:6.1f} ms")
    started = time.perf_counter()
    rank()
    report("first call", time.perf_counter() - started, base)
    started = time.perf_counter()
    rank()
    report("second call", time.perf_counter() - started, base)
    report("later calls", typical(rank), base)
    long_prompt = " ".join(QUESTIONS)[: MewCode().recall_prompt_chars]
    report("prompt of 2,000 characters", typical(lambda: rank_by_keywords(long_prompt, memories)), base)


def measure_recall(root: Path, memories: list[Memory]) -> None:
    """Print the costs of whole recalls as multiples of reading the files once."""
    store = MemoryStore(root, root / "home")
    folder = store.folder("project")
    folder.mkdir(parents=True)
    for number, memory in enumerate(memories):
        (folder / f"{number}.md").write_text(write_document(memory), encoding="utf-8")
    settings = MewCode()
    questions = iter(QUESTIONS)

    def ask() -> None:
        Recalling(next(questions), store, surfaced=[], settings=settings, now=datetime.now(UTC)).result()

    def read() -> None:
        for path in folder.iterdir():
            path.read_bytes()

    read()
    base = typical(read)
    print(f"{len(memories):,} memories, recalled")
    print(f"  reading their files once:   {base * 1000:6.1f} ms")
    started = time.perf_counter()
    ask()
    report("first recall, files parsed", time.perf_counter() - started, base)
    report("later recall, nothing new", typical(ask), base)


def report(what: str, seconds: float, base: float) -> None:
    """Print a time, and how many times `base` it is."""
    print(f"  {what + ':':28}{seconds * 1000:6.1f} ms, {seconds / base:5.1f} times that")


def typical(action: Callable[[], None]) -> float:
    """Return the median seconds of a few runs."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
