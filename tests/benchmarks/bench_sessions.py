"""What sessions cost, as multiples of the bare operations underneath; one line a measure, with its limit.

Run it by hand: `python tests/benchmarks/bench_sessions.py`. Both sides of a ratio are measured by turns, and
the median of each is taken.
"""

import gc
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from mewcode_magic.config import MewCode
from mewcode_magic.messages import Message, Usage
from mewcode_magic.sessions import Session, SessionStore

RECORDS = 100_000
SESSIONS = 1_000
WORDS = [
    "load",
    "the",
    "sales",
    "file",
    "and",
    "plot",
    "revenue",
    "by",
    "month",
    "where",
    "region",
    "is",
    "north",
]


def main() -> None:
    """Print all measures."""
    for measure in (listing, append, boundary, resume):  # what fills the memory comes last
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder))


def report(what: str, ratio: float, limit: str) -> None:
    """Print one measure."""
    print(f"{what:<66} {ratio:6.2f}   limit {limit}", flush=True)


# -- append --------------------------------------------------------------------------------------------


def append(root: Path) -> None:
    """An append against one write of the same line to the same file system."""
    prompt = Message(role="user", content=words(12), notebook="analysis.ipynb", cell="4f1c2ab0")
    reply = Message(
        role="assistant",
        content=[{"type": "text", "text": words(80)}],
        model="some-model",
        usage=Usage(1_200, 350, 0, 18_000),
    )
    for dialect in ("role", "typed"):
        store = SessionStore(root / f"append-{dialect}", settings=MewCode(session_dialect=dialect))
        session = store.create()
        session.append(prompt)
        for name, message in (("a prompt", prompt), ("a reply", reply)):
            report(f"append {name}, {dialect}", append_ratio(session, message), "2")
        session.close()
    store = SessionStore(root / "growth")
    young, old = store.create(), store.create()
    while len(old.messages) < RECORDS:
        old.append(reply)
    early, late = [], []
    for _ in range(2_000):
        if len(young.messages) >= 20:
            young.close()
            young = store.create()
        while len(young.messages) < 10:
            young.append(reply)
        started = time.perf_counter_ns()
        young.append(reply)
        between = time.perf_counter_ns()
        old.append(reply)
        late.append(time.perf_counter_ns() - between)
        early.append(between - started)
    report(
        f"append at {RECORDS:,} records against at 10",
        statistics.median(late) / statistics.median(early),
        "1",
    )
    young.close()
    old.close()


def append_ratio(session: Session, message: Message) -> float:
    """Return the median cost of an append over that of its bare write."""
    session.append(message)
    line = session.path.read_bytes().splitlines(keepends=True)[-1]
    bare = os.open(session.path.with_name("bare"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    appends, writes = [], []
    gc.collect()
    for _ in range(20_000):
        started = time.perf_counter_ns()
        session.append(message)
        between = time.perf_counter_ns()
        os.write(bare, line)
        ended = time.perf_counter_ns()
        appends.append(between - started)
        writes.append(ended - between)
    os.close(bare)
    return statistics.median(appends) / statistics.median(writes)


# -- resume --------------------------------------------------------------------------------------------


def resume(root: Path) -> None:
    """Resuming against reading the lines and parsing each with orjson into a list that is kept."""
    for dialect in ("role", "typed"):
        for name, make in (("with calls", with_calls), ("plain chat", chat)):
            store = SessionStore(root / f"resume-{dialect}-{name[:4]}")
            path = write_session(store, dialect, make(RECORDS))
            ratio = by_turns(partial(resumed, store, path.stem), partial(parsed, path), 9)
            size = path.stat().st_size / 1e6
            report(f"resume {RECORDS:,} records, {name}, {dialect} ({size:.0f} MB)", ratio, "1.5")


def boundary(root: Path) -> None:
    """Resuming from a boundary near the end of a long file against of a short one."""
    kept = {"summary": words(200), "keep": [{"role": "user", "content": words(10)}] * 5}
    ids = {}
    store = SessionStore(root / "boundary")
    for prefix in (10, RECORDS):
        last = {"role": "compact_boundary", "content": kept}
        path = write_session(
            store, "role", [*with_calls(prefix), last, *with_calls(40)], name=f"before-{prefix}"
        )
        ids[prefix] = path.stem
    ratio = by_turns(lambda: resumed(store, ids[RECORDS]), lambda: resumed(store, ids[10]), 51)
    report(f"resume after a boundary, {RECORDS:,} records before it against 10", ratio, "1")


def resumed(store: SessionStore, session_id: str) -> object:
    """Resume and close a session; return what is to be kept meanwhile."""
    resumed = store.resume(session_id)
    resumed.session.close()
    return resumed


def parsed(path: Path) -> object:
    """Return the records of a file: the floor under any reading."""
    with path.open("rb") as file:
        return [orjson.loads(line) for line in file]


# -- list ----------------------------------------------------------------------------------------------


def listing(root: Path) -> None:
    """Listing against one scan of the folder and one small read of each file."""
    store = SessionStore(root / "list")
    rng = random.Random(1)
    for number in range(SESSIONS):
        write_session(store, "role", with_calls(rng.randint(20, 120)), name=f"20261129-{number:06d}-0000")
    report(
        f"list {SESSIONS:,} sessions without .meta", by_turns(store.list, lambda: small_reads(store), 21), "3"
    )
    store.fill_counts()
    report(
        f"list {SESSIONS:,} sessions with .meta", by_turns(store.list, lambda: small_reads(store), 21), "3"
    )


def small_reads(store: SessionStore) -> object:
    """Return the first bytes of each session file."""
    read = []
    with os.scandir(store.folder) as found:
        for entry in found:
            if entry.name.endswith(".jsonl"):
                with open(entry.path, "rb") as file:  # noqa: PTH123 - as cheap as it gets
                    read.append(file.read(4_096))
    return read


# -- material ------------------------------------------------------------------------------------------


def words(count: int) -> str:
    """Return some text."""
    return " ".join(random.Random(count).choices(WORDS, k=count))


def with_calls(records: int) -> Iterable[dict[str, Any]]:
    """Yield a conversation in which each prompt leads to a call, its result and an answer."""
    rng = random.Random(records)
    for number in range(records // 4):
        call = f"toolu_{number:020d}"
        arguments = {"path": f"data/{number}.csv", "limit": 100}
        text = {"type": "text", "text": words(rng.randint(5, 40))}
        yield {"role": "user", "content": words(rng.randint(4, 30)), "notebook": "analysis.ipynb"}
        use = {"type": "tool_use", "id": call, "name": "ReadFile", "input": arguments}
        usage = {"input_tokens": 1_200, "output_tokens": number}
        yield {"role": "assistant", "content": [text, use], "model": "some-model", "usage": usage}
        yield {"role": "tool_result", "tool_use_id": call, "content": words(rng.randint(20, 300))}
        yield {"role": "assistant", "content": [{"type": "text", "text": words(rng.randint(20, 120))}]}


def chat(records: int) -> Iterable[dict[str, Any]]:
    """Yield a conversation without calls, in short messages: where a record's own cost shows most."""
    for number in range(records):
        yield {"role": "assistant" if number % 2 else "user", "content": f"message {number}: {words(8)}"}


def write_session(
    store: SessionStore,
    dialect: str,
    records: Iterable[dict[str, Any]],
    *,
    name: str = "20261129-120000-abcd",
) -> Path:
    """Write a session file of these records, given without time in the role dialect, and return it."""
    store.folder.mkdir(parents=True, exist_ok=True)
    path = store.folder / f"{name}.jsonl"
    with path.open("wb") as file:
        for number, record in enumerate(records):
            if dialect == "role":
                line = {**record, "ts": 1_764_000_000 + number}
            else:
                minutes, seconds = divmod(number, 60)
                hours, minutes = divmod(minutes, 60)
                day, hour = divmod(hours, 24)
                stamp = f"2026-06-{day + 1:02d}T{hour:02d}:{minutes:02d}:{seconds:02d}.123456+00:00"
                line = {"type": record["role"], "content": record["content"]}
                line |= {k: v for k, v in record.items() if k in ("notebook", "model", "usage")}
                line["timestamp"] = stamp
                if "tool_use_id" in record:
                    line |= {"tool_use_id": record["tool_use_id"], "is_error": False}
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return path


def by_turns(ours: Callable[[], object], base: Callable[[], object], times: int) -> float:
    """Return the median processor time of one over that of the other, after one run of each to warm up."""
    taken: dict[str, list[int]] = {"ours": [], "base": []}
    for number in range(times + 1):
        for name, action in (("ours", ours), ("base", base)):
            gc.collect()
            started = time.process_time_ns()
            kept = action()
            spent = time.process_time_ns() - started
            del kept
            if number:
                taken[name].append(spent)
    return statistics.median(taken["ours"]) / statistics.median(taken["base"])


if __name__ == "__main__":
    main()
