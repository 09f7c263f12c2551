"""Classes with the names and attributes of libraries that are too large for the tests' environment."""

from types import SimpleNamespace
from typing import Any

__all__ = ["Axes", "Figure", "IbisTable", "Run", "Select", "SparkFrame", "Tensor", "library_class"]


class Run(BaseException):
    """Something was run that costs a computation."""


def library_class(module: str, name: str, *bases: type, **attributes: Any) -> type:
    """Return a class that a library's module seems to define."""
    return type(name, bases, {"__module__": module, **attributes})


def _runs(*_arguments: Any, **_options: Any) -> Any:
    raise Run


EXPENSIVE = dict.fromkeys(
    [
        "__repr__",
        "__str__",
        "__len__",
        "__iter__",
        "__getitem__",
        "__bool__",
        "__array__",
        "__dask_graph__",
        "collect",
        "compute",
        "count",
        "execute",
        "head",
        "show",
        "take",
        "toPandas",
        "to_pandas",
        "all",
        "fetchall",
    ],
    _runs,
)


def SparkFrame(**columns: str) -> Any:  # noqa: N802 - stands for a class
    """Return a Spark data frame: all but its schema runs a job."""
    fields = [
        SimpleNamespace(name=name, dataType=SimpleNamespace(simpleString=lambda dtype=dtype: dtype))
        for name, dtype in columns.items()
    ]
    cls = library_class("pyspark.sql.classic.dataframe", "DataFrame", **EXPENSIVE)
    frame = cls()
    frame.schema = SimpleNamespace(fields=fields)
    return frame


def IbisTable(**columns: str) -> Any:  # noqa: N802 - stands for a class
    """Return an ibis table expression: in interactive mode, even its repr runs a query."""
    cls = library_class("ibis.expr.types.relations", "Table", **EXPENSIVE, schema=lambda _self: dict(columns))
    return cls()


def Select(**columns: str) -> Any:  # noqa: N802 - stands for a class
    """Return an SQLAlchemy statement."""
    selected = [SimpleNamespace(name=name, type=dtype) for name, dtype in columns.items()]
    cls = library_class("sqlalchemy.sql.selectable", "Select", **EXPENSIVE, selected_columns=selected)
    return cls()


def Tensor(array: Any, *, device: str = "cpu", requires_grad: bool = False) -> Any:  # noqa: N802 - stands for a class
    """Return a torch tensor over a numpy array."""
    cls = library_class(
        "torch",
        "Tensor",
        shape=tuple(array.shape),
        dtype=f"torch.{array.dtype}",
        device=device,
        requires_grad=requires_grad,
        detach=lambda self: self,
        numpy=lambda _self: array,
        **dict.fromkeys(("__repr__", "__len__", "__iter__", "item", "cpu", "tolist"), _runs),
    )
    return cls()


def Axes(title: str = "", *, lines: int = 0) -> Any:  # noqa: N802 - stands for a class
    """Return axes of a matplotlib figure."""
    cls = library_class(
        "matplotlib.axes._axes",
        "Axes",
        get_title=lambda _self: title,
        get_xlabel=lambda _self: "",
        get_ylabel=lambda _self: "",
        lines=[object()] * lines,
        patches=[object()] * 2,
        collections=[],
        images=[],
    )
    return cls()


def Figure(*axes: Any) -> Any:  # noqa: N802 - stands for a class
    """Return a matplotlib figure."""
    cls = library_class(
        "matplotlib.figure", "Figure", axes=list(axes), get_size_inches=lambda _self: (6.4, 4.8)
    )
    return cls()
