"""Tables of pandas, polars and pyarrow, their columns and indexes: columns, types, nulls and the first rows.

Nothing goes over all of a large table: nulls are then counted in a sample, and the memory of an object column
is that of its references.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from mewcode_magic.kernel.describe.short import label, short
from mewcode_magic.kernel.describe.static import attempt, find, is_a
from mewcode_magic.kernel.describe.words import bytes_text, count, cut, escape, number

__all__ = [
    "Column",
    "arrow_array",
    "arrow_table",
    "column_lines",
    "pandas_frame",
    "pandas_index",
    "pandas_series",
    "polars_frame",
    "polars_series",
]

ROWS = 5
"""Rows shown."""
COLUMNS = 60
"""Columns listed."""
HEAD_COLUMNS = 12
"""Columns whose first rows are shown."""
CELL_CHARS = 30
DTYPE_CHARS = 120
CATEGORIES = 5

FULL_CELLS = 300_000
"""Cells up to which nulls are counted in all of them; a column of objects takes 20 ns a cell."""
SAMPLE_CELLS = 60_000
"""Cells looked at in a larger table."""
MOST_ADDED_UP = 10_000_000
"""Strings of a polars table up to which their memory is measured, at 1 ns each."""
_ADDED_UP = {"String", "Binary", "List", "Array", "Struct", "Object"}
RUNS = 6
"""Runs of rows in which they lie."""
MOST_MEASURED = 500
"""Columns of a pandas frame up to which each is asked for its memory."""
MOST_CELL_BYTES = 1_000_000
"""Bytes of the first rows of one nested column past which they are not turned into Python objects."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column as it is listed."""

    name: str
    dtype: str
    nulls: int = 0
    note: str = ""


def column_lines(columns: Iterable[Column], hidden: int, sampled: str = "") -> Iterator[str]:
    """Yield a line a column, and one that says how many more there are.

    `sampled` says in which rows nulls were counted, if not in all.
    """
    yield f"columns{f' ({sampled})' if sampled else ''}:"
    for column in columns:
        nulls = f", {count(column.nulls, 'null')}" if column.nulls else ""
        note = f", {column.note}" if column.note else ""
        yield f"  {column.name}: {cut(escape(column.dtype), DTYPE_CHARS)}{nulls}{note}"
    if hidden > 0:
        yield f"  and {count(hidden, 'more column')}"


def _head(names: list[str], columns: list[list[str]], hidden: int, rows: int) -> Iterator[str]:
    """Yield the first rows, a line each, under the names of their columns."""
    more = ["…"] if hidden > 0 else []
    yield f"first {count(min(rows, ROWS), 'row')}:" if rows > ROWS else "rows:"
    yield "  " + " | ".join([*names, *more])
    for cells in zip(*columns, strict=True):
        yield "  " + " | ".join([*cells, *more])


def _cell(value: Any) -> str:
    text = str.__str__(value) if is_a(value, str) else ""
    if text and text.isprintable() and "|" not in text and text == text.strip():
        return cut(text, CELL_CHARS)  # quotes would only take room
    return short(value, share_values=True, depth=2, chars=CELL_CHARS)


# --- pandas


def pandas_frame(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield size, index, columns and, with values, the first rows."""
    # A plain frame over the same memory: methods of subclasses are not run, nor `attrs` copied at each step.
    frame = sys.modules["pandas"].DataFrame(value, copy=False)
    rows, width = frame.shape
    shown = frame.iloc[:, :COLUMNS]
    memory = attempt(lambda: _pandas_memory(frame), "")
    if memory:
        yield memory
    yield f"index: {_index(frame.index, share_values=share_values)}"
    if not width:
        yield "no columns"
        return
    nulls, sampled = attempt(lambda: _pandas_nulls(shown), ([0] * width, 0))
    names = [label(name, share_values=share_values) for name in frame.columns[:COLUMNS]]
    columns = [
        Column(name, _pandas_dtype(dtype), missing, _categories(dtype, share_values=share_values))
        for name, dtype, missing in zip(names, shown.dtypes, nulls, strict=True)
    ]
    yield from column_lines(columns, width - COLUMNS, _sampled(sampled, rows))
    if share_values and rows:
        head = shown.iloc[:ROWS, :HEAD_COLUMNS]
        cells = [[_cell(item) for item in head.index]]
        cells += [_pandas_cells(head.iloc[:, place]) for place in range(head.shape[1])]
        yield from _head(["index", *names[:HEAD_COLUMNS]], cells, width - HEAD_COLUMNS, rows)


def pandas_series(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield type, nulls, index and, with values, the first ones.

    Without values its name is left out: that of a row of a table is a value of the index.
    """
    series = sys.modules["pandas"].Series(value, copy=False)
    if share_values and series.name is not None:
        yield f"name: {label(series.name, share_values=True)}"
    (missing,), size = _pandas_nulls(series.to_frame())
    sampled = f" in a sample of {count(size, 'value')}" if size < len(series) else ""
    note = _categories(series.dtype, share_values=share_values)
    memory = bytes_text(int(series.memory_usage(index=False, deep=False)))
    yield f"dtype: {_pandas_dtype(series.dtype)}{f', {note}' if note else ''}"
    yield f"nulls: {number(missing)}{sampled}"
    yield f"memory: {memory}{_without_objects([series.dtype])}"
    yield f"index: {_index(series.index, share_values=share_values)}"
    if share_values and len(series):
        head = series.iloc[:ROWS]
        yield "first values:" if len(series) > ROWS else "values:"
        for at, item in zip(head.index, _pandas_cells(head), strict=True):
            yield f"  {_cell(at)}: {item}"


def pandas_index(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield names and types, and, with values, the first ones."""
    yield _index(value, share_values=share_values)
    if share_values and len(value):
        yield f"first values: {', '.join(_cell(item) for item in value[:ROWS])}"


def _index(index: Any, *, share_values: bool) -> str:
    """Return an index in one line: names and types and, with values, the ends."""
    levels = getattr(index, "levels", None)
    names = [
        label(name, share_values=share_values) if name is not None else "unnamed"
        for name in list(index.names)[:COLUMNS]
    ]
    if levels is not None:
        parts = [f"{name}: {_pandas_dtype(level.dtype)}" for name, level in zip(names, levels, strict=False)]
        return f"{count(len(levels), 'level')} ({', '.join(parts)})"
    text = f"{_pandas_dtype(index.dtype)}{f' {names[0]}' if index.name is not None else ''}"
    if share_values and len(index):
        text += f", from {_cell(index[0])} to {_cell(index[-1])}"
    return text


def _pandas_cells(head: Any) -> list[str]:
    """Return the values of a short series; those of a nested column only while they are small."""
    if is_a(head.dtype, *_arrow_dtypes()) and head.array.nbytes > MOST_CELL_BYTES:
        return ["(large)"] * len(head)
    return [_cell(item) for item in head.array]


def _arrow_dtypes() -> tuple[type, ...]:
    dtype = getattr(sys.modules["pandas"], "ArrowDtype", None)
    return () if dtype is None else (dtype,)


def _sampled(size: int, rows: int) -> str:
    if not size and rows:
        return "nulls not counted"
    return f"nulls in a sample of {count(size, 'row')}" if size < rows else ""


def _pandas_nulls(frame: Any) -> tuple[list[int], int]:
    """Return the number of nulls of each column, and in how many rows they were counted.

    Of a large frame that is in a few runs of rows, evenly spread: to take single rows from all over it would
    copy columns of strings as a whole.
    """
    rows, width = frame.shape
    if rows * width <= FULL_CELLS:
        runs = [frame]
    else:
        length = max(SAMPLE_CELLS // width // RUNS, 1)
        starts = [(rows - length) * run // (RUNS - 1) for run in range(RUNS)]
        runs = [frame.iloc[start : start + length] for start in starts]
    counts = [run.isna().to_numpy().sum(axis=0) for run in runs]
    return [sum(int(n) for n in column) for column in zip(*counts, strict=True)], sum(map(len, runs))


def _pandas_memory(frame: Any) -> str:
    dtypes = set(frame.dtypes)
    if frame.shape[1] <= MOST_MEASURED:
        size = int(frame.memory_usage(index=True, deep=False).sum())
    else:
        widths = {dtype: dtype.itemsize for dtype in dtypes if find(dtype, {("numpy", "dtype"): True})}
        if len(widths) < len(dtypes):
            return ""
        size = len(frame) * sum(widths[dtype] for dtype in frame.dtypes)
    return f"memory: {bytes_text(size)}{_without_objects(dtypes)}"


def _without_objects(dtypes: Iterable[Any]) -> str:
    return " without the objects that columns refer to" if any(str(d) == "object" for d in dtypes) else ""


def _pandas_dtype(dtype: Any) -> str:
    """Return a type's name; of a sparse one without its fill value, which is a value."""
    subtype = getattr(dtype, "subtype", None) if hasattr(dtype, "fill_value") else None
    return str(dtype) if subtype is None else f"Sparse[{subtype}]"


def _categories(dtype: Any, *, share_values: bool) -> str:
    categories = getattr(dtype, "categories", None)
    if categories is None:
        return ""
    names = ", ".join(_cell(item) for item in categories[:CATEGORIES]) if share_values else ""
    more = ", …" if names and len(categories) > CATEGORIES else ""
    return f"{number(len(categories))} categories{f': {names}{more}' if names else ''}"


# --- polars


def polars_frame(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield size, columns and, with values, the first rows."""
    rows, width = value.shape
    yield _polars_memory(value, rows, value.dtypes)
    if not width:
        yield "no columns"
        return
    shown = [value.to_series(place) for place in range(min(width, COLUMNS))]
    names = [label(series.name, share_values=share_values) for series in shown]
    columns = [
        Column(name, polars_dtype(series.dtype, share_values=share_values), series.null_count())
        for name, series in zip(names, shown, strict=True)
    ]
    yield from column_lines(columns, width - COLUMNS)
    if share_values and rows:
        cells = [_polars_cells(series.head(ROWS)) for series in shown[:HEAD_COLUMNS]]
        yield from _head(names[:HEAD_COLUMNS], cells, width - HEAD_COLUMNS, rows)


def polars_series(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield name, type, nulls and, with values, the first ones."""
    if value.name and share_values:
        yield f"name: {label(value.name, share_values=True)}"
    yield f"dtype: {cut(polars_dtype(value.dtype, share_values=share_values), DTYPE_CHARS)}"
    yield f"nulls: {number(value.null_count())}"
    yield _polars_memory(value, value.len(), [value.dtype])
    if share_values and value.len():
        yield f"first values: {', '.join(_polars_cells(value.head(ROWS)))}"


def _polars_memory(value: Any, rows: int, dtypes: list[Any]) -> str:
    """Return the memory of a table or series; that of strings is added up one by one, so not of very many."""
    slow = sum(type(dtype).__name__ in _ADDED_UP for dtype in dtypes)
    if rows * slow > MOST_ADDED_UP:
        return "memory: not measured"
    return f"memory: {bytes_text(int(value.estimated_size()))}"


def polars_dtype(dtype: Any, *, share_values: bool) -> str:
    """Return a type's name; the categories of an enumeration are values."""
    name = type(dtype).__name__
    if name == "Enum":
        return f"Enum({_categories(dtype, share_values=share_values)})"
    inner = partial(polars_dtype, share_values=share_values)
    if name in ("List", "Array"):
        return f"{name}({inner(dtype.inner)})"
    if name == "Struct":
        fields = dtype.fields[:COLUMNS]
        parts = (f"{label(field.name, share_values=share_values)}: {inner(field.dtype)}" for field in fields)
        return f"Struct({', '.join(parts)})"
    return str(dtype)


def _polars_cells(head: Any) -> list[str]:
    """Return the values of a short series; a nested one is not turned into Python objects as a whole."""
    if type(head.dtype).__name__ != "Struct":
        return [_cell(head[place]) for place in range(head.len())]
    names = [field.name for field in head.dtype.fields[:ROWS]]
    fields = [_polars_cells(head.struct.field(name)) for name in names]
    rows = [
        ", ".join(
            f"{label(n, share_values=True)}: {cells[place]}" for n, cells in zip(names, fields, strict=True)
        )
        for place in range(head.len())
    ]
    return [cut(f"{{{row}}}", CELL_CHARS) for row in rows]


# --- pyarrow


def arrow_table(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield size, columns and, with values, the first rows."""
    rows, width = value.num_rows, value.num_columns
    yield f"memory: {bytes_text(value.nbytes)}"
    if not width:
        yield "no columns"
        return
    shown = [value.column(place) for place in range(min(width, COLUMNS))]
    names = [label(value.schema.field(place).name, share_values=share_values) for place in range(len(shown))]
    columns = [
        Column(name, str(column.type), column.null_count) for name, column in zip(names, shown, strict=True)
    ]
    yield from column_lines(columns, width - COLUMNS)
    if share_values and rows:
        cells = [_arrow_cells(column) for column in shown[:HEAD_COLUMNS]]
        yield from _head(names[:HEAD_COLUMNS], cells, width - HEAD_COLUMNS, rows)


def arrow_array(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield type, nulls and, with values, the first ones."""
    yield f"dtype: {cut(str(value.type), DTYPE_CHARS)}"
    yield f"nulls: {number(value.null_count)}"
    yield f"memory: {bytes_text(value.nbytes)}"
    if share_values and len(value):
        yield f"first values: {', '.join(_arrow_cells(value))}"


def _arrow_cells(column: Any) -> list[str]:
    head = column.slice(0, ROWS)
    if head.nbytes > MOST_CELL_BYTES:
        return ["(large)"] * len(head)
    return [_cell(item) for item in head.to_pylist()]
