"""Estimators of scikit-learn and what derives from it: parameters, fitted or not, what was learned."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from mewcode_magic.kernel.describe.short import short
from mewcode_magic.kernel.describe.sizes import kind
from mewcode_magic.kernel.describe.static import ancestors, class_attributes, find, is_a, stored
from mewcode_magic.kernel.describe.words import number

__all__ = ["estimator", "is_fitted"]

MOST_PARAMETERS = 40
MOST_LEARNED = 20
PARAMETER_CHARS = 120


def estimator(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield parameters (without values, their names), and the names and shapes of what was learned."""
    attributes = stored(value)
    yield "fitted" if is_fitted(value) else "not fitted"
    names = [name for name in _parameter_names(type(value)) if name in attributes]
    if share_values and names:
        yield "parameters:"
        for name in names[:MOST_PARAMETERS]:
            yield f"  {name}={short(attributes[name], share_values=True, chars=PARAMETER_CHARS)}"
        if len(names) > MOST_PARAMETERS:
            yield f"  and {number(len(names) - MOST_PARAMETERS)} more"
    elif names:
        yield f"parameters: {', '.join(names[:MOST_PARAMETERS])}"
    learned = [name for name in attributes if _is_learned(name)]
    if learned:
        yield "learned:"
    for name in learned[:MOST_LEARNED]:
        yield f"  {name}: {kind(attributes[name])}"


def is_fitted(value: Any) -> bool:
    """Whether an estimator stores what fitting leaves, by scikit-learn's rule; a pipeline's last step."""
    attributes = stored(value)
    steps = attributes.get("steps")
    if type(steps) is list and steps and type(steps[-1]) is tuple:
        last = steps[-1][-1]
        return find(last, {("sklearn", "BaseEstimator"): True}) is not None and is_fitted(last)
    return any(_is_learned(name) for name in attributes)


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _parameter_names(cls: type) -> list[str]:
    """Return the parameters of the constructor, which an estimator stores under their names."""
    for ancestor in ancestors(cls):
        initializer: Any = class_attributes(ancestor).get("__init__")
        if is_a(initializer, types.FunctionType):
            code = initializer.__code__
            return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])
    return []
