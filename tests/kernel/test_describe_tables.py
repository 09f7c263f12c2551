"""Tables: what is said of their size, columns, nulls and first rows."""

import sys
from functools import partial
from typing import Any

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from stand_ins import IbisTable, Run, Select, SparkFrame

from mewcode_magic.kernel.describe import describe


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "price": [1.5, None, 3.0, 4.0, 5.0, 6.5],
            "town": ["Oslo", None, "Rome", "Bern", "Kyiv", "Lima"],
            "grade": pd.Categorical(["a", "b", "a", "b", "a", "b"]),
        }
    )


def test_pandas_frame_is_told_by_shape_types_nulls_and_first_rows(frame: pd.DataFrame) -> None:
    assert describe(frame, name="df").splitlines() == [
        "df: pandas.DataFrame 6 rows x 3 columns",
        describe(frame).splitlines()[1],
        "index: int64, from 0 to 5",
        "columns:",
        "  price: float64, 1 null",
        f"  town: {frame['town'].dtype}, 1 null",
        "  grade: category, 2 categories: a, b",
        "first 5 rows:",
        "  index | price | town | grade",
        "  0 | 1.5 | Oslo | a",
        f"  1 | nan | {frame['town'].iloc[1]} | b",
        "  2 | 3.0 | Rome | a",
        "  3 | 4.0 | Bern | b",
        "  4 | 5.0 | Kyiv | a",
    ]
    assert describe(frame).splitlines()[1].startswith("memory: ")


def test_memory_of_objects_is_not_followed() -> None:
    frame = pd.DataFrame({"a": pd.Series([["x" * 1_000_000]] * 1_000, dtype=object)})
    assert "memory: 8.1 kB without the objects that columns refer to" in describe(frame)


def test_frame_of_very_many_columns_is_listed_in_part() -> None:
    text = describe(pd.DataFrame(np.zeros((2, 2_000))), limit=0)
    assert "pandas.DataFrame 2 rows x 2,000 columns" in text
    assert "memory: 32.0 kB" in text
    assert "  59: float64\n  and 1,940 more columns" in text
    assert "index | 0 | 1 |" in text
    assert "| 11 | …" in text


@pytest.mark.parametrize("rows", [100_000, 1_000_000])
def test_nulls_of_a_large_frame_are_counted_in_a_sample(rows: int) -> None:
    frame = pd.DataFrame({name: np.full(rows, np.nan) for name in "abcd"})
    text = describe(frame)
    assert "columns (nulls in a sample of 15,000 rows):" in text
    assert all(f"  {name}: float64, 15,000 nulls" in text for name in "abcd")


def test_sample_reaches_the_last_rows() -> None:
    values = np.zeros(1_000_000)
    values[-10:] = np.nan
    assert "nulls: 10 in a sample of" in describe(pd.Series(values))


@pytest.mark.parametrize(
    ("columns", "listed"),
    [
        (["a", "a"], ["  a: int64", "  a: int64"]),
        ([0, "0"], ["  0: int64", "  '0': int64"]),
        (["two words", "line\nend"], ["  'two words': int64", "  'line\\nend': int64"]),
        ([("a", 1), ("a", 2)], ["  (a, 1): int64", "  (a, 2): int64"]),
        ([None, 2.5], ["  None: int64", "  2.5: int64"]),
        ([pd.Timestamp("2024"), pd.NaT], ["  2024-01-01 00:00:00: int64", "  NaT: int64"]),
        (["\ud800", "x" * 500], ["  '\\ud800': int64", f"  {'x' * 79}…: int64"]),
    ],
)
def test_columns_of_any_name_are_listed(columns: list[Any], listed: list[str]) -> None:
    frame = pd.DataFrame([[1, 2]])
    frame.columns = pd.Index(columns, dtype=object, tupleize_cols=False)
    lines = describe(frame).splitlines()
    assert lines[lines.index("columns:") + 1 :][:2] == listed
    assert "could not be read" not in describe(frame)


def test_levels_of_an_index_are_named(frame: pd.DataFrame) -> None:
    text = describe(frame.set_index(["town", "grade"]))
    assert "index: 2 levels (town: " in text
    assert "grade: category)" in text
    assert "('Rome', 'a') | 3.0" in text
    wide = frame.pivot_table(index="town", columns="grade", values=["price"], observed=True)
    assert "  (price, a): float64" in describe(wide)


@pytest.mark.parametrize(
    "empty",
    [pd.DataFrame(), pd.DataFrame(columns=["a"]), pd.DataFrame(index=[1, 2]), pl.DataFrame(), pa.table({})],
)
def test_empty_table_is_told(empty: Any) -> None:
    text = describe(empty)
    assert "0 rows" in text or "0 columns" in text
    assert ("no columns" in text) == (empty.shape[1] == 0)
    assert "could not be read" not in text


def test_cells_of_any_kind_are_shown_shortly() -> None:
    cells = [
        "a\nb\x1b[31m", "x" * 1_000, [1] * 1_000_000, {"a": {"b": {"c": 1}}}, object(), "a | b", b"\x00",
        None, "\ud800", " ",
    ]  # fmt: skip
    frames = [pd.DataFrame({"a": pd.Series([cell], dtype=object)}) for cell in cells]
    rows = [describe(frame).splitlines()[-1] for frame in frames]
    assert rows == [
        "  0 | 'a\\nb\\x1b[31m'",
        f"  0 | {'x' * 29}…",
        "  0 | [1, 1, 1, 1, … 999,996 more]",
        "  0 | {'a': {'b': {…}}}",
        "  0 | object",
        "  0 | 'a | b'",
        "  0 | b'\\x00'",
        "  0 | None",
        "  0 | '\\ud800'",
        "  0 | ' '",
    ]


def test_methods_of_a_subclass_are_not_run(frame: pd.DataFrame) -> None:
    class Guarded(pd.DataFrame):
        @property
        def _constructor(self) -> Any:
            raise Run

        def isna(self) -> Any:
            raise Run

        def memory_usage(self, *_arguments: Any, **_options: Any) -> Any:
            raise Run

        def __getattr__(self, name: str) -> Any:
            raise Run

    plain = describe(frame).splitlines()
    heading, *lines = describe(Guarded(frame)).splitlines()
    assert heading.endswith("Guarded 6 rows x 3 columns")
    assert lines == plain[1:]


def test_attributes_of_a_frame_are_not_copied(frame: pd.DataFrame) -> None:
    class Uncopied:
        def __deepcopy__(self, memo: Any) -> Any:
            raise Run

    frame.attrs["source"] = Uncopied()
    assert describe(frame).count("\n") == 13


def test_describing_changes_nothing(frame: pd.DataFrame) -> None:
    before = frame.copy()
    describe(frame)
    frame.loc[0, "price"] = 9.0  # under copy on write, no view is left that would make this a copy
    before.loc[0, "price"] = 9.0
    pd.testing.assert_frame_equal(frame, before)


def test_series_is_told_by_type_nulls_and_first_values() -> None:
    series = pd.Series([1.0, None], index=["x", "y"], name="rate")
    assert describe(series, name="s").splitlines() == [
        "s: pandas.Series 2 values",
        "name: rate",
        "dtype: float64",
        "nulls: 1",
        "memory: 16 bytes",
        f"index: {series.index.dtype}, from x to y",
        "values:",
        "  x: 1.0",
        "  y: nan",
    ]


@pytest.mark.parametrize(
    ("index", "line"),
    [
        (pd.RangeIndex(3), "int64, from 0 to 2"),
        (
            pd.date_range("2024", periods=2, name="day", unit="ns"),
            "datetime64[ns] day, from 2024-01-01 00:00:00",
        ),
        (
            pd.MultiIndex.from_product([[1, 2], [3.0]], names=["a", None]),
            "2 levels (a: int64, unnamed: float64)",
        ),
    ],
)
def test_index_is_told_by_types_and_ends(index: pd.Index, line: str) -> None:
    assert describe(index).splitlines()[1].startswith(line)


@pytest.mark.parametrize(
    ("dtype", "told"),
    [
        (pd.SparseDtype("int64", 0), "Sparse[int64]"),
        (pd.ArrowDtype(pa.list_(pa.int64())), "list<item: int64>[pyarrow]"),
        ("Int64", "Int64"),
        ("datetime64[ns, UTC]", "datetime64[ns, UTC]"),
        (pd.StringDtype("pyarrow"), "string"),
    ],
)
def test_types_of_extensions_are_named(dtype: Any, told: str) -> None:
    text = describe(pd.Series([], dtype=dtype))
    assert f"dtype: {told}" in text
    assert "could not be read" not in text


def test_polars_frame_is_told_with_nested_types() -> None:
    frame = pl.DataFrame(
        {
            "n": [1, None],
            "list": [[1, 2], None],
            "struct": [{"x": 1, "y": ["q"]}, {"x": 2, "y": []}],
            "grade": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])),
            "array": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
            "thing": pl.Series([object(), {1}], dtype=pl.Object),
        }
    )
    lines = describe(frame, name="df").splitlines()
    assert lines[0] == "df: polars.DataFrame 2 rows x 6 columns"
    assert lines[2:] == [
        "columns:",
        "  n: Int64, 1 null",
        "  list: List(Int64), 1 null",
        "  struct: Struct(x: Int64, y: List(String))",
        "  grade: Enum(2 categories: u, v)",
        "  array: Array(Int64)",
        "  thing: Object",
        "rows:",
        "  n | list | struct | grade | array | thing",
        "  1 | [1, 2] | {x: 1, y: ['q']} | u | [1, 2] | object",
        "  None | None | {x: 2, y: []} | v | [3, 4] | {1}",
    ]


def test_memory_of_very_many_strings_is_not_measured() -> None:
    strings = pl.Series("a", ["x"]).new_from_index(0, 11_000_000)
    assert "memory: not measured" in describe(strings)
    assert "memory: not measured" in describe(strings.to_frame())
    assert "memory: 88.0 MB" in describe(pl.Series("a", [1]).new_from_index(0, 11_000_000))


def test_polars_series_is_told() -> None:
    text = describe(pl.Series("rate", [1.5, None]))
    assert "name: rate\ndtype: Float64\nnulls: 1" in text
    assert "first values: 1.5, None" in text


def test_arrow_table_is_told() -> None:
    table = pa.table({"n": [1, None], "list": [[1, 2], []]})
    assert describe(table).splitlines()[2:] == [
        "columns:",
        "  n: int64, 1 null",
        "  list: list<item: int64>",
        "rows:",
        "  n | list",
        "  1 | [1, 2]",
        "  None | []",
    ]
    assert "first values: 1, None" in describe(table.column("n"))
    assert "rows:" in describe(table.to_batches()[0])


@pytest.mark.parametrize("make", [pa.array, partial(pd.Series, dtype=pd.ArrowDtype(pa.list_(pa.int64())))])
def test_large_nested_cell_is_not_turned_into_objects(make: Any) -> None:
    assert "(large)" in describe(make([np.arange(1_000_000)]))
    assert "[0, 1, 2]" in describe(make([np.arange(3)]))


# --- what is not computed


def _fail(*_arguments: Any) -> Any:
    raise Run


def test_polars_query_is_told_by_its_schema() -> None:
    lazy = pl.LazyFrame({"a": [1], "b": ["x"]}).map_batches(_fail).with_columns(c=pl.col("a") * 0.5)
    text = describe(lazy, name="q")
    assert text.splitlines() == [
        "q: polars.LazyFrame",
        "lazy: only its schema is known, nothing was computed",
        "columns:",
        "  a: Int64",
        "  b: String",
        "  c: Float64",
    ]


def test_dask_collections_are_told_by_their_schema() -> None:
    frame = dask.dataframe.from_pandas(pd.DataFrame({"a": [1], "b": ["x"]}), npartitions=1)
    frame = frame.map_partitions(_fail, meta=frame)
    assert "  a: int64\n  b: " in describe(frame)
    assert "dtype: int64" in describe(frame["a"])
    array = dask.array.from_delayed(dask.delayed(_fail)(), (3, 4), dtype="f8")
    assert "shape: (3, 4); dtype: float64" in describe(array)
    assert "(unknown,)" in describe(array[array > 1])
    assert "nothing was computed" in describe(dask.delayed(_fail)(1))
    for text in map(describe, (frame, frame["a"], array, dask.delayed(_fail)(1))):
        assert "lazy:" in text
        assert "could not be read" not in text


@pytest.mark.parametrize("make", [SparkFrame, IbisTable, Select])
def test_query_of_another_library_is_told_by_its_schema(make: Any) -> None:
    lines = describe(make(city="string", people="bigint")).splitlines()
    assert lines[1:] == [
        "lazy: only its schema is known, nothing was computed",
        "columns:",
        "  city: string",
        "  people: bigint",
    ]


def test_no_library_is_imported_to_describe() -> None:
    before = set(sys.modules)
    describe([1, {"a": object()}, print])
    assert set(sys.modules) == before
