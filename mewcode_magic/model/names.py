"""The names that stand for models by default."""

__all__ = ["DEFAULT_MODEL", "OFFLINE", "SIDE_MODEL"]

DEFAULT_MODEL = "claude-sonnet-5-5"
"""The newest Sonnet that the SDK names."""

SIDE_MODEL = "claude-haiku-5-5"
"""The newest Haiku that the SDK names; it answers the program's own questions."""

OFFLINE = "offline"
"""Asks for the answers without a model, also where a key is set."""
