"""Objects whose own code raises, never ends, or costs too much."""

import signal
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins import Run, SparkFrame, library_class

from mewcode_magic.kernel.describe import describe
from mewcode_magic.kernel.variables import list_variables

METHODS = [
    "__repr__",
    "__str__",
    "__len__",
    "__iter__",
    "__next__",
    "__getitem__",
    "__getattr__",
    "__getattribute__",
    "__bool__",
    "__hash__",
    "__eq__",
    "__format__",
    "__dir__",
    "__sizeof__",
    "__reduce__",
    "__call__",
    "__array__",
    "__index__",
    "__int__",
    "__float__",
    "__contains__",
    "__get__",
    "__instancecheck__",
    "__length_hint__",
]
ERRORS = [
    ValueError,
    SystemExit,
    GeneratorExit,
    RecursionError,
    MemoryError,
    AttributeError,
    StopIteration,
    Run,
]
BASES = [
    object,
    int,
    float,
    str,
    bytes,
    list,
    tuple,
    dict,
    set,
    Exception,
    np.ndarray,
    pd.DataFrame,
    pd.Series,
]


def broken(error: type[BaseException], methods: list[str], base: type = object) -> Any:
    """Return an object of a class `Broken` whose methods and properties raise `error`."""

    def fail(*_arguments: Any, **_options: Any) -> Any:
        raise error("a message")

    def own_class(self: Any) -> Any:
        return fail() if made else type(self)

    cls = type("Broken", (base,), {"__class__": property(own_class)})
    made: list[Any] = []  # a library's constructor needs it whole
    if base is np.ndarray:
        made.append(np.zeros(3).view(cls))
    elif base in (pd.DataFrame, pd.Series):
        made.append(cls([1]))
    else:
        made.append(cls())
    for name in methods:
        setattr(cls, name, fail)
    if base not in (pd.DataFrame, pd.Series):
        cls.shape = cls.size = property(fail)
    return made[0]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("error", ERRORS)
def test_broken_object_is_described(error: type[BaseException], base: type) -> None:
    value = broken(error, METHODS, base)
    for holder in (
        value,
        [value],
        (1, value),
        {"a": value},
        types.SimpleNamespace(a=value),
        ValueError(value),
    ):
        for share_values in (True, False):
            text = describe(holder, name="v", share_values=share_values)
            assert "a message" not in text
    assert "Broken" in describe(value)
    assert "Broken" in describe([value])
    assert [row.name for row in list_variables({"v": value})] == ["v"]


@given(
    st.lists(st.sampled_from(METHODS), unique=True),
    st.sampled_from(ERRORS),
    st.sampled_from(BASES),
    st.booleans(),
)
def test_object_broken_in_any_way_is_described(
    methods: list[str],
    error: type[BaseException],
    base: type,
    share_values: bool,  # noqa: FBT001
) -> None:
    value = broken(error, methods, base)
    assert "Broken" in describe(value, share_values=share_values)
    assert "a message" not in describe({"key": [value]}, share_values=share_values)


def test_broken_metaclass_is_not_asked() -> None:
    def fail(*_arguments: Any, **_options: Any) -> Any:
        raise Run

    meta = type(
        "Meta",
        (type,),
        {
            **dict.fromkeys(
                (
                    "__hash__",
                    "__eq__",
                    "__repr__",
                    "__getattribute__",
                    "__instancecheck__",
                    "__subclasscheck__",
                ),
                fail,
            ),
            "__module__": property(fail),
            "__name__": property(fail),
        },
    )
    cls = type.__call__(meta, "Odd", (), {"x": 1})
    value = object.__new__(cls)
    for one in (value, cls, [value], {"a": cls}):
        assert "Odd" in describe(one)
        assert "could not be read" not in describe(one)
    (row,) = list_variables({"v": value})
    assert row.type.endswith("Odd")


def test_interrupt_by_the_user_gets_out() -> None:
    with pytest.raises(KeyboardInterrupt):
        describe(broken(KeyboardInterrupt, ["__repr__"]))
    frame = library_class("pyspark.sql", "DataFrame", schema=property(_interrupt))
    with pytest.raises(KeyboardInterrupt):
        describe(frame())


def _interrupt(_self: Any) -> Any:
    raise KeyboardInterrupt


def test_failure_of_a_library_leaves_what_came_before_it() -> None:
    def fail(_self: Any) -> Any:
        raise ValueError("a message")

    cls = library_class("pyspark.sql", "DataFrame", schema=property(fail))
    assert describe(cls(), name="df").splitlines() == [
        "df: pyspark.sql.DataFrame",
        "lazy: only its schema is known, nothing was computed",
        "(the rest could not be read: ValueError)",
    ]


def test_properties_are_not_run() -> None:
    class Lazy:
        def __init__(self) -> None:
            self.given = 1

        @property
        def loaded(self) -> Any:
            raise Run

        def __getattr__(self, name: str) -> Any:
            raise Run

    text = describe(Lazy())
    assert "given: 1" in text
    assert "loaded" not in text


def test_repr_that_may_show_much_is_not_called() -> None:
    class Guarded:
        def __init__(self, **attributes: Any) -> None:
            vars(self).update(attributes)

        def __repr__(self) -> str:
            raise AssertionError

    class Query(Guarded):
        def __iter__(self) -> Iterator[Any]:
            raise Run

    class Proxy(Guarded):
        def __getattr__(self, name: str) -> Any:
            raise Run

    large = [
        Query(),
        Proxy(),
        Guarded(items=[0] * 1_000),
        Guarded(items={n: [[n]] for n in range(100)}),
        Guarded(text="x" * 1_000_000),
        Guarded(frame=pd.DataFrame()),
        Guarded(inner=Guarded(inner=Query())),
        Guarded(job=SparkFrame(a="int")),
    ]
    for value in large:
        assert "repr" not in describe(value)
    assert "its repr fails" in describe(Guarded(items=[1, 2]))


def test_huge_repr_is_cut() -> None:
    class Huge:
        def __repr__(self) -> str:
            return "\x1b" * 50_000_000

    assert len(describe(Huge())) < 1_000
    assert len(describe([Huge()] * 5)) < 1_000


@pytest.mark.parametrize("result", [None, 5, b"bytes", ["list"]])
def test_repr_that_is_no_text_fails(result: Any) -> None:
    class Odd:
        def __repr__(self) -> Any:
            return result

    assert "its repr fails" in describe(Odd())


def test_endless_object_is_left_alone() -> None:
    class Endless:
        def __iter__(self) -> Iterator[int]:
            while True:
                yield 1

        def __len__(self) -> int:
            return sys.maxsize

        def __getitem__(self, index: int) -> int:
            return index

    assert describe(Endless()).splitlines()[0].endswith("Endless")
    assert "Endless" in describe([Endless()])


def test_length_of_a_subclass_is_that_of_the_builtin() -> None:
    class Long(list[int]):
        def __len__(self) -> int:
            return 10**9

        def __iter__(self) -> Iterator[int]:
            raise Run

    assert describe(Long([1, 2])).splitlines()[1:] == ["items: 2 int", "all:", "  1", "  2"]


def test_module_names_that_are_no_text_are_left_out() -> None:
    cls = type("Odd", (), {"__module__": 5})
    assert describe(cls()).splitlines()[0] == "Odd"


def busy(_self: Any) -> str:
    while True:
        pass


@pytest.mark.parametrize("wait", [lambda _self: time.sleep(60), busy], ids=["waits", "busy"])
def test_object_that_takes_for_ever_to_show_itself_is_left(wait: Any) -> None:
    value = type("Endless", (), {"__repr__": wait, "given": 1})()
    value.own = 2
    before = signal.getsignal(signal.SIGALRM)
    lines = describe(value, name="v").splitlines()
    assert lines[0].endswith("Endless")
    assert "  own: 2" in lines
    assert lines[-1] == "(the rest took longer than 2 s)"
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_alarm_of_the_user_is_left_alone() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert describe(type("Slow", (), {"__repr__": lambda _self: time.sleep(0.5) or "x"})()).endswith(
            "repr: x"
        )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]


def test_shape_of_a_table_is_not_that_of_a_subclass() -> None:
    def fail(_self: Any) -> Any:
        raise Run

    for base, rows in ((pd.DataFrame, {"a": [1, 2]}), (pd.Series, [1, 2])):
        value = type("Own", (base,), {})(rows)
        type(value).shape = property(fail)
        (row,) = list_variables({"v": value})
        assert row.size in ("2 rows x 1 column", "2 values")
