"""A variable in a few lines that a model reads: `describe`.

A description never runs what is lazy or expensive, and no broken object breaks it. Classes are recognised by
their names, so that no library is imported for it. Limits: 5 rows of a table, 60 columns, 10 entries of a
container, 20 attributes, containers two deep, and the whole is cut at `limit` characters.

What is shown although `share_values` is off: names of columns, dimensions, attributes, parameters and types,
docstrings, shapes, sizes and counts of nulls. What is not: cells, keys and entries of containers, categories,
statistics, defaults, titles, paths and names of open files, messages of exceptions, reprs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from mewcode_magic.kernel.describe import arrays, code, estimators, figures, lazy, plain, tables
from mewcode_magic.kernel.describe.ending import TooLong, ending_after
from mewcode_magic.kernel.describe.lazy import LAZY
from mewcode_magic.kernel.describe.short import label
from mewcode_magic.kernel.describe.sizes import kind
from mewcode_magic.kernel.describe.static import KindTable, find, name_of
from mewcode_magic.kernel.describe.words import cut, escape

__all__ = ["LIMIT", "describe"]

LIMIT = 4_000
"""Characters of a description."""
SECONDS = 2.0
"""After which a description ends with what it has; all that is known here takes a fraction of that."""


class _Describer(Protocol):
    def __call__(self, value: Any, /, *, share_values: bool) -> Iterator[str]:
        """Yield the lines behind the first one, which says type and size."""
        ...


_ELSEWHERE = (
    ("jax", "ArrayImpl"),
    ("jaxlib", "ArrayImpl"),
    ("cupy", "ndarray"),
    ("tensorflow", "EagerTensor"),
    ("h5py", "Dataset"),
    ("zarr", "Array"),
    ("scipy", "_spbase"),
    ("scipy", "spmatrix"),
)
"""Arrays whose values are on a device, on disk or in another form than rows."""

_DESCRIBERS: KindTable[_Describer] = {
    ("pandas", "DataFrame"): tables.pandas_frame,
    ("pandas", "Series"): tables.pandas_series,
    ("pandas", "Index"): tables.pandas_index,
    ("polars", "DataFrame"): tables.polars_frame,
    ("polars", "Series"): tables.polars_series,
    ("pyarrow", "Table"): tables.arrow_table,
    ("pyarrow", "RecordBatch"): tables.arrow_table,
    ("pyarrow", "Array"): tables.arrow_array,
    ("pyarrow", "ChunkedArray"): tables.arrow_array,
    **dict.fromkeys(LAZY, lazy.lazy),
    ("dask", "Array"): lazy.lazy_array,
    **{("dask", name): lazy.lazy_column for name in ("Series", "Index")},
    **{("ibis", name): lazy.lazy_column for name in ("Column", "Scalar")},
    **{("dask", name): lazy.not_computed for name in ("Bag", "Delayed", "DelayedLeaf", "Item", "Scalar")},
    ("numpy", "ndarray"): arrays.numpy_array,
    ("torch", "Tensor"): arrays.torch_tensor,
    **dict.fromkeys(_ELSEWHERE, arrays.array_schema),
    **{("xarray", name): arrays.xarray_array for name in ("DataArray", "Variable")},
    ("xarray", "Dataset"): arrays.xarray_dataset,
    ("sklearn", "BaseEstimator"): estimators.estimator,
    ("matplotlib", "Figure"): figures.figure,
    ("matplotlib", "Axes"): figures.axes,
    ("builtins", "function"): code.function,
    ("builtins", "method"): code.method,
    ("builtins", "builtin_function_or_method"): code.builtin,
    ("functools", "_lru_cache_wrapper"): code.function,
    ("functools", "partial"): code.partial,
    ("builtins", "type"): code.a_class,
    ("builtins", "module"): code.a_module,
    **{("builtins", name): code.a_generator for name in ("generator", "coroutine", "async_generator")},
    ("builtins", "str"): plain.text,
    **{
        ("builtins", name): plain.container for name in ("list", "tuple", "dict", "set", "frozenset")
    },
    ("collections", "deque"): plain.container,
    **{
        ("builtins", name): plain.scalar
        for name in (
            "NoneType", "bool", "int", "float", "complex", "range", "bytes", "bytearray", "ellipsis",
            "NotImplementedType", "BaseException",
        )
    },
    **{("datetime", name): plain.scalar for name in ("datetime", "date", "time", "timedelta")},
    ("decimal", "Decimal"): plain.scalar,
    ("fractions", "Fraction"): plain.scalar,
    ("uuid", "UUID"): plain.scalar,
    ("pathlib", "PurePath"): plain.scalar,
    ("enum", "Enum"): plain.scalar,
    ("numpy", "generic"): plain.scalar,
    **{("pandas", name): plain.scalar for name in ("Timedelta", "Timestamp", "Period", "Interval", "NAType")},
    ("_io", "_IOBase"): plain.file,
}  # fmt: skip


def describe(value: Any, *, name: str = "", share_values: bool = True, limit: int = LIMIT) -> str:
    """Return a description of a value in plain text, at most `limit` characters (0: of any length).

    The first line says name, type and size. Without `share_values`, schemas and shapes only. Controls are
    escaped; tags and credentials in the data are the caller's to escape and to mask.

    Raises:
        KeyboardInterrupt: the user interrupts; no other error of the value's own code gets out.
    """
    heading = kind(value)
    lines = [f"{label(name, share_values=True)}: {heading}" if name else heading]
    found = find(value, _DESCRIBERS)
    describer = plain.any_object if found is None else found[0]
    try:
        with ending_after(SECONDS):
            lines.extend(describer(value, share_values=share_values))  # keeps what came before a failure
    except KeyboardInterrupt:
        raise
    except TooLong:
        lines.append(f"(the rest took longer than {SECONDS:g} s)")
    except BaseException as error:  # noqa: BLE001 - foreign code raises what it likes; its message is data
        lines.append(f"(the rest could not be read: {name_of(type(error))})")
    return _within(limit, "\n".join(escape(line).rstrip() for line in lines))


def _within(limit: int, text: str) -> str:
    """Return text, or as many whole lines as fit with a last one that says so."""
    if not 0 < limit < len(text):
        return text
    note = "\n(cut here)"
    end = text.rfind("\n", 0, max(limit - len(note), 0) + 1)
    return text[:end] + note if end > 0 else cut(text, limit)
