"""What is not shown where the user shares no values: a canary is put wherever data can be."""

import collections
import contextlib
import dataclasses
import datetime as dt
import enum
import functools
import io
import pathlib
import types
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
import xarray
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from stand_ins import Axes, Figure, Tensor

from mewcode_magic.kernel.describe import describe
from mewcode_magic.kernel.variables import list_variables

CANARY = "canary"
NUMBER = 77_345_077
DAY = dt.datetime(2077, 7, 7, 7, 7, 7)  # noqa: DTZ001 - as tables hold them
TRACES = [CANARY, "77345077", "77,345,077", "7.73", "7.7e+07", "2077"]


def leaked(text: str) -> list[str]:
    """Return the traces of the data in a text."""
    return [trace for trace in TRACES if trace in text]


class Color(enum.Enum):
    """A value of text."""

    RED = CANARY


class Flag(enum.IntEnum):
    """A value that is a number."""

    ON = NUMBER


@dataclasses.dataclass
class Point:  # noqa: D101 - dataclass writes one, with the defaults
    name: str = CANARY
    size: int = NUMBER


class Pair(NamedTuple):
    """Two."""

    left: str
    right: int = NUMBER


class Account:
    """An account."""

    limit = CANARY

    def __init__(self, owner: str = CANARY, items: Any = (NUMBER,)) -> None:
        self.owner = owner
        self.items = items

    def __repr__(self) -> str:
        return CANARY


class Failing:
    """Its methods fail."""

    def __repr__(self) -> str:
        raise ValueError(CANARY)

    @property
    def shape(self) -> Any:
        raise ValueError(CANARY)


def with_defaults(a: Literal["canary"] = CANARY, *, b: Annotated[int, CANARY] = NUMBER) -> None:
    """Do nothing."""


def counting(value: Any) -> Any:
    yield value


def excepted() -> BaseException:
    error = ValueError(CANARY)
    error.__cause__ = KeyError(NUMBER)
    error.add_note(CANARY)
    return error


def in_cells() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "text": [CANARY, None],
            "number": [NUMBER, 1],
            "day": [DAY, None],
            "grade": pd.Categorical([CANARY, "b"]),
            "list": pd.Series([[CANARY], {CANARY: NUMBER}], dtype=object),
            "sparse": pd.array([NUMBER, NUMBER], dtype=pd.SparseDtype("int64", NUMBER)),
            "span": pd.arrays.IntervalArray.from_breaks([0, 1, NUMBER]),
        },
        index=pd.Index([CANARY, "b"], name="key"),
    )


def nested_polars() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "text": [CANARY],
            "list": [[CANARY]],
            "struct": [{"x": CANARY, "y": NUMBER}],
            "enum": pl.Series([CANARY], dtype=pl.Enum([CANARY])),
            "enums": pl.Series([[CANARY]], dtype=pl.List(pl.Enum([CANARY]))),
            "category": pl.Series([CANARY], dtype=pl.Categorical),
            "object": pl.Series([Account()], dtype=pl.Object),
        }
    )


def with_attributes() -> pd.DataFrame:
    frame = in_cells()
    frame.attrs[CANARY] = CANARY
    return frame


def labelled() -> xarray.DataArray:
    return xarray.DataArray(
        np.full(2, NUMBER), dims=("x",), coords={"x": [CANARY, "b"]}, attrs={CANARY: CANARY}
    )


def fitted() -> LogisticRegression:
    return LogisticRegression(C=NUMBER, class_weight={CANARY: 1, "b": 1}).fit(
        [[0.0], [NUMBER]], [CANARY, "b"]
    )


PLACES: dict[str, Callable[[], Any]] = {
    "cells": in_cells,
    "cells of a frame with attributes": with_attributes,
    "row": lambda: in_cells().loc[CANARY],
    "column": lambda: in_cells()["grade"],
    "sparse column": lambda: in_cells()["sparse"],
    "index": lambda: in_cells().index,
    "levels": lambda: in_cells().set_index(["text", "number"]),
    "index of levels": lambda: in_cells().set_index(["text", "grade"]).index,
    "dates as columns": lambda: pd.DataFrame([[1]], columns=[DAY]),
    "group": lambda: in_cells().groupby("text"),
    "polars": nested_polars,
    "polars, lazy": lambda: nested_polars().lazy().filter(pl.col("text") == CANARY),
    "polars, column": lambda: nested_polars()["enums"],
    "polars, expression": lambda: pl.col("a") == CANARY,
    "arrow": lambda: pa.table({"a": [CANARY], "b": pa.array([CANARY]).dictionary_encode()}),
    "arrow, metadata": lambda: pa.table({"a": [1]}).replace_schema_metadata({CANARY: CANARY}),
    "arrow, array": lambda: pa.array([CANARY]),
    "arrow, dataset": lambda: pa.dataset.dataset(pa.table({"a": [CANARY]})),
    "dask": lambda: dask.dataframe.from_pandas(in_cells()[["text", "number", "grade"]], npartitions=1),
    "array": lambda: np.array([NUMBER, 1]),
    "array of text": lambda: np.array([CANARY]),
    "array of objects": lambda: np.array([Account(), CANARY], dtype=object),
    "array of records": lambda: np.array([(CANARY, NUMBER)], [("a", "U9"), ("b", "i8")]),
    "array, masked": lambda: np.ma.array([NUMBER], mask=[0], fill_value=NUMBER),
    "array, type with metadata": lambda: np.zeros(1, np.dtype("i8", metadata={CANARY: CANARY})),
    "array, no axis": lambda: np.array(NUMBER),
    "number of an array": lambda: np.int64(NUMBER),
    "record of an array": lambda: np.array([(CANARY,)], [("a", "U9")])[0],
    "labelled array": labelled,
    "data set": lambda: xarray.Dataset({"a": labelled()}, attrs={CANARY: CANARY}),
    "tensor": lambda: Tensor(np.array([NUMBER])),
    "estimator": fitted,
    "scaler": lambda: StandardScaler().fit([[NUMBER]]),
    "figure": lambda: Figure(Axes(CANARY)),
    "axes": lambda: Axes(CANARY),
    "defaults": lambda: with_defaults,
    "defaults of a class": lambda: Account,
    "defaults of a dataclass": lambda: Point,
    "defaults of a method": lambda: Account().__init__,
    "named tuple's class": lambda: Pair,
    "partial": lambda: functools.partial(with_defaults, CANARY, b=NUMBER),
    "cached function": lambda: functools.lru_cache(with_defaults),
    "generator": lambda: counting(CANARY),
    "iterator": lambda: iter([CANARY]),
    "map": lambda: map(str, [CANARY]),
    "text": lambda: CANARY,
    "bytes": CANARY.encode,
    "bytes to write": lambda: bytearray(CANARY.encode()),
    "bytes, viewed": lambda: memoryview(CANARY.encode()),
    "integer": lambda: NUMBER,
    "float": lambda: float(NUMBER),
    "complex": lambda: complex(NUMBER),
    "decimal": lambda: Decimal(NUMBER),
    "day": lambda: DAY,
    "time stamp": lambda: pd.Timestamp(DAY),
    "path": lambda: pathlib.Path(CANARY),
    "member": lambda: Color.RED,
    "members": lambda: Color,
    "flag": lambda: Flag.ON,
    "list": lambda: [CANARY, NUMBER],
    "list in a list": lambda: [[[CANARY]]],
    "key": lambda: {CANARY: 1},
    "item": lambda: {"a": CANARY},
    "set": lambda: {CANARY},
    "deque": lambda: collections.deque([CANARY]),
    "counter": lambda: collections.Counter([CANARY]),
    "default dictionary": lambda: collections.defaultdict(lambda: CANARY, {CANARY: NUMBER}),
    "user dictionary": lambda: collections.UserDict({CANARY: NUMBER}),
    "named tuple": lambda: Pair(CANARY),
    "dataclass": Point,
    "dataclasses": lambda: [Point()],
    "object": Account,
    "objects": lambda: [Account()],
    "name space": lambda: types.SimpleNamespace(a=CANARY, b=[NUMBER]),
    "exception": excepted,
    "exceptions": lambda: ExceptionGroup(CANARY, [ValueError(CANARY)]),
    "broken object": Failing,
    "text in memory": lambda: io.StringIO(CANARY),
    "view of a mapping": lambda: types.MappingProxyType({CANARY: CANARY}),
    "keys": {CANARY: 1}.keys,
    "environment": lambda: contextlib.nullcontext(CANARY),
}


@pytest.mark.parametrize("place", PLACES)
def test_value_is_not_shown_where_none_is_shared(place: str) -> None:
    value = PLACES[place]()
    for holder in (value, [value], {"a": value}, types.SimpleNamespace(a=value)):
        text = describe(holder, name="v", share_values=False, limit=0)
        assert leaked(text) == []
        assert "could not be read" not in text
    assert leaked(str(list_variables({"v": value}))) == []


@pytest.mark.parametrize(
    "place",
    [
        "cells", "row", "column", "index", "levels", "polars", "arrow", "array", "array of records",
        "labelled array", "tensor", "estimator", "figure", "defaults", "partial", "text", "path", "key",
        "item", "set", "named tuple", "dataclass", "object", "name space", "exception",
    ],
)  # fmt: skip
def test_value_is_shown_where_it_is_shared(place: str) -> None:
    assert leaked(describe(PLACES[place]())) != []


def test_open_file_is_not_named_where_no_value_is_shared(tmp_path: pathlib.Path) -> None:
    path = tmp_path / CANARY
    path.touch()
    with path.open() as file:
        assert leaked(describe(file, share_values=False)) == []
        assert leaked(describe(file)) == [CANARY]


def test_schema_is_shown_where_no_value_is_shared() -> None:
    text = describe(in_cells(), name="df", share_values=False)
    assert "df: pandas.DataFrame 2 rows x 7 columns" in text
    assert "  number: int64\n" in text
    assert "  day: datetime64[us], 1 null\n" in text
    assert "  grade: category, 2 categories\n" in text
    assert "index: " in text
    assert "  struct: Struct(x: String, y: Int64)\n" in describe(nested_polars(), share_values=False)
    assert "signature: with_defaults(a: Literal[…] = …, *, b: " in describe(with_defaults, share_values=False)
    assert "attributes:\n  owner: str of 6 characters" in describe(Account(), share_values=False)
    assert "parameters: " in describe(fitted(), share_values=False)
    assert "  coef_: numpy.ndarray (1, 1) float64" in describe(fitted(), share_values=False)


LEAVES = st.sampled_from(list(PLACES.values())).map(lambda make: make())
KEYS = st.sampled_from(
    [CANARY, NUMBER, DAY, (CANARY, NUMBER), frozenset([CANARY]), Color.RED, pathlib.Path(CANARY)]
)


def holders(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return whatever may hold data."""
    return st.one_of(
        st.lists(inside, max_size=4),
        st.lists(inside, max_size=4).map(tuple),
        st.lists(inside, max_size=4).map(collections.deque),
        st.dictionaries(KEYS, inside, max_size=4),
        inside.map(lambda value: types.SimpleNamespace(a=value, _b=value)),
        inside.map(lambda value: Account(value, [value])),
        inside.map(lambda value: Point(value, value)),
        inside.map(lambda value: Pair(value, value)),
        inside.map(lambda value: ValueError(value, CANARY)),
        inside.map(lambda value: functools.partial(with_defaults, value, b=value)),
        inside.map(lambda value: pd.DataFrame({"a": pd.Series([value, CANARY], dtype=object)})),
        inside.map(lambda value: pd.Series([value], index=[CANARY], name=CANARY, dtype=object)),
        inside.map(lambda value: pl.Series(CANARY, [value], dtype=pl.Object)),
        inside.map(_boxed),
        inside.map(counting),
        inside.map(_defaulting),
    )


def _boxed(value: Any) -> Any:
    array = np.empty(1, dtype=object)
    array[0] = value
    return array


def _defaulting(value: Any) -> Any:
    def function(a=value, *, b=[value]):  # noqa: B006
        return a, b

    return function


@given(st.recursive(LEAVES, holders, max_leaves=6))
def test_no_value_is_shown_however_it_is_held(value: Any) -> None:
    assert leaked(describe(value, share_values=False, limit=0)) == []
    describe(value)
