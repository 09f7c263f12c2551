"""Which names of a namespace some code bound, changed or deleted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from mewcode_magic.kernel.variables import is_shell_name

__all__ = ["changed_names"]

_OWN_SCOPE = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def changed_names(
    before: Mapping[str, Any], after: Mapping[str, Any], code: str
) -> tuple[list[str], list[str]]:
    """Return the names that were bound or changed, and those that were deleted.

    Changed is what holds another object, and what the code assigns to, as a whole or in part:
    `df["total"] = 1`. What a method changes in its object is not seen. Names that begin with `_`, and
    IPython's own, are left out.
    """
    assigned = set(_assigned(code))
    absent = object()
    bound = [
        name
        for name, value in list(after.items())
        if _is_the_users(name) and (before.get(name, absent) is not value or name in assigned)
    ]
    return bound, [name for name in before if _is_the_users(name) and name not in after]


def _is_the_users(name: object) -> bool:
    return type(name) is str and not name.startswith("_") and not is_shell_name(name)


def _assigned(code: str) -> Iterator[str]:
    """Yield the names that code assigns to outside functions and classes."""
    try:
        waiting: list[ast.AST] = [ast.parse(code)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            root: ast.AST = node
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name):
                yield root.id
        if not isinstance(node, _OWN_SCOPE):
            waiting.extend(ast.iter_child_nodes(node))
