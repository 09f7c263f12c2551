"""A notebook as its cells and their outputs, in text, with the images that it shows."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mewcode_magic.errors import StorageError
from mewcode_magic.files import shown
from mewcode_magic.messages import Block
from mewcode_magic.reading.images import image_block
from mewcode_magic.reading.text import RESULT_CHARS

__all__ = ["NOTEBOOK_BYTES", "notebook_cells"]

NOTEBOOK_BYTES = 100_000_000
"""Bytes of a notebook that is read at all."""
OUTPUT_CHARS = 2_000
"""Characters shown of one output."""
SOURCE_CHARS = 20_000
"""Characters shown of one cell."""
MOST_IMAGES = 4
"""Images that come with one result; the others are mentioned."""

_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def notebook_cells(
    file: BinaryIO, path: Path, *, offset: int, limit: int, share_values: bool
) -> tuple[str, tuple[Block, ...]]:
    """Return at most `limit` cells from cell `offset` on, as text and image blocks.

    Without `share_values`, outputs are told by their kind and their length alone.

    Raises:
        OSError: it cannot be read.
        StorageError: it is no notebook, or too large.
    """
    data = file.read(NOTEBOOK_BYTES + 1)
    if len(data) > NOTEBOOK_BYTES:
        raise StorageError(f"{shown(path)} is larger than {NOTEBOOK_BYTES:,} bytes; clear its outputs first")
    cells = _cells(data, path)
    parts: list[str] = []
    images: list[Block] = []
    size = 0
    for number, cell in enumerate(cells[offset - 1 :], start=offset):
        pictures: list[Block] = []
        part = _cell(number, cell, pictures, len(images), share_values=share_values)
        size += len(part) + 2
        if len(parts) == limit or size > RESULT_CHARS:
            parts.append(f"(more cells follow, {len(cells):,} in all; read on with offset={number})")
            break
        parts.append(part)
        images += pictures
    if not parts:
        return f"{shown(path)} has {f'only {len(cells):,}' if cells else 'no'} cells", ()
    return "\n\n".join(parts), tuple(images)


def _cells(data: bytes, path: Path) -> list[dict[str, Any]]:
    try:
        notebook = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise StorageError(f"{shown(path)} is no notebook: it is not JSON") from error
    if not isinstance(notebook, dict):
        raise StorageError(f"{shown(path)} is no notebook: it holds no cells")
    cells = notebook.get("cells")
    if cells is None:  # format 3 keeps them in worksheets
        sheets = [sheet for sheet in _list(notebook.get("worksheets")) if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in _list(sheet.get("cells"))] if sheets else None
    if not isinstance(cells, list):
        raise StorageError(f"{shown(path)} is no notebook: it holds no cells")
    return [cell for cell in cells if isinstance(cell, dict)]


def _cell(number: int, cell: dict[str, Any], images: list[Block], before: int, *, share_values: bool) -> str:
    """Return a cell as text, and put its images into `images`, `before` of which stand already."""
    kind = str(cell.get("cell_type") or "unknown")
    count = cell.get("execution_count", cell.get("prompt_number"))
    run = f" [{count}]" if isinstance(count, int) else " [not run]" if kind == "code" else ""
    label = f", id {cell['id']}" if isinstance(cell.get("id"), str) else ""
    source = _joined(cell.get("source", cell.get("input")))
    lines = [f"--- cell {number}: {kind}{run}{label}", _cut(source, SOURCE_CHARS)]
    for output in _list(cell.get("outputs")):
        if isinstance(output, dict):
            lines += _output(output, images, before, share_values=share_values)
    return "\n".join(line for line in lines if line).replace("\0", "\N{REPLACEMENT CHARACTER}")


def _output(output: dict[str, Any], images: list[Block], before: int, *, share_values: bool) -> list[str]:
    match output.get("output_type"):
        case "stream":
            label, text = str(output.get("name") or "stream"), _joined(output.get("text"))
        case "error" | "pyerr":
            label = f"error {output.get('ename')}"
            text = str(output.get("evalue") or "")
        case _:
            data = output.get("data")
            bundle: dict[str, Any] = data if isinstance(data, dict) else {}
            for kind in _IMAGES:
                if kind in bundle:
                    return [_image(kind, bundle[kind], images, before, share_values=share_values)]
            kind = next((k for k in ("text/markdown", "text/plain") if k in bundle), next(iter(bundle), ""))
            # HTML, widgets and scripts are for browsers; most of them bring their text along.
            text = _joined(bundle.get(kind)) if kind in ("text/markdown", "text/plain", "text/latex") else ""
            label = kind or "empty"
    if not share_values:
        rows = text.count("\n") + 1 if text else 0
        return [f"--- output: {label}" + (f", {rows:,} lines, not shown" if rows else "")]
    return [f"--- output: {label}", _cut(text.rstrip("\n"), OUTPUT_CHARS)]


def _image(kind: str, encoded: Any, images: list[Block], before: int, *, share_values: bool) -> str:
    """Put an image into `images` if there is room, and return the line that stands for it."""
    if not share_values or before + len(images) >= MOST_IMAGES:
        return f"--- output: {kind}, not shown"
    try:
        block, label = image_block(base64.b64decode(_joined(encoded)), "image")
    except (binascii.Error, ValueError, StorageError):
        return f"--- output: {kind}, damaged"
    images.append(block)
    return f"--- output: {label} (image {before + len(images)} below)"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _joined(value: Any) -> str:
    """Return a text that notebooks keep as a string or as a list of lines."""
    return "".join(str(line) for line in value) if isinstance(value, list) else str(value or "")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"
