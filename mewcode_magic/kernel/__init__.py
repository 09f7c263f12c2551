"""The shell that MewCode lives in: what kind of front end it has, which notebook and cell run."""

from mewcode_magic.kernel.frontend import (
    can_ask,
    cell_id,
    front_end,
    is_console,
    is_kernel,
    missing_names,
    notebook_path,
)

__all__ = ["can_ask", "cell_id", "front_end", "is_console", "is_kernel", "missing_names", "notebook_path"]
