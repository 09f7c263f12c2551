"""Looking at an object without running its code: its type, its ancestors, and what it stores.

`isinstance`, `getattr`, `len` and `repr` may all run methods of the object's class, which may be broken, slow
or endless. The type's own slots may not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import GetSetDescriptorType, MappingProxyType, MemberDescriptorType
from typing import Any, TypeAlias, TypeVar

from mewcode_magic.kernel.describe.ending import TooLong

__all__ = [
    "KindTable",
    "ancestors",
    "attempt",
    "class_attributes",
    "find",
    "is_a",
    "is_just",
    "name_of",
    "package_of",
    "stored",
    "text_of",
    "type_name",
]

T = TypeVar("T")

KindTable: TypeAlias = Mapping[tuple[str, str], T]
"""What is known for a class, by the package at the top of its module's name and its own name.

So a class of a library is recognised without importing the library.
"""

_ancestors = type.__dict__["__mro__"].__get__
_module = type.__dict__["__module__"].__get__
_name = type.__dict__["__name__"].__get__
_attributes = type.__dict__["__dict__"].__get__


def attempt(read: Callable[[], T], default: T) -> T:
    """Return what `read` returns, or `default` if it raises anything but an end by user or time.

    A broken `__repr__` may raise SystemExit, and a deep one RecursionError or MemoryError.
    """
    try:
        return read()
    except (KeyboardInterrupt, TooLong):
        raise
    except BaseException:  # noqa: BLE001 - foreign code raises what it likes
        return default


def is_a(value: Any, *classes: type) -> bool:
    """Whether the type of `value` is one of `classes` or derives from one; its `__class__` is not asked."""
    return issubclass(type(value), classes)


def is_just(value: Any, *classes: type) -> bool:
    """Whether the type of `value` is one of `classes` itself; a metaclass may define its own equality."""
    return any(type(value) is cls for cls in classes)


def ancestors(cls: type) -> tuple[type, ...]:
    """Return a class and all that it derives from, in the order in which attributes are looked up."""
    mro: tuple[type, ...] = _ancestors(cls)
    return mro


def class_attributes(cls: type) -> MappingProxyType[str, Any]:
    """Return what a class itself defines."""
    attributes: MappingProxyType[str, Any] = _attributes(cls)
    return attributes


def name_of(cls: type) -> str:
    """Return the name of a class."""
    return text_of(_name(cls))


def text_of(value: Any) -> str:
    """Return `value` if it is a string, else an empty one."""
    return str.__str__(value) if is_a(value, str) else ""


def _module_of(cls: type) -> str:
    return text_of(attempt(lambda: _module(cls), ""))


def package_of(cls: type) -> str:
    """Return the package at the top of the module that defines a class, or an empty string."""
    return _module_of(cls).partition(".")[0]


def type_name(cls: type) -> str:
    """Return a class's name as one would write it: with its module, the package where that exports it.

    Builtin classes and those of the notebook itself have no module.
    """
    module, name = _module_of(cls), name_of(cls)
    package = module.partition(".")[0]
    if package in ("", "builtins", "__main__"):
        return name
    if attempt(lambda: sys.modules[package].__dict__.get(name), None) is cls:
        return f"{package.lstrip('_')}.{name}"
    first, *rest = module.split(".")
    public = [first.lstrip("_")]
    for part in rest:
        if part.startswith("_"):
            break
        public.append(part)
    return ".".join([*public, name])


def find(value: Any, table: KindTable[T]) -> tuple[T, type] | None:
    """Return what `table` knows of the nearest ancestor of the type of `value`, and that ancestor."""
    for cls in ancestors(type(value)):
        known = table.get((package_of(cls), name_of(cls)))
        if known is not None:
            return known, cls
    return None


def stored(value: Any) -> dict[str, Any]:
    """Return the attributes that `value` itself stores, in `__dict__` and slots; no property is run."""
    attributes: dict[str, Any] = {}
    for cls in ancestors(type(value)):
        for name, descriptor in class_attributes(cls).items():
            if name == "__dict__" and type(descriptor) in (GetSetDescriptorType, MemberDescriptorType):
                own = attempt(lambda d=descriptor: d.__get__(value), None)  # type: ignore[misc]
                if is_a(own, dict):
                    attributes |= {str.__str__(key): item for key, item in dict.items(own) if is_a(key, str)}
            elif type(descriptor) is MemberDescriptorType and not name.startswith("__"):
                missing = object()  # a slot that was never filled
                slot = attempt(lambda d=descriptor: d.__get__(value), missing)  # type: ignore[misc]
                if slot is not missing:
                    attributes.setdefault(name, slot)
    return attributes
