"""What a turn costs as the conversation grows, and how much of each request the provider has already seen.

Run it by hand: `python tests/benchmarks/bench_requests.py`. The first part needs no network; in the second a
local server that speaks the Messages API records what is sent to it.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from api_server import ApiServer
from histories import blocks_of

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.context import RequestBuilder
from mewcode_magic.context.tokens import estimate_tokens
from mewcode_magic.events import BlockEnded, ModelEvent, Query, Reply, ReplyEnded, Request
from mewcode_magic.memory import Memory
from mewcode_magic.messages import Message, Usage

TURNS = 2_000
KILOBYTE = "word " * 205
SCRIPTED = 40


def main() -> None:
    """Print all measures."""
    building()
    with tempfile.TemporaryDirectory() as folder:
        own_overhead(Path(folder))
    for trims in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            unchanged_prefix(Path(folder), trims=trims)


def report(what: str, figure: float, limit: str, unit: str = "") -> None:
    """Print one measure."""
    print(f"{what:<78} {figure:8.2f}{unit:<2} limit {limit}", flush=True)


# -- building ------------------------------------------------------------------------------------------


def building() -> None:
    """Building the request of the last turn against the tenth's, and against building it from nothing."""
    builder, messages = RequestBuilder(system="s", tools=[]), list[Message]()
    spent: list[int] = []
    for _ in range(TURNS):
        messages.append(Message(role="user", content=KILOBYTE))
        started = time.perf_counter_ns()
        builder.build(messages, reminder="r", max_tokens=1)
        spent.append(time.perf_counter_ns() - started)
        messages.append(Message(role="assistant", content=KILOBYTE))
    started = time.perf_counter_ns()
    RequestBuilder(system="s", tools=[]).build(messages, reminder="r", max_tokens=1)
    anew = time.perf_counter_ns() - started
    late, early = statistics.median(spent[-100:]), statistics.median(spent[5:105])
    report(f"build the request of turn {TURNS:,} against turn 10 ({late / 1000:.0f} µs)", late / early, "-")
    report(f"build it from nothing against as the conversation grows ({anew / 1e6:.1f} ms)", anew / late, "-")


# -- own overhead --------------------------------------------------------------------------------------


class Instant:
    """A model that answers a kilobyte at once and at no cost."""

    name = "instant"

    def stream(self, _request: Request) -> Iterator[ModelEvent]:
        """Yield the answer."""
        yield BlockEnded({"type": "text", "text": KILOBYTE})
        yield ReplyEnded("end_turn", Usage(1, 1), self.name)

    def query(self, query: Query) -> Reply:
        """Answer nothing."""
        raise AssertionError(query.kind)


def own_overhead(root: Path) -> None:
    """All of a turn but the model, at the end of a long conversation against at its beginning.

    Of processor time and of what the user waits for; most of the latter is the disk's.
    """
    # Recall by words, so that the model is asked nothing else.
    mew = Mew(root, root / "home", model=Instant(), settings=MewCode(extract="off", recall_seconds=0))
    spent: dict[str, list[float]] = {"of the processor": [], "of waiting": []}
    for number in range(TURNS):
        started = time.process_time(), time.perf_counter()
        for _ in mew.ask(f"{number} {KILOBYTE}"):
            pass
        spent["of the processor"].append(time.process_time() - started[0])
        spent["of waiting"].append(time.perf_counter() - started[1])
    mew.close()
    for what, seconds in spent.items():
        late, early = statistics.median(seconds[-100:]), statistics.median(seconds[5:105])
        report(
            f"own overhead of turn {TURNS:,}, {late * 1000:.2f} ms {what}, against turn 10",
            late / early,
            "1.5",
        )


# -- unchanged prefix ----------------------------------------------------------------------------------


def unchanged_prefix(root: Path, *, trims: bool) -> None:
    """The share of input tokens after the first turn that the request before had at the same place."""
    with ApiServer() as server:
        os.environ.update(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="sk-test")
        requests = conversation(server, root, trims=trims)
    kept = sent = largest = 0
    for earlier, later in pairwise(requests):
        same = next((n for n, (a, b) in enumerate(zip(earlier, later, strict=False)) if a != b), len(earlier))
        tokens = [estimate_tokens(block) for block in later]
        kept += sum(tokens[:same])
        sent += sum(tokens)
        largest = max(largest, sum(tokens))
    how = f"{SCRIPTED} turns, {'with' if trims else 'without'} trimming (largest: {largest:,} tokens)"
    report(f"input tokens in an unchanged prefix, {how}", 100 * kept / sent, "95", "%")


def conversation(server: ApiServer, root: Path, *, trims: bool) -> list[list[str]]:
    """Return the blocks of the requests of a conversation with calls and recalled memories."""
    project, home = root / "project", root / "home"
    project.mkdir()
    (project / "MEWCODE.md").write_text("Use polars.\n" * 20)
    for number in range(20):
        (project / f"data{number}.csv").write_text(f"month,revenue\n{KILOBYTE}\n" * 6)
    off = {} if trims else {"trim_after_turns": 10_000, "all_results_max_chars": 10**9}
    mew = Mew(project, home, settings=MewCode(recall_seconds=0, extract="off", permission_mode="auto", **off))
    for number in range(20):
        mew.memory.save(
            Memory(f"note {number}", f"about topic{number}", "project", f"topic{number} is important " * 10)
        )
    for turn in range(SCRIPTED):
        calls: list[dict[str, Any]] = [
            use(turn, 0, "ReadFile", path=f"data{turn % 20}.csv"),
            use(turn, 1, "Grep", pattern="month", path="."),
        ]
        server.reply(calls)
        server.reply([use(turn, 2, "Bash", command=f"seq {turn * 40}")])
        server.reply(f"Answer {turn}. {KILOBYTE}")
        for _ in mew.ask(f"question {turn} about topic{turn % 20}: {KILOBYTE[:200]}"):
            pass
    mew.close()
    seen = [Request(s.body["system"], s.body["messages"], s.body["tools"], 1) for s in server.requests]
    return [json.dumps(request.tools).splitlines() + blocks_of(request) for request in seen[1:]]


def use(turn: int, number: int, name: str, **arguments: Any) -> dict[str, Any]:
    """Return a call."""
    return {"type": "tool_use", "id": f"toolu_{turn}_{number}", "name": name, "input": arguments}


if __name__ == "__main__":
    main()
