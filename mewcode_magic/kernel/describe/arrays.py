"""Arrays: shape, type of the elements, and statistics that cost no full pass over a large one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from mewcode_magic.kernel.describe.short import CHARS, label, short
from mewcode_magic.kernel.describe.sizes import shape_text, size_of
from mewcode_magic.kernel.describe.static import find, is_a, type_name
from mewcode_magic.kernel.describe.words import bytes_text, count, cut, number

__all__ = ["array_schema", "numpy_array", "torch_tensor", "xarray_array", "xarray_dataset"]

FULL = 1_000_000
"""Elements up to which all are looked at."""
SAMPLE = 20_000
"""Elements looked at in a larger array; each may be a miss of the processor's cache."""
FIRST = 6
"""Elements shown."""
MOST_NAMES = 30
"""Variables, fields and coordinates shown."""


def numpy_array(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield shape, type, size, and, with values, the first ones and statistics."""
    numpy = sys.modules["numpy"]
    # A plain view of the same memory: a subclass may have methods of its own, which are not run.
    array = numpy.ndarray.view(value, numpy.ndarray)
    yield f"shape: {shape_text(array.shape)}; dtype: {_dtype(array.dtype)}; {bytes_text(array.nbytes)}"
    if is_a(value, numpy.memmap):
        yield "memory-mapped: its values were not read"
        return
    if not share_values or not array.size:
        return
    first = [short(item, share_values=True, chars=30) for item in array.flat[:FIRST]]
    yield f"first values: {', '.join(first)}{', …' if array.size > FIRST else ''}"
    yield from _statistics(value, array, numpy)


def _statistics(value: Any, array: Any, numpy: ModuleType) -> Iterator[str]:
    """Yield one line on the values of an array of numbers or dates."""
    kind = array.dtype.kind
    if kind not in "biufcmM":
        return
    part = tuple(slice(None, None, step) for step in _steps(array.shape)) if array.size > FULL else ...
    sample = array[part]
    sampled = "" if part is ... else f" (in a sample of {count(sample.size, 'value')})"
    if is_a(value, numpy.ma.MaskedArray):
        mask = numpy.ma.getmaskarray(value)[part]
        yield f"masked: {number(int(mask.sum()))}{sampled}"
        sample = sample[~mask]
    known = sample[sample == sample] if kind in "fcmM" else sample.ravel()  # noqa: PLR0124 - NaN is not itself
    missing = int(sample.size - known.size)
    parts = []
    with numpy.errstate(all="ignore"):
        if known.size and kind == "b":
            parts.append(f"true: {number(int(known.sum()))} of {number(int(known.size))}")
        elif known.size:
            if kind != "c":
                parts += [f"min {known.min()}", f"max {known.max()}"]
            if kind not in "mM":
                parts.append(f"mean {known.mean():.6g}")
    if missing:
        parts.append(count(missing, "NaT" if kind in "mM" else "NaN"))
    if parts:
        yield f"{', '.join(parts)}{sampled}"


def _steps(shape: tuple[int, ...]) -> list[int]:
    """Return a step for each axis, so that some `SAMPLE` elements are taken from everywhere."""
    steps = [1] * len(shape)
    taken = list(shape)
    size = 1
    for length in shape:
        size *= length
    while size > SAMPLE:
        axis = max(range(len(shape)), key=taken.__getitem__)
        if taken[axis] == 1:
            break
        steps[axis] *= 2
        size //= taken[axis]
        taken[axis] = -(-shape[axis] // steps[axis])
        size *= taken[axis]
    # An even step can fall in with a period of the data.
    return [step + 1 if step > 1 else 1 for step in steps]


def _dtype(dtype: Any) -> str:
    """Return an element's type in words; of a record, the names of its fields and their types."""
    if not dtype.names:
        return cut(str(dtype), CHARS)
    fields = [
        f"{label(name, share_values=True)}: {dtype.fields[name][0].name}" for name in dtype.names[:MOST_NAMES]
    ]
    more = len(dtype.names) - MOST_NAMES
    return f"record of {', '.join([*fields, f'and {more} more'] if more > 0 else fields)}"


def torch_tensor(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield shape, type, device, and, with values in the processor's own memory, statistics."""
    device = str(value.device)
    yield f"shape: {shape_text(tuple(value.shape))}; dtype: {cut(str(value.dtype), CHARS)}; device: {device}"
    if value.requires_grad:
        yield "requires a gradient"
    if not share_values or device != "cpu" or "numpy" not in sys.modules:
        return  # a value on another device would be waited for
    for line in numpy_array(value.detach().numpy(), share_values=True):  # the same memory
        if not line.startswith("shape:"):
            yield line


def array_schema(value: Any, *, share_values: bool) -> Iterator[str]:  # noqa: ARG001 - no value is ever read
    """Yield shape and type of an array whose values are elsewhere, compressed or computed later."""
    yield f"shape: {shape_text(tuple(value.shape))}; dtype: {cut(str(value.dtype), CHARS)}"


def xarray_array(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield dimensions, type, names of coordinates, and, with values in memory, statistics."""
    yield f"dimensions: {size_of(value)}; dtype: {cut(str(value.dtype), CHARS)}"
    coordinates = getattr(value, "coords", {})
    if coordinates:
        yield f"coordinates: {_names(coordinates)}"
    if value.attrs:
        yield f"attributes: {_names(value.attrs) if share_values else number(len(value.attrs))}"
    data = getattr(value, "variable", value)._data  # noqa: SLF001 - all that is public loads the values
    if find(data, {("numpy", "ndarray"): True}):
        for line in numpy_array(data, share_values=share_values):
            if not line.startswith("shape:"):
                yield line
    else:
        yield f"values not loaded: {type_name(type(data))}"


def xarray_dataset(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield dimensions and, a line each, variables and coordinates with their dimensions and types."""
    yield f"dimensions: {size_of(value)}"
    for title, names in (("variables", list(value.data_vars)), ("coordinates", list(value.coords))):
        if names:
            yield f"{title}:"
        for name in names[:MOST_NAMES]:
            variable = value.variables[name]
            dimensions = ", ".join(label(name, share_values=False) for name in variable.dims)
            yield f"  {label(name, share_values=False)} ({dimensions}): {cut(str(variable.dtype), CHARS)}"
        if len(names) > MOST_NAMES:
            yield f"  and {number(len(names) - MOST_NAMES)} more"
    if value.attrs:
        yield f"attributes: {_names(value.attrs) if share_values else number(len(value.attrs))}"


def _names(mapping: Any) -> str:
    names = [label(name, share_values=False) for name in list(mapping)[:MOST_NAMES]]
    more = len(mapping) - len(names)
    return ", ".join([*names, f"and {number(more)} more"] if more > 0 else names)
