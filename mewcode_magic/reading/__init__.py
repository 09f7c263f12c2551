"""Files as what a model can be given: text with line numbers, images as blocks, notebooks as cells.

Nothing of the size, the names or the content of a file makes reading it hang, fill memory, or fail with
anything but an error of the project's own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mewcode_magic.errors import StorageError
from mewcode_magic.files import FileState, shown, state_of
from mewcode_magic.messages import Block
from mewcode_magic.reading.data import may_hold_data, shape
from mewcode_magic.reading.images import IMAGE_BYTES, image_block, image_type
from mewcode_magic.reading.notebook import notebook_cells
from mewcode_magic.reading.opening import SNIFFED, is_binary, opened
from mewcode_magic.reading.text import LINE_CHARS, numbered_lines

__all__ = ["LINES", "LINE_CHARS", "Content", "may_hold_data", "opened", "read_file"]

LINES = 2_000
"""Lines of a text, or cells of a notebook, that are read where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a model is given of a file."""

    text: str
    images: tuple[Block, ...] = ()
    state: FileState | None = None
    """The file as it was when its text was read; None if its text was not shown."""


def read_file(path: Path, *, offset: int = 1, limit: int = LINES, share_values: bool = True) -> Content:
    """Return at most `limit` lines of a text, or cells of a notebook, from `offset` on; or an image.

    Without `share_values`, of a file that may hold data only its shape.

    Raises:
        StorageError: it is not there, is no regular file, is binary or damaged, or cannot be read.
    """
    with opened(path) as file:
        state = state_of(os.fstat(file.fileno()))
        is_notebook = path.suffix.lower() == ".ipynb"
        if not share_values and not is_notebook and may_hold_data(path):
            return Content(shape(file, path))
        head = file.read(SNIFFED)
        file.seek(0)
        if image_type(head):
            data = file.read(IMAGE_BYTES + 1)
            if len(data) > IMAGE_BYTES:
                raise StorageError(f"{shown(path)} is an image of more than {IMAGE_BYTES:,} bytes")
            block, label = image_block(data, shown(path))
            return Content(label, (block,))
        if is_notebook and head.strip():
            text, images = notebook_cells(file, path, offset=offset, limit=limit, share_values=share_values)
            return Content(text, images, state)
        if is_binary(head):
            size = file.seek(0, 2)
            raise StorageError(
                f"{shown(path)} is a binary file of {size:,} bytes; read it in Python with a library that "
                "knows its format"
            )
        return Content(numbered_lines(file, path, offset=offset, limit=limit), (), state)
