"""Moments in the reader's time zone. Those of records and files can lie in any year."""

from __future__ import annotations

import contextlib
from datetime import datetime

__all__ = ["local"]


def local(moment: datetime) -> datetime:
    """Return `moment` in local time; as it is, in a year that the platform's clock does not reach."""
    with contextlib.suppress(ValueError, OverflowError, OSError):
        return moment.astimezone()
    return moment
