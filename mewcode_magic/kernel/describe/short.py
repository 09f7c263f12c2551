"""One value in a few words: in a cell, a container, an attribute or a default.

No code of a class that is not known here is run, and never more than the first entries are looked at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from mewcode_magic.kernel.describe.sizes import SIZED, kind
from mewcode_magic.kernel.describe.static import (
    KindTable,
    ancestors,
    attempt,
    class_attributes,
    find,
    is_a,
    stored,
    text_of,
    type_name,
)
from mewcode_magic.kernel.describe.words import count, cut, escape, number, quoted

__all__ = [
    "CHARS",
    "dataclass_fields",
    "entries_of",
    "field_names",
    "label",
    "short",
]

CHARS = 80
DEPTH = 2
"""Containers inside one another that are opened."""
FIRST = 5
"""Entries shown of a container inside a line."""
MOST_BITS = 256
"""Longer integers are told by their length; their digits cost quadratic time."""
MOST_SORTED = 100
"""Sets of up to that many entries are sorted, so that each run shows the same."""


def short(value: Any, *, share_values: bool, depth: int = DEPTH, chars: int = CHARS) -> str:
    """Return `value` in one line of at most `chars` characters; without values, its type and size."""
    text = attempt(lambda: _value(value, depth, chars), "") if share_values else ""
    return cut(escape(text or kind(value)), chars)


def label(name: Any, *, share_values: bool) -> str:
    """Return a column's name: bare if it reads as one word, else quoted; those that are no text shortly.

    Without values only text, integers and tuples of them are taken for names: the others may be data that was
    turned into columns.
    """
    if is_a(name, str):
        text = str.__str__(name)
        return cut(text, CHARS) if text.isidentifier() and text.isprintable() else quoted(text, CHARS)
    if is_a(name, tuple):
        parts = (label(part, share_values=share_values) for part in tuple.__getitem__(name, slice(FIRST)))
        return cut(f"({', '.join(parts)})", CHARS)
    return short(name, share_values=share_values or is_a(name, int), chars=CHARS)


def _value(value: Any, depth: int, chars: int) -> str:
    found = find(value, _VALUES)
    if found is not None:
        show, cls = found
        return show(value, cls, depth, chars)
    names = dataclass_fields(value)
    if names is None:
        return ""
    if not depth:
        return f"{type_name(type(value))}(…)"
    attributes = stored(value)
    parts = [
        f"{name}={short(attributes[name], share_values=True, depth=depth - 1, chars=chars)}"
        for name in names[:FIRST]
        if name in attributes
    ]
    return f"{type_name(type(value))}({_joined(parts, len(names), chars)})"


def _text(value: Any, _cls: Any, _depth: int, chars: int) -> str:
    return quoted(value, chars)


def _binary(value: Any, cls: Any, _depth: int, chars: int) -> str:
    start = bytes(cls.__getitem__(value, slice(chars)))
    return repr(start) + ("…" if cls.__len__(value) > chars else "")


def _integer(value: Any, _cls: Any, _depth: int, _chars: int) -> str:
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= MOST_BITS else f"an integer of {count(bits, 'bit')}"


def _own_repr(value: Any, cls: Any, _depth: int, _chars: int) -> str:
    return str.__str__(cls.__repr__(value))


def _own_str(value: Any, cls: Any, _depth: int, _chars: int) -> str:
    return str.__str__(cls.__str__(value))


def _numpy_scalar(value: Any, cls: Any, depth: int, chars: int) -> str:
    fields = cls.item(value) if cls.dtype.__get__(value).names else None
    # A record may hold objects, whose reprs it would call.
    return str(value) if fields is None else _sequence(fields, tuple, depth, chars)


def _sequence(value: Any, cls: Any, depth: int, chars: int) -> str:
    names = field_names(value)
    opening, closing = ("[", "]") if cls in (list, deque) else ("(", ")")
    if names:
        opening = f"{type_name(type(value))}("
    if not depth:
        return f"{opening}…{closing}"
    length = cls.__len__(value)
    parts = [short(entry, share_values=True, depth=depth - 1, chars=chars) for entry in _first(value, cls)]
    if names:
        parts = [f"{name}={part}" for name, part in zip(names, parts, strict=False)]
    if cls is tuple and length == 1 and not names:
        parts.append("")
    return opening + _joined(parts, length, chars) + closing


def _set(value: Any, cls: Any, depth: int, chars: int) -> str:
    if not depth:
        return "{…}"
    length = cls.__len__(value)
    entries = islice(entries_of(value), MOST_SORTED)
    parts = [short(entry, share_values=True, depth=depth - 1, chars=chars) for entry in entries]
    if length <= MOST_SORTED:
        parts.sort()
    return "{" + _joined(parts[:FIRST], length, chars) + "}" if length else "set()"


def _mapping(value: Any, _cls: Any, depth: int, chars: int) -> str:
    if not depth:
        return "{…}"

    def one(entry: Any) -> str:
        return short(entry, share_values=True, depth=depth - 1, chars=chars)

    parts = [f"{one(key)}: {one(item)}" for key, item in islice(dict.items(value), FIRST)]
    return "{" + _joined(parts, dict.__len__(value), chars) + "}"


def _joined(parts: list[str], length: int, chars: int) -> str:
    """Return the parts with commas, as many as fit, and how many of all entries are not among them."""
    kept: list[str] = []
    room = chars - 16  # for the brackets and the number
    for part in parts:
        room -= len(part) + 2
        if kept and room < 0:
            break
        kept.append(part)
    more = length - len(kept)
    return ", ".join([*kept, f"… {number(more)} more"] if more > 0 else kept)


def _first(value: Any, cls: Any) -> list[Any]:
    return list(islice(cls.__iter__(value), FIRST))


def _a_class(value: type, _cls: Any, _depth: int, _chars: int) -> str:
    return f"class {type_name(value)}"


def _a_function(value: Any, _cls: Any, _depth: int, _chars: int) -> str:
    return f"function {text_of(value.__name__)}"


def _a_module(value: Any, _cls: Any, _depth: int, _chars: int) -> str:
    return f"module {text_of(stored(value).get('__name__'))}"


def _an_enum_member(value: Any, _cls: Any, _depth: int, _chars: int) -> str:
    name = text_of(stored(value).get("_name_"))
    return f"{type_name(type(value))}.{name}" if name else ""


def _an_exception(value: BaseException, _cls: Any, depth: int, chars: int) -> str:
    arguments = BaseException.__dict__["args"].__get__(value)
    parts = [
        short(entry, share_values=True, depth=max(depth - 1, 0), chars=chars) for entry in arguments[:FIRST]
    ]
    return f"{type_name(type(value))}({_joined(parts, len(arguments), chars)})"


def _an_estimator(value: Any, _cls: Any, _depth: int, _chars: int) -> str:
    return f"{type_name(type(value))}(…)"


def _a_polars_series(value: Any, _cls: Any, depth: int, chars: int) -> str:
    if not depth:
        return "[…]"
    length = value.len()
    parts = [
        short(value[place], share_values=True, depth=depth - 1, chars=chars)
        for place in range(min(length, FIRST))
    ]
    return f"[{_joined(parts, length, chars)}]"


Show: TypeAlias = Callable[[Any, Any, int, int], str]

_VALUES: KindTable[Show] = {
    ("builtins", "str"): _text,
    ("builtins", "bytes"): _binary,
    ("builtins", "bytearray"): _binary,
    **{
        ("builtins", name): _own_repr
        for name in ("NoneType", "bool", "ellipsis", "NotImplementedType", "float", "complex", "range")
    },
    ("builtins", "int"): _integer,
    ("builtins", "list"): _sequence,
    ("builtins", "tuple"): _sequence,
    ("collections", "deque"): _sequence,
    ("builtins", "set"): _set,
    ("builtins", "frozenset"): _set,
    ("builtins", "dict"): _mapping,
    ("builtins", "type"): _a_class,
    ("builtins", "function"): _a_function,
    ("builtins", "builtin_function_or_method"): _a_function,
    ("builtins", "method"): _a_function,
    ("builtins", "module"): _a_module,
    ("builtins", "BaseException"): _an_exception,
    ("enum", "IntEnum"): _an_enum_member,
    ("enum", "StrEnum"): _an_enum_member,
    ("enum", "IntFlag"): _an_enum_member,
    ("enum", "Enum"): _an_enum_member,
    ("datetime", "datetime"): _own_str,
    ("datetime", "date"): _own_str,
    ("datetime", "time"): _own_str,
    ("datetime", "timedelta"): _own_str,
    ("decimal", "Decimal"): _own_str,
    ("fractions", "Fraction"): _own_str,
    ("uuid", "UUID"): _own_str,
    ("pathlib", "PurePath"): _own_str,
    ("numpy", "generic"): _numpy_scalar,
    **{("pandas", name): _own_str for name in ("Timestamp", "Timedelta", "Period", "Interval")},
    ("pandas", "NaTType"): _own_repr,
    ("pandas", "NAType"): _own_repr,
    ("sklearn", "BaseEstimator"): _an_estimator,
    ("polars", "Series"): _a_polars_series,
}


def field_names(value: Any) -> tuple[str, ...]:
    """Return the names of a named tuple's fields, or none."""
    for cls in ancestors(type(value)):
        if cls is tuple:
            break
        names = class_attributes(cls).get("_fields")
        if type(names) is tuple and tuple in ancestors(type(value)):
            return tuple(text_of(name) for name in names)
    return ()


def dataclass_fields(value: Any) -> list[str] | None:
    """Return the names of a dataclass's fields that its repr would show; None if it is no dataclass."""
    for cls in ancestors(type(value)):
        fields = class_attributes(cls).get("__dataclass_fields__")
        if type(fields) is dict:
            return [name for name, field in fields.items() if is_a(name, str) and stored(field).get("repr")]
    return None


def entries_of(value: Any) -> Iterator[Any]:
    """Yield the entries of a builtin container or of a subclass of one, as the builtin class would.

    Of a mapping, pairs.
    """
    for cls in SIZED:
        if is_a(value, cls):
            entries: Iterable[Any] = dict.items(value) if cls is dict else cls.__iter__(value)
            return iter(entries)
    return iter(())
