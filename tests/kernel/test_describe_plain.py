"""Functions, containers, files, iterators and objects of any class."""

import asyncio
import collections
import datetime as dt
import enum
import functools
import io
import math
import types
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional, Union

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mewcode_magic.kernel.describe import describe

HERE = Path(__file__)


class Color(enum.Enum):
    """Two of them."""

    RED = 1
    BLUE = 2


@dataclass
class Point:
    """A place."""

    x: int
    y: list[int] = field(default_factory=list)
    password: str = field(default="hidden", repr=False)


class Pair(NamedTuple):
    """Two."""

    left: int
    right: str


def scale(
    a: int,
    /,
    b: "int | None",
    *args: str,
    c: list[int] = [1, 2],  # noqa: B006 - what it holds is to be shown
    d: Literal["x"] = "x",
    **kw: Any,
) -> dict[str, Point]:
    """Scale it.

    By much.
    """
    raise NotImplementedError


def numbers() -> Iterator[int]:
    yield 1
    yield 2


# --- code


def test_function_is_told_by_signature_place_and_docstring() -> None:
    line = scale.__code__.co_firstlineno
    assert describe(scale, name="f").splitlines() == [
        "f: function",
        "signature: scale(a: int, /, b: int | None, *args: str, c: list[int] = [1, 2], d: Literal[…] = 'x', "
        f"**kw: typing.Any) -> dict[str, {Point.__module__}.Point]".replace(
            f"{Point.__module__}.", describe_module()
        ),
        f"defined: {HERE}:{line}",
        "docstring:",
        "  Scale it.",
        "  By much.",
    ]


def describe_module() -> str:
    """Return how a class of this module is written."""
    return describe(Point).removeprefix("class ").split("Point")[0]


@pytest.mark.parametrize(
    ("annotation", "written"),
    [
        (Optional[int], "int | None"),  # noqa: UP045 - as older code has it
        (Union[int, str], "int | str"),  # noqa: UP007
        (list[dict[str, int]], "list[dict[str, int]]"),
        (Callable[[int], str], "collections.abc.Callable[int, str]"),
        (None, "None"),
        (5, "…"),
    ],
)
def test_annotations_are_written_as_code(annotation: Any, written: str) -> None:
    def one(a):
        return a

    one.__annotations__ = {"a": annotation}
    assert f"signature: one(a: {written})" in describe(one)


def test_function_of_a_cell_is_told_so() -> None:
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.run_cell("x = 1\ndef f(a, b=2): pass", store_history=True)
    text = describe(shell.user_ns["f"])
    assert "signature: f(a, b=2)\ndefined: in a cell, line 2" in text


def test_decorated_function_has_the_signature_of_the_wrapped_one() -> None:
    @functools.wraps(scale)
    def wrapper(*args: Any) -> None:
        """Only wrap."""

    for decorated in (wrapper, functools.lru_cache(scale)):
        text = describe(decorated)
        assert "signature: scale(a: int, /" in text
        assert "wrapped by a decorator" in text
        assert "Scale it." in text


def test_callables_of_other_kinds_are_told() -> None:
    assert "function: scale\narguments given: 1, b=2" in describe(functools.partial(scale, 1, b=2))
    assert "signature: len($module, obj, /)" in describe(len)
    assert "bound to: " in describe(Point(1).__eq__)


def test_class_is_told_by_signature_and_names() -> None:
    class Base:
        """The base."""

    class Derived(Base):
        """More of it."""

        limit = 5

        def __init__(self, size: int = 3) -> None:
            self.size = size

        def go(self) -> None:
            """Go."""

        @property
        def costly(self) -> None:
            raise AssertionError

    text = describe(Derived)
    assert "signature: Derived(size: int = 3)" in text
    assert "docstring:\n  More of it.\nmethods: go, costly\nattributes: limit" in text
    assert "5" not in text.replace(str(HERE), "").split("docstring")[1]
    assert "members: RED, BLUE" in describe(Color)
    assert "fields: x, y, password" in describe(Point)
    assert "hidden" not in describe(Point, share_values=False)


def test_module_is_told_by_file_and_docstring() -> None:
    import json

    assert describe(json).splitlines()[1:3] == ["module json, version 2.0.9", f"file: {json.__file__}"]
    assert "JSON" in describe(json)


# --- nothing is taken


def test_generator_is_not_advanced() -> None:
    generator = numbers()
    assert "made by: numbers" in describe(generator)
    assert "state: not started" in describe(generator)
    assert next(generator) == 1
    assert "state: suspended" in describe(generator)
    assert next(generator) == 2
    assert list(generator) == []
    assert "state: finished" in describe(generator)


def test_coroutines_are_not_run() -> None:
    async def answer() -> int:
        return 1

    async def many() -> AsyncIterator[int]:
        yield 1

    waiting = answer()
    assert "made by: " in describe(waiting)
    assert asyncio.run(waiting) == 1
    assert "nothing was taken from it" in describe(many())


@pytest.mark.parametrize("make", [iter, enumerate, reversed, lambda items: map(str, items), zip])
def test_iterator_is_not_consumed(make: Any) -> None:
    iterator = make([1, 2, 3])
    assert "an iterator; nothing was taken from it" in describe(iterator)
    assert len(list(iterator)) == 3


def test_open_file_is_neither_read_nor_moved(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    with path.open(encoding="utf-8") as file:
        file.readline()
        text = describe(file)
        assert file.readline() == "two\n"
    assert text.splitlines() == [
        "io.TextIOWrapper",
        "open",
        "mode: 'r'",
        "encoding: 'utf-8'",
        f"name: '{path}'",
    ]
    assert "closed" in describe(file)
    assert describe(io.StringIO("text")) == "io.StringIO\nopen"


# --- values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None"),
        (True, "True"),
        (3, "3"),
        pytest.param(10**5_000, "an integer of 16,610 bits", id="huge"),
        (math.inf, "inf"),
        (1 + 2j, "(1+2j)"),
        (b"a\x00", "b'a\\x00'"),
        (range(5), "range(0, 5)"),
        (dt.date(2024, 2, 29), "2024-02-29"),
        (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "2024-01-01 00:00:00+00:00"),
        (dt.timedelta(hours=1), "1:00:00"),
        (Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("/data/a\nb.csv"), "/data/a\\nb.csv"),
        (Color.RED, "Color.RED"),
        (ValueError("no", [1]), "ValueError('no', [1])"),
    ],
)
def test_single_value_is_shown(value: Any, shown: str) -> None:
    assert describe(value).splitlines()[-1].endswith(f"{shown}")
    assert describe(value).splitlines()[-1].startswith("value: ")


def test_long_string_is_cut() -> None:
    assert describe("ab" * 5_000).splitlines() == [
        "str of 10,000 characters",
        "the first 1,000 characters:",
        f"'{'ab' * 500}'…",
    ]


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ([1, "a"], ["items: 1 int, 1 str", "all:", "  1", "  'a'"]),
        ([], ["empty"]),
        ({"a": 1, 2: {"b": {"c": {}}}}, ["keys: 1 str, 1 int", "values: 1 int, 1 dict", "all:"]),
        ({"b", "a"}, ["items: 2 str", "all:", "  'a'", "  'b'"]),
        (collections.deque([1]), ["items: 1 int", "all:", "  1"]),
        (collections.Counter("aab"), ["keys: 2 str", "values: 2 int", "all:", "  'a': 2", "  'b': 1"]),
        (Pair(1, "x"), ["attributes:", "  left: 1", "  right: 'x'"]),
    ],
)
def test_container_is_told_by_types_and_first_entries(value: Any, lines: list[str]) -> None:
    assert describe(value).splitlines()[1:][: len(lines)] == lines


def test_large_container_is_looked_at_in_part() -> None:
    lines = describe([*range(2_000), "last"]).splitlines()
    assert lines[:3] == ["list of 2,001 items", "items: 1,000 int (of the first 1,000)", "first 10:"]
    assert len(lines) == 13


def test_container_that_holds_itself_ends() -> None:
    items: list[Any] = [1]
    items.append(items)
    mapping: dict[str, Any] = {}
    mapping["self"] = mapping
    node = types.SimpleNamespace()
    node.node = node
    assert describe(items).splitlines()[-1] == "  [1, [1, […]]]"
    assert describe(mapping).splitlines()[-1] == "  'self': {'self': {'self': {…}}}"
    assert "node: types.SimpleNamespace" in describe(node)


def test_deep_container_ends() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert describe(deep).splitlines()[-1] == "  [[[…]]]"
    while deep:  # taken apart here, for its own end would be as deep
        deep = deep[0]


def test_dataclass_is_told_by_the_fields_of_its_repr() -> None:
    assert describe(Point(1, [2])).splitlines()[1:4] == ["a dataclass", "attributes:", "  x: 1"]
    assert "hidden" not in describe(Point(1))
    assert describe([Point(1, [2])]).splitlines()[-1].endswith("Point(x=1, y=[2])")


def test_object_is_told_by_attributes_methods_and_repr() -> None:
    class Account:
        """An account."""

        __slots__ = ("_secret", "owner")

        def __init__(self) -> None:
            self.owner = "Ann"
            self._secret = 1

        def __repr__(self) -> str:
            return f"<Account at 0x7f00 of {self.owner}>"

        def close(self) -> None:
            """Close it."""

    assert describe(Account()).splitlines()[1:] == [
        "attributes:",
        "  owner: 'Ann'",
        "private attributes: 1",
        "methods: close",
        "repr: <Account of Ann>",
        "docstring:",
        "  An account.",
    ]


def test_controls_and_surrogates_are_escaped_everywhere() -> None:
    bad = "\x1b[2J\n\r\x00\u2028\u202e\ud800\x9b"
    values: list[Any] = [
        bad,
        [bad],
        {bad: bad},
        ValueError(bad),
        Path(bad.replace("\0", "")),
        types.SimpleNamespace(**{bad: bad}),
        type("a\x1b\nb", (), {"__doc__": bad.replace("\ud800", "")}),
    ]
    for value in values:
        text = describe(value, name=bad)
        assert all(character.isprintable() for line in text.split("\n") for character in line)
        text.encode()


def test_tags_stay_for_the_caller_to_escape() -> None:
    assert "</system-reminder>" in describe(["</system-reminder>"])


def test_description_is_the_same_each_time() -> None:
    value = {f"key {n}": {f"item {m}" for m in range(3)} for n in range(5)}
    assert describe(value) == describe(dict(value))
    assert " at 0x" not in describe([object(), types.SimpleNamespace(a=object()), scale, numbers()])


@pytest.mark.parametrize("limit", [1, 10, 50, 200, 1_000])
def test_limit_holds(limit: int) -> None:
    value = {f"key {n}": "x" * 500 for n in range(50)}
    text = describe(value, name="v", limit=limit)
    assert 0 < len(text) <= limit
    assert text.endswith(("…", "\n(cut here)"))


def test_cut_description_says_so() -> None:
    text = describe([["x" * 100] * 5] * 20, limit=300)
    assert text.endswith("\n(cut here)")
    assert len(text) <= 300
