"""Functions, classes, modules and generators: signature, docstring and where they are defined.

Read from the code objects: `inspect.signature` follows attributes of any object and shows defaults by
their repr.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any, Literal, Union

from mewcode_magic.kernel.describe.short import short
from mewcode_magic.kernel.describe.static import (
    ancestors,
    attempt,
    class_attributes,
    is_a,
    name_of,
    package_of,
    stored,
    text_of,
    type_name,
)
from mewcode_magic.kernel.describe.words import count, cut, number

__all__ = [
    "a_class",
    "a_generator",
    "a_module",
    "builtin",
    "class_doc",
    "doc_lines",
    "function",
    "method",
    "partial",
]

DOC_LINES = 12
DOC_CHARS = 1_000
SIGNATURE_CHARS = 1_000
DEFAULT_CHARS = 40
MOST_NAMES = 30
DEEPEST = 3
"""Levels of nesting shown of an annotation."""
MOST_WRAPPED = 10
"""Decorators followed to the function that they wrap."""

_VARARGS, _VARKEYWORDS = 4, 8  # flags of a code object


def function(value: Any, *, share_values: bool, bound: bool = False) -> Iterator[str]:
    """Yield signature, place and docstring of a function; of a wrapped one, those of what it wraps.

    Of a method that is `bound`, without the first parameter.
    """
    inner = value
    for _ in range(MOST_WRAPPED):
        wrapped = stored(inner).get("__wrapped__")
        if not is_a(wrapped, types.FunctionType):
            break
        inner = wrapped
    yield f"signature: {_signature(inner, share_values=share_values, skip=int(bound))}"
    yield from _place(inner.__code__)
    if inner is not value:
        yield "wrapped by a decorator"
    yield from doc_lines(value.__doc__)


def method(value: types.MethodType, *, share_values: bool) -> Iterator[str]:
    """Yield what a bound method is bound to, and its function."""
    yield f"bound to: {type_name(type(value.__self__))}"
    if is_a(value.__func__, types.FunctionType):
        yield from function(value.__func__, share_values=share_values, bound=True)


def builtin(value: Any, *, share_values: bool) -> Iterator[str]:  # noqa: ARG001 - its text is code
    """Yield signature and docstring of a function written in C."""
    signature = text_of(attempt(lambda: value.__text_signature__, ""))
    if signature:
        yield f"signature: {text_of(value.__name__)}{cut(signature, SIGNATURE_CHARS)}"
    yield from doc_lines(attempt(lambda: value.__doc__, None))


def partial(value: Any, *, share_values: bool) -> Iterator[str]:
    """Yield the function of a `functools.partial` and the arguments that it has."""
    inner = value.func
    yield f"function: {text_of(stored_name(inner))}"
    arguments = [short(item, share_values=share_values, chars=DEFAULT_CHARS) for item in value.args]
    arguments += [
        f"{text_of(name)}={short(item, share_values=share_values, chars=DEFAULT_CHARS)}"
        for name, item in value.keywords.items()
    ]
    yield f"arguments given: {', '.join(arguments[:MOST_NAMES]) or 'none'}"
    if is_a(inner, types.FunctionType):
        yield from function(inner, share_values=share_values)


def stored_name(value: Any) -> str:
    """Return the name of a function or class, or the type of any other callable."""
    if is_a(value, type):
        return type_name(value)
    if is_a(value, types.FunctionType, types.BuiltinFunctionType):
        return text_of(value.__name__)
    return type_name(type(value))


def a_class(value: type, *, share_values: bool) -> Iterator[str]:
    """Yield bases, signature, docstring, fields and methods of a class; never the value of an attribute."""
    bases = [type_name(cls) for cls in ancestors(value)[1:] if cls is not object]
    if bases:
        yield f"derives from: {_names(bases)}"
    own = class_attributes(value)
    initializer: Any = own.get("__init__")
    if is_a(initializer, types.FunctionType):
        yield f"signature: {name_of(value)}{_parameters(initializer, share_values=share_values, skip=1)}"
        yield from _place(initializer.__code__)
    yield from class_doc(value)
    members = own.get("_member_names_")
    if type(members) is list:
        yield f"members: {_names([text_of(name) for name in members])}"
    fields = own.get("__dataclass_fields__")
    if type(fields) is dict:
        yield f"fields: {_names([text_of(name) for name in fields])}"
    methods: list[str] = []
    others: list[str] = []
    for name, item in own.items():
        if not name.startswith("_"):
            is_method = is_a(item, types.FunctionType, classmethod, staticmethod, property)
            (methods if is_method else others).append(name)
    if methods:
        yield f"methods: {_names(methods)}"
    if others and type(members) is not list:
        yield f"attributes: {_names(others)}"


def a_module(value: types.ModuleType, *, share_values: bool) -> Iterator[str]:  # noqa: ARG001 - its text is code
    """Yield version, file and docstring of a module, and how many public names it has."""
    attributes = stored(value)
    name, version, file = (text_of(attributes.get(f"__{key}__")) for key in ("name", "version", "file"))
    yield f"module {name}{f', version {version}' if version else ''}"
    if file:
        yield f"file: {file}"
    yield count(sum(not key.startswith("_") for key in attributes), "public name")
    yield from doc_lines(attributes.get("__doc__"))


def a_generator(value: Any, *, share_values: bool) -> Iterator[str]:  # noqa: ARG001 - nothing is taken from it
    """Yield which function made a generator or coroutine, and how far it is; it is not run."""
    prefix = {"generator": "gi", "coroutine": "cr", "async_generator": "ag"}[type(value).__name__]
    code, frame = getattr(value, f"{prefix}_code"), getattr(value, f"{prefix}_frame")
    yield f"made by: {code.co_qualname}"
    yield from _place(code)
    if frame is None:
        yield "state: finished"
    elif getattr(value, f"{prefix}_running"):
        yield "state: running"
    else:
        suspended = getattr(value, f"{prefix}_suspended", None)  # Python 3.11 lacks that of async generators
        yield {True: "state: suspended", False: "state: not started", None: "state: not finished"}[suspended]
    yield "nothing was taken from it"


def class_doc(cls: type) -> Iterator[str]:
    """Yield the docstring of a class; not that which a dataclass writes itself, with its defaults."""
    own = class_attributes(cls)
    doc = text_of(own.get("__doc__"))
    if "__dataclass_fields__" not in own or not doc.startswith(f"{name_of(cls)}("):
        yield from doc_lines(doc)


def doc_lines(doc: Any) -> Iterator[str]:
    """Yield the first lines of a docstring, or nothing."""
    text = text_of(doc)[:DOC_CHARS].strip()
    if not text:
        return
    yield "docstring:"
    lines = inspect.cleandoc(text).splitlines()
    yield from (f"  {line}" for line in lines[:DOC_LINES] if line)
    if len(lines) > DOC_LINES:
        yield "  …"


def _signature(inner: Any, *, share_values: bool, skip: int) -> str:
    text = f"{inner.__name__}{_parameters(inner, share_values=share_values, skip=skip)}"
    returned = inner.__annotations__.get("return", text)  # not the text, where there is none
    return cut(text if returned is text else f"{text} -> {_annotation(returned)}", SIGNATURE_CHARS)


def _parameters(inner: Any, *, share_values: bool, skip: int = 0) -> str:
    code, annotations = inner.__code__, inner.__annotations__
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    names = list(code.co_varnames)
    defaults = inner.__defaults__ or ()
    with_default = dict(zip(names[positional - len(defaults) : positional], defaults, strict=False))
    with_default |= inner.__kwdefaults__ or {}

    def one(name: str) -> str:
        text = f"{name}: {_annotation(annotations[name])}" if name in annotations else name
        if name not in with_default:
            return text
        default = (
            short(with_default[name], share_values=True, depth=1, chars=DEFAULT_CHARS)
            if share_values
            else "…"
        )
        return f"{text} = {default}" if name in annotations else f"{text}={default}"

    parts = [one(name) for name in names[:positional]]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    behind = positional + keywords
    if code.co_flags & _VARARGS:
        parts.append(f"*{one(names[behind])}")
        behind += 1
    elif keywords:
        parts.append("*")
    parts += [one(name) for name in names[positional : positional + keywords]]
    if code.co_flags & _VARKEYWORDS:
        parts.append(f"**{one(names[behind])}")
    return f"({', '.join(parts[skip:])})"


def _annotation(annotation: Any, depth: int = DEEPEST) -> str:
    """Return an annotation as it is written; what is no type in it (a `Literal`, metadata) is left out."""
    if annotation is None:
        return "None"
    if is_a(annotation, str):
        return cut(annotation, DEFAULT_CHARS)
    if is_a(annotation, type) and type(annotation) is not types.GenericAlias:
        return "None" if annotation is type(None) else type_name(annotation)
    if depth and package_of(type(annotation)) in ("types", "typing", "collections"):
        origin = getattr(annotation, "__origin__", None)
        arguments = getattr(annotation, "__args__", ())
        if type(annotation) is types.UnionType or origin is Union:
            return " | ".join(_annotation(part, depth - 1) for part in arguments)
        if origin is Literal:
            return "Literal[…]"
        name = text_of(stored(annotation).get("_name")) or (_annotation(origin, depth - 1) if origin else "")
        if arguments:
            return f"{name}[{', '.join(_annotation(part, depth - 1) for part in arguments)}]"
        if name:
            return name
    return "…"


def _place(code: types.CodeType) -> Iterator[str]:
    """Yield where code stands: a file and a line, or that a cell defines it; nothing for generated code."""
    file = code.co_filename
    if "ipykernel_" in file or file.startswith("<ipython-input"):
        yield f"defined: in a cell, line {code.co_firstlineno}"
    elif not file.startswith("<"):
        yield f"defined: {file}:{code.co_firstlineno}"


def _names(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join([*names[:MOST_NAMES], f"and {number(more)} more"] if more > 0 else names)
