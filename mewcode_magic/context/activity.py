"""What the user did since the last turn, as the agent is told of it."""

from __future__ import annotations

from collections.abc import Sequence

from mewcode_magic.config import MewCode
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.kernel.activity import Cell, Figure
from mewcode_magic.kernel.describe import describe
from mewcode_magic.kernel.figures import image_block
from mewcode_magic.messages import Block, escape_tags

__all__ = ["activity_blocks", "activity_notice", "error_block"]

CODE_CHARS = 2_000
"""Characters of one cell."""
RESULT_CHARS = 500
"""Characters of what its last line gave."""
ERROR_CHARS = 1_000
"""Characters of the end of a traceback that is told in passing."""
LAST_ERROR_CHARS = 8_000
"""Characters of the end of a traceback that the user asks about."""


def activity_notice(cells: Sequence[Cell], left_out: int, settings: MewCode) -> str:
    """Return what the user ran, the oldest first; "" for nothing. Credentials are masked."""
    if not cells:
        return ""
    lines = ["Since your last turn the user ran these cells; their effects are in the kernel."]
    if left_out:
        lines.append(f"({left_out} earlier ones are left out.)")
    for cell in cells:
        lines.append(_code(cell))
        if cell.error:
            lines.append(f"It failed:\n{_error(cell, ERROR_CHARS, settings)}")
        elif cell.result is not None:
            shown = describe(cell.result, share_values=settings.share_values, limit=RESULT_CHARS)
            lines.append(f"Out: {shown}")
    return mask_credentials("\n".join(lines))


def activity_blocks(figures: Sequence[Figure]) -> list[Block]:
    """Return the figures that were displayed as image blocks, each behind a line that says where."""
    blocks: list[Block] = []
    for figure in figures:
        image = image_block(figure)
        where = "a cell" if figure.cell.number is None else f"cell [{figure.cell.number}]"
        if image is None:
            kind = figure.mime.removeprefix("application/")
            text = f"A figure ({kind}) was displayed by {where}; it cannot be turned into a picture here."
            blocks.append({"type": "text", "text": f"<system-reminder>\n{text}\n</system-reminder>"})
            continue
        text = f"The figure that {where} displayed:"
        blocks.append({"type": "text", "text": f"<system-reminder>\n{text}\n</system-reminder>"})
        blocks.append(image)
    return blocks


def error_block(cell: Cell, settings: MewCode) -> Block:
    """Return the cell that failed last, with its traceback, for a prompt that asks about it."""
    text = mask_credentials(
        f"The user's last cell that failed:\n{_code(cell)}\nIts traceback:\n"
        f"{_error(cell, LAST_ERROR_CHARS, settings)}"
    )
    return {"type": "text", "text": f"<system-reminder>\n{escape_tags(text)}\n</system-reminder>"}


def _code(cell: Cell) -> str:
    code = cell.code.strip()
    if len(code) > CODE_CHARS:
        code = f"{code[:CODE_CHARS]}\n… {len(code) - CODE_CHARS:,} more characters"
    number = "" if cell.number is None else cell.number
    return f"In [{number}]:\n{code}"


def _error(cell: Cell, limit: int, settings: MewCode) -> str:
    """Return the end of a traceback."""
    error = cell.error if settings.share_values else cell.places
    return error if len(error) <= limit else f"…{error[-limit:]}"
