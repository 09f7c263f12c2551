"""The names that stand for models by default."""

__all__ = ["DEFAULT_MODEL", "OFFLINE"]

DEFAULT_MODEL = "claude-sonnet-5-5"
"""The newest Sonnet that the SDK names."""

OFFLINE = "offline"
"""Asks for the answers without a model, also where a key is set."""
