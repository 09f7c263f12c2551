"""Which variables are the user's."""

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell
from stand_ins import Tensor
from traitlets.config import Config

from mewcode_magic.kernel.variables import Variable, list_variables, user_names

CELL = """
import json
from json import dumps, JSONDecoder
Beta = 1
alpha = [1, 2]
_private = 3
def double(x): return 2 * x
class Account: pass
account = Account()
"""


@pytest.fixture
def shell() -> InteractiveShell:
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.run_cell(CELL, store_history=True)
    shell.run_cell("1 + 1", store_history=True)
    return shell


def test_users_own_variables_are_listed_by_name(shell: InteractiveShell) -> None:
    assert list_variables(shell.user_ns, hidden=set(shell.user_ns_hidden)) == [
        Variable("Account", "class", ""),
        Variable("account", "Account", ""),
        Variable("alpha", "list", "2 items"),
        Variable("Beta", "int", ""),
        Variable("double", "function", ""),
    ]


def test_names_of_the_shell_are_left_out_although_it_does_not_say_them(shell: InteractiveShell) -> None:
    assert user_names(shell.user_ns) == ["Account", "account", "alpha", "Beta", "double"]


def test_imported_names_are_listed_where_they_are_asked_for(shell: InteractiveShell) -> None:
    names = user_names(shell.user_ns, imported=True)
    assert set(names) - set(user_names(shell.user_ns)) == {"json", "dumps", "JSONDecoder"}


@pytest.mark.parametrize(
    ("value", "type_name", "size"),
    [
        (pd.DataFrame({"a": [1, 2]}), "pandas.DataFrame", "2 rows x 1 column"),
        (pd.Series([1]), "pandas.Series", "1 value"),
        (pl.DataFrame({"a": [1]}), "polars.DataFrame", "1 row x 1 column"),
        (pl.LazyFrame({"a": [1]}), "polars.LazyFrame", ""),
        (np.zeros((2, 3)), "numpy.ndarray", "(2, 3) float64"),
        (Tensor(np.zeros(3)), "torch.Tensor", "(3,) torch.float64"),
        ("text", "str", "4 characters"),
        ({}, "dict", "0 items"),
        (range(5), "range", "5 items"),
        (iter([1]), "list_iterator", ""),
        (json.JSONDecoder(), "json.JSONDecoder", ""),
        (None, "NoneType", ""),
    ],
)
def test_type_and_size_are_told(value: Any, type_name: str, size: str) -> None:
    assert list_variables({"v": value}) == [Variable("v", type_name, size)]


def test_names_that_are_no_text_are_left_out() -> None:
    assert user_names({1: 1, ("a",): 2, "a": 3}) == ["a"]  # type: ignore[dict-item]
