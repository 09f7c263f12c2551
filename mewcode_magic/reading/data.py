"""What may be said of a file while `share_values` is off: of code and prose all, of data its shape.

What a file is, its name says. Only what is known to be code, configuration or prose counts as such; all else
may hold the user's data.
"""

from __future__ import annotations

import re
import time
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mewcode_magic.files import shown
from mewcode_magic.reading.images import image_type, pixels
from mewcode_magic.reading.opening import SNIFFED, is_binary

__all__ = ["may_hold_data", "shape"]

JSON_BYTES = 100_000_000
"""Bytes of a JSON file that is parsed to see its shape."""
COUNTING_SECONDS = 2.0
"""After which counting a file's lines ends."""
MOST_COLUMNS = 200
"""Columns of a table that are named."""

_CODE = re.compile(
    r"\.(adoc|bash|bat|bib|c|cc|cfg|cmake|cpp|cs|css|cu|cxx|dockerfile|f|f90|fish|gitattributes"
    r"|gitignore|go|gradle|h|hpp|hs|ini|java|jl|js|jsx|kt|less|lock|lua|m|make|md|mdx|mk|mojo|php|pl"
    r"|proto|ps1|py|pyi|pyx|qmd|r|rb|rmd|rs|rst|sass|scala|scss|sh|sql|svelte|swift|tex|toml|ts|tsx"
    r"|vue|yaml|yml|zsh)",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"(dockerfile|makefile|license|licence|readme|changelog|authors|contributing|codeowners|notice"
    r"|procfile|justfile|jenkinsfile|snakefile|pipfile)(\.txt)?|(requirements|constraints)[\w.-]*\.txt"
    r"|cmakelists\.txt|\.(gitignore|gitattributes|editorconfig|flake8|dockerignore|pylintrc)",
    re.IGNORECASE,
)
_DIMENSION = re.compile(rb'<dimension[^>]*\bref="([A-Z]+\d+(?::[A-Z]+\d+)?)"')


def may_hold_data(path: Path) -> bool:
    """Whether a file may hold the user's data, as its name says."""
    return not _CODE.fullmatch(path.suffix) and not _NAMES.fullmatch(path.name)


def shape(file: BinaryIO, path: Path) -> str:
    """Return what a data file is and how large, without a value of it.

    Names of columns are told where the format keeps them apart from values.

    Raises:
        OSError: it cannot be read.
    """
    head = file.read(SNIFFED)
    file.seek(0)
    size = f"{file.seek(0, 2):,} bytes"
    file.seek(0)
    what = _what(file, head, path.suffix.lower())
    return (
        f"{shown(path)}: {', '.join([*what, size])}. Its values are not shown, because MewCode.share_values "
        "is off; read it in code that the user runs."
    )


def _what(file: BinaryIO, head: bytes, suffix: str) -> list[str]:
    """Return a file's kind and shape, as far as they can be told."""
    if kind := image_type(head):
        size = pixels(head)
        return [kind, *([f"{size[0]} x {size[1]} pixels"] if size else [])]
    try:
        match suffix:
            case ".parquet":
                return _parquet(file)
            case ".xlsx" | ".xlsm":
                return _workbook(file)
            case ".json" | ".geojson":
                return _json(file)
    except Exception:  # noqa: BLE001 - readers raise whatever broken data leads them to, and quote it
        return [f"a {suffix[1:]} file that cannot be read"]
    if is_binary(head):
        return ["a binary file"]
    lines = _count_lines(file)
    separator = {".csv": b",", ".tsv": b"\t", ".tab": b"\t"}.get(suffix)
    if separator is None:
        return ["text", lines]
    return ["a table in text", lines, f"{_count_columns(head, separator):,} columns"]


def _count_lines(file: BinaryIO) -> str:
    """Return how many lines there are, or that there are more than were counted in time."""
    count, last = 0, b"\n"
    late = time.monotonic() + COUNTING_SECONDS
    while chunk := file.read(1 << 20):
        count += chunk.count(b"\n")
        last = chunk[-1:]
        if time.monotonic() > late:
            return f"more than {count:,} lines"
    count += last != b"\n"
    return f"{count:,} lines"


def _count_columns(head: bytes, separator: bytes) -> int:
    """Return the columns of a table's first line, at the separator that it has most of."""
    line = re.sub(rb'"[^"]*"', b"", head.partition(b"\n")[0])
    return max(line.count(mark) for mark in (separator, b";", b"\t", b"|")) + 1


def _json(file: BinaryIO) -> list[str]:
    data = file.read(JSON_BYTES + 1)
    if len(data) > JSON_BYTES:
        return ["JSON"]
    value: Any = orjson.loads(data)
    match value:
        case list():
            return ["JSON", f"an array of {len(value):,}"]
        case dict():
            return ["JSON", f"an object of {len(value):,} keys"]
    return ["JSON", "one value"]


def _parquet(file: BinaryIO) -> list[str]:
    try:
        from pyarrow import parquet
    except ImportError:
        return ["a Parquet file"]
    found = parquet.ParquetFile(file)
    fields = list(found.schema_arrow)
    columns = "; ".join(f"{' '.join(field.name.split())} ({field.type})" for field in fields[:MOST_COLUMNS])
    more = f"; and {len(fields) - MOST_COLUMNS:,} more" if len(fields) > MOST_COLUMNS else ""
    return [
        "a Parquet file",
        f"{found.metadata.num_rows:,} rows",
        f"{len(fields):,} columns: {columns}{more}",
    ]


def _workbook(file: BinaryIO) -> list[str]:
    """Return the sheets' number, and the cells that each says it has."""
    with zipfile.ZipFile(file) as archive:
        names = [n for n in archive.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", n)]
        areas = []
        for name in names[:20]:
            with archive.open(name) as sheet:
                found = _DIMENSION.search(sheet.read(SNIFFED))
            areas.append(found[1].decode() if found else "unknown")
    return ["a workbook", f"{len(names)} sheets with the cells {', '.join(areas)}"]
