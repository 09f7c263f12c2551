"""Which variables are the user's own, and what each is."""

from __future__ import annotations

import types
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from mewcode_magic.kernel.describe.sizes import size_of
from mewcode_magic.kernel.describe.static import is_a, text_of, type_name

__all__ = ["Variable", "is_shell_name", "list_variables", "user_names"]

_SHELL_NAMES = {"In", "Out", "exit", "quit", "get_ipython", "open"}
"""What IPython puts into every namespace."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One row of a list of variables."""

    name: str
    type: str
    size: str
    """The size or shape, empty where it is not known at once."""


def is_shell_name(name: str) -> bool:
    """Whether a name without underscores is one that IPython puts into every namespace."""
    return name in _SHELL_NAMES


def list_variables(
    namespace: Mapping[str, Any], *, hidden: Container[str] = (), imported: bool = False
) -> list[Variable]:
    """Return the user's variables by name; `hidden` are those that the shell itself brought.

    With `imported`, also modules, and functions and classes that come from one.
    """
    names = user_names(namespace, hidden=hidden, imported=imported)
    values = ((name, namespace[name]) for name in names)
    return [Variable(name, _type_of(value), size_of(value)) for name, value in values]


def user_names(
    namespace: Mapping[str, Any], *, hidden: Container[str] = (), imported: bool = False
) -> list[str]:
    """Return the names of the user's variables, sorted without regard to case."""
    main = namespace.get("__name__", "__main__")
    names = [
        name
        for name, value in list(namespace.items())  # at once: a thread may add one meanwhile
        if is_a(name, str)
        and not name.startswith("_")
        and not is_shell_name(name)
        and name not in hidden
        and (imported or not _is_imported(value, main))
    ]
    return sorted(names, key=lambda name: (name.casefold(), name))


def _type_of(value: Any) -> str:
    return "class" if is_a(value, type) else type_name(type(value))


def _is_imported(value: Any, main: str) -> bool:
    """Whether a value is a module, or a function or class that another module than the notebook defines."""
    if is_a(value, types.ModuleType, types.BuiltinFunctionType):
        return True
    if type(value) is types.FunctionType:
        return text_of(value.__module__) not in ("", main)
    if is_a(value, type):
        module = type.__dict__["__module__"].__get__(value)
        return text_of(module) not in ("", main)
    return False
