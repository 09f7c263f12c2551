"""What tests call inside a kernel: an agent that answers from a script, and what it was told."""

from typing import Any

from IPython.core.getipython import get_ipython

from mewcode_magic.app import Mew
from mewcode_magic.model import Scripted

_MODELS: list[Scripted] = []


def script(*replies: Any) -> None:
    """Have the loaded extension's agent answer with these replies, in a new session."""
    shell = get_ipython()
    extension = shell.meta["mewcode_magic"]
    extension.settings.recall_max_picks, extension.settings.extract = 0, "off"
    _MODELS.append(Scripted(replies))
    vars(extension)["mew"] = Mew(shell=shell, settings=extension.settings, model=_MODELS[-1])


def told() -> list[dict[str, Any]]:
    """Return the last results, as the model was sent them."""
    content: list[dict[str, Any]] = _MODELS[-1].requests[-1].messages[-1]["content"]
    return content
