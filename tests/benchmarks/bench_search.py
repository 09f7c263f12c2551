"""What a search over all sessions costs: in seconds, and as multiples of reading all files once.

Run it by hand: `python tests/benchmarks/bench_search.py`. There are 1,000 sessions of 57 MB together, in a
vocabulary of 40,000 words of which few are frequent, as in a language.
"""

import gc
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import accumulate
from pathlib import Path
from typing import Any

import orjson

from mewcode_magic.sessions import SessionStore

SESSIONS = 1_000
SIZE = 57_000_000
"""Bytes of all session files together."""
VOCABULARY = 40_000
NEEDLE = "quarterly churn threshold"


def main() -> None:
    """Print all measures."""
    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore(Path(folder))
        write_sessions(store)
        base = timed(lambda: read_all(store), 5)
        size = sum(path.stat().st_size for path in store.folder.glob("*.jsonl"))
        print(f"{SESSIONS:,} sessions, {size / 1e6:.0f} MB; read once in {base:.3f} s")
        report("first search", timed(lambda: store.search(NEEDLE), 1, warm=False), base)
        index = store.folder / ".search.sqlite"
        print(f"{'the index has':<40} {index.stat().st_size / 1e6:8.1f} MB")
        names = vocabulary()
        searches = {
            "three rare words": NEEDLE,
            "one frequent word": names[0],
            "five frequent words": " ".join(names[:5]),
            "a word that nobody said": "unheard",
            "10,000 characters": " ".join(names)[:10_000],
        }
        for name, text in searches.items():
            report(f"later search, {name}", timed(lambda text=text: store.search(text), 7), base)
        report("search after one append", timed(lambda: appended(store), 7), base)
        store.fill_counts()
        report("later search, with .meta", timed(lambda: store.search(NEEDLE), 7), base)
        report("list, without a search", timed(store.list, 7), base)


def report(what: str, seconds: float, base: float) -> None:
    """Print one measure."""
    print(f"{what:<40} {seconds:8.3f} s  {seconds / base:8.2f} times reading the files", flush=True)


def timed(action: Callable[[], object], times: int, *, warm: bool = True) -> float:
    """Return the median of the seconds that an action takes, after one run to warm up."""
    if warm:
        action()
    taken = []
    for _ in range(times):
        gc.collect()
        started = time.perf_counter()
        action()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def read_all(store: SessionStore) -> int:
    """Read every session file."""
    return sum(len(path.read_bytes()) for path in store.folder.glob("*.jsonl"))


def appended(store: SessionStore) -> object:
    """Append a record to one session, as another program would, and search."""
    path = min(store.folder.glob("*.jsonl"))
    with path.open("ab") as file:
        file.write(line({"role": "user", "content": NEEDLE}, os.getpid()))
    return store.search(NEEDLE)


# -- material ------------------------------------------------------------------------------------------


def write_sessions(store: SessionStore) -> None:
    """Write the sessions, with the needle in every fortieth."""
    rng = random.Random(1)
    names = vocabulary()
    weights = list(accumulate(1 / (n + 3) for n in range(VOCABULARY)))
    store.folder.mkdir(parents=True)

    def words(count: int) -> str:
        return " ".join(rng.choices(names, cum_weights=weights, k=count))

    for number in range(SESSIONS):
        path = store.folder / f"20261129-{number:06d}-0000.jsonl"
        room = SIZE // SESSIONS * rng.uniform(0.5, 1.5)
        with path.open("wb") as file:
            if number % 40 == 0:
                file.write(line({"role": "user", "content": f"what was the {NEEDLE} again?"}, 0))
            turn = 0
            while file.tell() < room:
                for record in records(turn, words, rng):
                    file.write(line(record, turn))
                turn += 1


def records(turn: int, words: Callable[[int], str], rng: random.Random) -> Iterable[dict[str, Any]]:
    """Yield a prompt, a call, its result and an answer."""
    call = f"toolu_{turn:020d}"
    use = {"type": "tool_use", "id": call, "name": "ReadFile", "input": {"path": f"data/{turn}.csv"}}
    said = {"type": "text", "text": words(rng.randint(5, 40))}
    yield {"role": "user", "content": words(rng.randint(4, 30)), "notebook": "analysis.ipynb"}
    yield {"role": "assistant", "content": [said, use], "model": "some-model", "usage": {"input_tokens": 1}}
    yield {"role": "tool_result", "tool_use_id": call, "content": words(rng.randint(20, 300))}
    yield {"role": "assistant", "content": [{"type": "text", "text": words(rng.randint(20, 120))}]}


def vocabulary() -> list[str]:
    """Return words, the most frequent first; one in ten is a number or a name in camel case."""
    rng = random.Random(2)

    def syllables() -> str:
        return "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))

    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        n = len(words)
        name = f"{syllables()}{syllables().title()}"
        words[name if n % 20 == 19 else str(n) if n % 20 == 9 else syllables()] = None
    return list(words)


def line(record: dict[str, Any], number: int) -> bytes:
    """Return a record as a line of the role dialect."""
    return orjson.dumps({**record, "ts": 1_764_000_000 + number}, option=orjson.OPT_APPEND_NEWLINE)


if __name__ == "__main__":
    main()
