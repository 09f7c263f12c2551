"""Output of commands and code without credentials: what was printed is sent to a model and recorded."""

from __future__ import annotations

import os

from mewcode_magic.credentials import mask_credentials

__all__ = ["KEYS", "masked"]

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
"""The variables that hold the keys which MewCode itself uses."""


def masked(output: str) -> str:
    """Return output with masks for MewCode's own keys, whatever they look like, and for other credentials."""
    for name in KEYS:
        if value := os.environ.get(name, "").strip():
            output = output.replace(value, "[credential: API key]")
    return mask_credentials(output)
