"""How well tokens are estimated, and what a compaction costs beside the model.

    python tests/benchmarks/bench_compaction.py [TOKENIZER_JSON]

The estimate is compared with the counts of Anthropic's published tokenizer, that of Claude 2, for short texts
of several kinds. With the file `anthropic/tokenizer.json` of the package anthropic 0.28, and the package
`tokenizers` installed, it is also compared on whole files: the README, the program's own code, its notebooks.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench_sessions import RECORDS, with_calls, write_session
from token_samples import SAMPLES

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.context import estimate_tokens
from mewcode_magic.context.tokens import TokenMeter
from mewcode_magic.model import Scripted
from mewcode_magic.sessions import SessionStore

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Print all measures."""
    for kind, (text, tokens) in SAMPLES.items():
        report_estimate(kind, text, tokens)
    if len(sys.argv) > 1:
        whole_files(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        compaction(Path(folder))


def report_estimate(what: str, text: str, tokens: int) -> None:
    """Print how far an estimate is off."""
    off = estimate_tokens(text) / tokens - 1
    print(f"estimate of {what:<12} {len(text):>9,} characters, {tokens:>7,} tokens: {off:+7.1%}   limit 15 %")


def whole_files(tokenizer: str) -> None:
    """Compare the estimate on files of the repository."""
    from tokenizers import Tokenizer

    encode = Tokenizer.from_file(tokenizer).encode
    package = sorted((ROOT / "mewcode_magic").rglob("*.py"))
    rows = random.Random(1)
    table = "\n".join(
        f"{n:>6}{rows.uniform(1, 9_999):>12.2f}  2026-{n % 12 + 1:02d}-17" for n in range(1_000)
    )
    kinds = {
        "README": (ROOT / "README.md").read_text("utf-8"),
        "code": "\n".join(path.read_text("utf-8") for path in package)[:200_000],
        "notebooks": "".join(p.read_text("utf-8") for p in sorted((ROOT / "notebooks").glob("*.ipynb")))[
            :200_000
        ],
        "table": table,
    }
    for kind, text in kinds.items():
        report_estimate(kind, text, len(encode(text).ids))


def compaction(root: Path) -> None:
    """Time the parts of a compaction of a long session, against reading the session's file."""
    settings = MewCode(extract="off", recall=False)
    store = SessionStore(root, settings=settings)
    path = write_session(store, "role", with_calls(RECORDS))
    mew = Mew(root, root / "home", settings=settings)
    read = seconds(lambda: store.read(path.stem))
    messages = mew.resume(path.stem).session.messages
    measure = seconds(lambda: TokenMeter().tokens(messages, int))
    meter = TokenMeter()
    meter.tokens(messages, int)
    again = seconds(lambda: meter.tokens(messages, int))
    print(f"{RECORDS:,} records are read in {read * 1e3:,.0f} ms")
    share("counting their tokens where the API has counted", measure, read)
    share("counting them again", again, read)
    bare = [message for message in messages if message.usage is None]
    share(
        f"estimating {len(bare):,} messages that nobody counted",
        seconds(lambda: TokenMeter().tokens(bare, int)),
        read,
    )
    taken = []
    for _ in range(3):
        mew.resume(path.stem, fork=True)
        mew.use(Scripted([], answers={"compact": ["A summary of what was said."]}))
        taken.append(seconds(lambda: list(mew.compact()), times=1))
    share("a compaction without the model", statistics.median(taken), read)
    assert not mew.session.messages[0].text()
    mew.close()


def share(what: str, taken: float, base: float) -> None:
    """Print a time, and its share of the reading."""
    print(f"{what:<56} {taken * 1e3:8.2f} ms, {taken / base:6.3f} of reading them", flush=True)


def seconds(action: Callable[[], Any], *, times: int = 5) -> float:
    """Return the median processor time of an action."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        action()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
