"""An exception as the text that a model is told."""

from __future__ import annotations

import traceback

from mewcode_magic.errors import MewCodeError

__all__ = ["traceback_places", "traceback_text"]

TRACEBACK_LINES = 60
TRACEBACK_CHARS = 6_000


def traceback_text(error: BaseException) -> str:
    """Return a traceback without colours and IPython's own frames, its middle left out where it is long.

    Errors that IPython shows without one are one line here too.
    """
    if isinstance(error, MewCodeError) or type(error).__name__ == "UsageError":
        return f"{type(error).__name__}: {error}"
    frames = error.__traceback__
    while frames is not None and "/IPython/core/" in frames.tb_frame.f_code.co_filename.replace("\\", "/"):
        frames = frames.tb_next
    try:
        lines = "".join(traceback.format_exception(type(error), error, frames)).splitlines()
    except Exception:  # noqa: BLE001 - an exception's own text can fail
        return type(error).__name__
    if len(lines) > TRACEBACK_LINES:
        half = TRACEBACK_LINES // 2
        lines = [*lines[:half], f"… {len(lines) - 2 * half} lines …", *lines[-half:]]
    text = "\n".join(lines)
    if len(text) > TRACEBACK_CHARS:
        half = TRACEBACK_CHARS // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half:,} characters …\n{text[-half:]}"
    return text


def traceback_places(error: BaseException) -> str:
    """Return where an exception came up, frame by frame, and its type; its message can hold values."""
    frames = traceback.extract_tb(error.__traceback__)[-TRACEBACK_LINES:]
    places = [
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        for frame in frames
        if "/IPython/core/" not in frame.filename.replace("\\", "/")
    ]
    return "\n".join([*places, type(error).__name__])
