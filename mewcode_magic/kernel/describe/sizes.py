"""A value's type and its size or shape, where that is known at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from mewcode_magic.kernel.describe.static import KindTable, attempt, find, is_a, type_name
from mewcode_magic.kernel.describe.words import count, cut, escape, number

__all__ = ["SIZED", "kind", "shape_text", "size_of"]

DTYPE_CHARS = 80

SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, deque, range)
"""Builtin classes whose own length is known at once; a subclass's `__len__` is not asked."""


def kind(value: Any) -> str:
    """Return a value's type, and its size where that is known at once: `list of 3 items`."""
    if is_a(value, type):
        return f"class {type_name(value)}"
    name, size = type_name(type(value)), size_of(value)
    if not size:
        return name
    return f"{name} {size}" if is_a(value, memoryview) or not is_a(value, *SIZED) else f"{name} of {size}"


def shape_text(shape: Any) -> str:
    """Return a shape as Python writes it; a size that is not known yet (dask) is `unknown`."""
    sizes = [number(size) if is_a(size, int) else "unknown" for size in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def size_of(value: Any) -> str:
    """Return a value's size or shape where it is known at once, else an empty string."""
    found = find(value, _SIZES)
    if found is None:
        return ""
    size, cls = found
    return attempt(lambda: size(value, cls), "")


def _characters(value: Any, _cls: Any) -> str:
    return count(str.__len__(value), "character")


def _bytes(value: Any, cls: Any) -> str:
    return count(cls.__len__(value), "byte")


def _items(value: Any, cls: Any) -> str:
    return count(cls.__len__(value), "item")


def _view_bytes(value: memoryview, _cls: Any) -> str:
    return count(value.nbytes, "byte")


def _rows_and_columns(value: Any, cls: Any) -> str:
    rows, columns = cls.shape.__get__(value)  # not that of a subclass
    return f"{count(rows, 'row')} x {count(columns, 'column')}"


def _arrow_length(value: Any, cls: Any) -> str:
    return f"{count(cls.__len__(value), 'value')}, {cut(escape(str(value.type)), DTYPE_CHARS)}"


def _labels(value: Any, cls: Any) -> str:
    (length,) = cls.shape.__get__(value)
    return count(length, "value")


def _shape(value: Any, _cls: Any) -> str:
    return f"{shape_text(value.shape)} {cut(escape(str(value.dtype)), DTYPE_CHARS)}"


def _base_shape(value: Any, cls: Any) -> str:
    shape, dtype = cls.shape.__get__(value), cls.dtype.__get__(value)  # not those of a subclass
    name = dtype.name if dtype.names else str(dtype)  # of a record, not all its fields
    return f"{shape_text(shape)} {name}"


def _axis(name: Any) -> str:
    return cut(escape(name), DTYPE_CHARS) if is_a(name, str) else type_name(type(name))


def _dimensions(value: Any, _cls: Any) -> str:
    return ", ".join(f"{_axis(name)} {number(size)}" for name, size in value.sizes.items())


Size: TypeAlias = Callable[[Any, Any], str]

_SIZES: KindTable[Size] = {
    ("builtins", "str"): _characters,
    ("builtins", "bytes"): _bytes,
    ("builtins", "bytearray"): _bytes,
    ("builtins", "memoryview"): _view_bytes,
    **{("builtins", name): _items for name in ("list", "tuple", "dict", "set", "frozenset", "range")},
    ("collections", "deque"): _items,
    ("array", "array"): _items,
    ("pandas", "DataFrame"): _rows_and_columns,
    ("pandas", "Series"): _labels,
    ("pandas", "Index"): _labels,
    ("polars", "DataFrame"): _rows_and_columns,
    ("polars", "Series"): _labels,
    ("pyarrow", "Table"): _rows_and_columns,
    ("pyarrow", "RecordBatch"): _rows_and_columns,
    ("pyarrow", "Array"): _arrow_length,
    ("pyarrow", "ChunkedArray"): _arrow_length,
    ("numpy", "ndarray"): _base_shape,
    ("torch", "Tensor"): _shape,
    ("jax", "ArrayImpl"): _shape,
    ("jaxlib", "ArrayImpl"): _shape,
    ("cupy", "ndarray"): _shape,
    ("tensorflow", "EagerTensor"): _shape,
    ("h5py", "Dataset"): _shape,
    ("zarr", "Array"): _shape,
    ("scipy", "_spbase"): _shape,
    ("scipy", "spmatrix"): _shape,
    ("xarray", "DataArray"): _dimensions,
    ("xarray", "Dataset"): _dimensions,
    ("xarray", "Variable"): _dimensions,
}
