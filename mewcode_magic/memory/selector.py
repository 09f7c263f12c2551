"""A model chooses the memories that fit a prompt, from one line on each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

import msgspec

from mewcode_magic.events import Model, Query
from mewcode_magic.memory.manifest import manifest
from mewcode_magic.memory.names import matching
from mewcode_magic.memory.record import Memory
from mewcode_magic.messages import Usage

__all__ = ["choose"]


class Choice(msgspec.Struct, frozen=True):
    """The answer: names from the list, best first."""

    names: list[str]


def choose(
    model: Model, prompt: str, memories: Sequence[Memory], *, limit: int, seconds: float, now: datetime
) -> tuple[list[Memory], Usage]:
    """Return at most `limit` of `memories`, best first, and the tokens that it took; none is a fine answer.

    Names that are not in the list are left out.

    Raises:
        ModelError: there is no answer within `seconds`, or none that can be read.
    """
    text = (
        f"<prompt>\n{escape(prompt, quote=False)}\n</prompt>\n\n"
        f"<notes>\n{manifest(memories, now)}\n</notes>\n\nAnswer with at most {limit} names."
    )
    query = Query("recall", [{"role": "user", "content": text}], Choice, seconds=seconds, max_tokens=1_000)
    reply = model.query(query)
    chosen: list[Memory] = []
    for name in reply.value.names:
        chosen += [memory for memory in matching(memories, name) if memory not in chosen]
    return chosen[:limit], reply.usage
