"""What has not been computed yet (dask, Spark, ibis, SQLAlchemy, …): its schema; nothing is run for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from mewcode_magic.kernel.describe.arrays import array_schema
from mewcode_magic.kernel.describe.short import label
from mewcode_magic.kernel.describe.static import KindTable, find, is_a, type_name
from mewcode_magic.kernel.describe.tables import COLUMNS, Column, column_lines, polars_dtype
from mewcode_magic.kernel.describe.words import cut, escape

__all__ = ["LAZY", "lazy", "lazy_array", "lazy_column", "not_computed"]

NOT_COMPUTED = "lazy: only its schema is known, nothing was computed"
DTYPE_CHARS = 120

Schema: TypeAlias = list[tuple[Any, str]]


def lazy(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield columns and types as the object itself knows them already."""
    yield NOT_COMPUTED
    found = find(value, LAZY)
    schema = [] if found is None else found[0](value)
    columns = [Column(label(name, share_values=share_values), dtype) for name, dtype in schema[:COLUMNS]]
    yield from column_lines(columns, len(schema) - COLUMNS)


def not_computed(value: Any, *, share_values: bool) -> Iterator[str]:  # noqa: ARG001 - it is left alone
    """Yield that nothing is known of a value before it is computed."""
    yield NOT_COMPUTED


def lazy_array(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield shape, type and size of the parts of a dask array."""
    yield NOT_COMPUTED
    yield from array_schema(value, share_values=share_values)


def lazy_column(value: Any, *, share_values: bool) -> Iterator[str]:  # noqa: ARG001 - it has no values yet
    """Yield the type of one column."""
    yield NOT_COMPUTED
    dtype = value.dtype if find(value, {("dask", "Series"): True, ("dask", "Index"): True}) else value.type()
    yield f"dtype: {cut(escape(str(dtype)), DTYPE_CHARS)}"


def _dask(value: Any) -> Schema:
    return [(name, str(dtype)) for name, dtype in zip(value.columns, value.dtypes, strict=True)]


def _polars(value: Any) -> Schema:
    return [(name, polars_dtype(dtype, share_values=False)) for name, dtype in value.collect_schema().items()]


def _spark(value: Any) -> Schema:
    return [(field.name, field.dataType.simpleString()) for field in value.schema.fields]


def _ibis(value: Any) -> Schema:
    return [(name, str(dtype)) for name, dtype in value.schema().items()]


def _select(value: Any) -> Schema:
    return [(column.name, str(column.type)) for column in islice(value.selected_columns, 10 * COLUMNS)]


def _query(value: Any) -> Schema:
    entries = [(entry["name"], entry["type"]) for entry in value.column_descriptions]
    return [(name, type_name(dtype) if is_a(dtype, type) else str(dtype)) for name, dtype in entries]


def _sql_table(value: Any) -> Schema:
    return [(column.name, str(column.type)) for column in value.columns]


def _relation(value: Any) -> Schema:
    return [(name, str(dtype)) for name, dtype in zip(value.columns, value.types, strict=True)]


def _arrow(value: Any) -> Schema:
    return [(field.name, str(field.type)) for field in value.schema]


LAZY: KindTable[Callable[[Any], Schema]] = {
    ("dask", "DataFrame"): _dask,
    ("polars", "LazyFrame"): _polars,
    ("pyspark", "DataFrame"): _spark,
    ("ibis", "Table"): _ibis,
    ("sqlalchemy", "Select"): _select,
    ("sqlalchemy", "Query"): _query,
    ("sqlalchemy", "Table"): _sql_table,
    ("duckdb", "DuckDBPyRelation"): _relation,
    ("_duckdb", "DuckDBPyRelation"): _relation,
    ("pyarrow", "Dataset"): _arrow,
    ("pyarrow", "RecordBatchReader"): _arrow,
}
