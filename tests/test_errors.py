"""The tree of errors, and how a notebook shows one."""

import inspect
import re

import pytest

from mewcode_magic import errors
from mewcode_magic.errors import MewCodeError, StorageError, one_line

CLASSES = {name: value for name, value in vars(errors).items() if inspect.isclass(value)}


def test_all_names_every_error_and_nothing_else() -> None:
    assert set(errors.__all__) == {*CLASSES, "one_line"}


def test_drawn_tree_is_the_tree() -> None:
    parents: dict[int, str] = {}
    drawn = {}
    for stem, name in re.findall(r"^    ([│├└─ ]*)(\w+)", errors.__doc__ or "", re.MULTILINE):
        depth = len(stem) // 4
        parents[depth] = name
        drawn[name] = parents.get(depth - 1, "Exception")
    assert drawn == {name: kind.__mro__[1].__name__ for name, kind in CLASSES.items()}


def test_notebook_shows_one_line_in_place_of_a_traceback() -> None:
    error = StorageError("cannot write\n\x1b[31mSecond line: a\u2028b\ud800")
    (shown,) = error._render_traceback_()
    assert shown == "StorageError: cannot write \ufffd[31mSecond line: a b\ufffd"
    assert isinstance(error, MewCodeError)


@pytest.mark.parametrize("length", [600, 601, 100_000])
def test_message_of_any_length_is_cut(length: int) -> None:
    assert len(one_line("x" * length)) == 600
