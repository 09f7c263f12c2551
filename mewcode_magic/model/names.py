"""The names that stand for models by default, and the windows that models have by their names."""

__all__ = ["DEFAULT_MODEL", "OFFLINE", "SIDE_MODEL", "window_of"]

DEFAULT_MODEL = "claude-sonnet-5-5"
"""The newest Sonnet that the SDK names."""

SIDE_MODEL = "claude-haiku-5-5"
"""The newest Haiku that the SDK names; it answers the program's own questions."""

OFFLINE = "offline"
"""Asks for the answers without a model, also where a key is set."""

WINDOW = 200_000
"""Tokens of a window of which nothing else is known."""
_WINDOWS = {
    "claude-fable-5": 1_000_000,
    "claude-haiku-5": 1_000_000,
    "claude-mythos-5": 1_000_000,
    "claude-opus-5": 1_000_000,
    "claude-sonnet-5": 1_000_000,
    OFFLINE: 1_000_000,  # no limit of its own, and a conversation with Claude is not to be compacted by rules
}
"""By what a name begins with; https://platform.claude.com/docs/en/about-claude/models/overview."""


def window_of(name: str) -> int:
    """Return the tokens that a request to the model and its reply may have together."""
    return next((window for prefix, window in _WINDOWS.items() if name.startswith(prefix)), WINDOW)
