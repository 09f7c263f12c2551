"""What it costs to describe variables of about 1 GB, and to list 10,000.

Run it by hand: `python tests/benchmarks/bench_inspect.py`; it needs 5 GB of memory.
"""

import gc
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from mewcode_magic.kernel.describe import describe
from mewcode_magic.kernel.variables import list_variables

GIGABYTE = 1_000_000_000
LATER = 5


def numbers(columns: int) -> pd.DataFrame:
    """Return a frame of 1 GB of floats, a tenth of them missing."""
    values = np.random.default_rng(columns).random((GIGABYTE // 8 // columns, columns))
    values[values < 0.1] = np.nan
    return pd.DataFrame(values, columns=[f"column_{n}" for n in range(columns)])


def scattered(columns: int) -> pd.DataFrame:
    """Return a frame of 1 GB in which each column has a block of its own."""
    rows = GIGABYTE // 8 // columns
    frame = pd.DataFrame({"column_0": np.random.default_rng(0).random(rows)})
    parts = [frame, *(pd.DataFrame({f"column_{n}": np.arange(rows)}) for n in range(1, columns))]
    return pd.concat(parts, axis=1)


def objects() -> pd.DataFrame:
    """Return a frame of 20 million references to strings and lists."""
    words = np.array([*(f"word {n}" for n in range(1_000)), None, [1, 2]], dtype=object)
    picks = np.random.default_rng(0).integers(0, len(words), (5_000_000, 4))
    return pd.DataFrame({f"column_{n}": words[picks[:, n]] for n in range(4)})


def strings() -> pd.DataFrame:
    """Return a frame of 1 GB of strings as pandas keeps them by default."""
    words = pa.array([f"some words, {n:038}" for n in range(100_000)] * 100)
    frame = pd.DataFrame({"text": pd.Series(words, dtype=pd.StringDtype("pyarrow"))})
    return pd.concat([frame.assign(other=frame["text"]), frame.assign(other=frame["text"])])


CASES: dict[str, Callable[[], object]] = {
    "pandas, 16 columns of floats": lambda: numbers(16),
    "pandas, 1,000 columns of floats": lambda: numbers(1_000),
    "pandas, 10,000 columns of floats": lambda: numbers(10_000),
    "pandas, 500 columns, a block each": lambda: scattered(500),
    "pandas, objects": objects,
    "pandas, strings": strings,
    "pandas, dates as index": lambda: numbers(4).set_index(
        pd.date_range("1970", periods=GIGABYTE // 8 // 4, freq="s")
    ),
    "pandas, one column": lambda: numbers(1)["column_0"],
    "polars, 16 columns of floats": lambda: pl.from_pandas(numbers(16)),
    "polars, strings": lambda: pl.from_pandas(strings().reset_index(drop=True)),
    "polars, 40 million strings": lambda: pl.DataFrame({"a": pl.Series(range(40_000_000)).cast(pl.String)}),
    "polars, lists": lambda: pl.DataFrame({"a": pl.Series(range(60_000_000)).reshape((600_000, 100))}),
    "pyarrow, 16 columns of floats": lambda: pa.Table.from_pandas(numbers(16)),
    "numpy, one axis": lambda: np.random.default_rng(0).random(GIGABYTE // 8),
    "numpy, rows of 1,000": lambda: np.random.default_rng(0).random((GIGABYTE // 8 // 1_000, 1_000)),
    "numpy, columns of 1,000": lambda: np.random.default_rng(0).random((1_000, GIGABYTE // 8 // 1_000)).T,
    "numpy, bytes": lambda: np.zeros(GIGABYTE, dtype="u1"),
    "list of 20 million": lambda: list(range(20_000_000)),
    "string of 1 GB": lambda: "x" * GIGABYTE,
}


def main() -> None:
    """Print a row a variable: the first description, and the median of later ones."""
    print(f"{'':36}{'first':>10}{'later':>10}")
    for name, make in CASES.items():
        value = make()
        measure(name, lambda value=value: describe(value, name="value"))
        del value
        gc.collect()
    frame = pd.DataFrame({"a": [1]})
    namespace = {f"name_{n}": (n, "text", [n], frame, np.zeros(3), main)[n % 6] for n in range(10_000)}
    measure("10,000 variables, listed", lambda: list_variables(namespace))


def measure(name: str, action: Callable[[], object]) -> None:
    """Print the time of a first run and the median of later ones."""
    times = []
    for _ in range(1 + LATER):
        started = time.perf_counter()
        action()
        times.append((time.perf_counter() - started) * 1000)
    print(f"{name:36}{times[0]:7.1f} ms{statistics.median(times[1:]):7.1f} ms", flush=True)


if __name__ == "__main__":
    main()
