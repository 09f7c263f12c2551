"""A conversation's messages as values: what is recorded of them, and the form that the API takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

__all__ = ["Block", "Message", "Surfaced", "Time", "Usage", "escape_tags"]

Block: TypeAlias = dict[str, Any]
"""One content block, exactly as the API gives or takes it."""

Time: TypeAlias = float | Annotated[datetime, msgspec.Meta(tz=True)]
"""A point in time: Unix seconds, or a datetime with its offset."""


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one reply, or of several added up; the names are the API's.

    `input_tokens` counts what was neither read from the cache nor written to it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            self.cache_read_input_tokens + other.cache_read_input_tokens,
        )

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the request: new, written to the cache and read from it."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens

    def in_words(self, number: Callable[[int], str] = "{:,}".format) -> str:
        """Return what was sent, how much of that came from the cache or was written to it, and the answer."""
        if self == Usage():
            return "no tokens"
        read, written = self.cache_read_input_tokens, self.cache_creation_input_tokens
        cache = [f"{number(read)} from cache"] * bool(read) + [f"{number(written)} written to it"] * bool(
            written
        )
        cached = f" ({', '.join(cache)})" if cache else ""
        return f"{number(self.prompt_tokens)} tokens in{cached} · {number(self.output_tokens)} out"


class Surfaced(msgspec.Struct, frozen=True):
    """A memory that stood in front of a prompt: its slug, and its `updated` time as it was then."""

    slug: str
    updated: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a conversation.

    `content` is a string or a list of API blocks. A prompt's content is what the user typed; what was sent
    in front of it (recalled memories, notices, attachments) stands in `injected`. The results of one
    assistant message's calls are one user message whose content is `tool_result` blocks.
    """

    role: Literal["user", "assistant"]
    content: str | list[Block]
    injected: list[Block] = []
    time: Time | None = msgspec.field(name="ts", default=None)
    """When it was recorded, as its record says it; `ts` says it in one unit."""
    recalled: list[Surfaced] = []
    """On a prompt: the memories that stand in `injected`."""
    notebook: str | None = None
    cell: str | None = None
    """On a prompt: the notebook's name and the cell's id, where the front end gives them."""
    run: str | None = None
    """On a prompt: what tells this run of the cell from all others, in whichever kernel."""
    model: str | None = None
    usage: Usage | None = None
    interrupted: bool = False
    """On an assistant message: the user stopped it, or it broke off; this is what had arrived."""
    variables: dict[str, list[str]] = {}
    """On a message of results: the names that each call bound in the user's namespace, by call id."""

    @property
    def ts(self) -> float | None:
        """Unix seconds at which it was recorded.

        Worked out when asked for: in a long session that costs as much as reading the record did.
        """
        return self.time.timestamp() if isinstance(self.time, datetime) else self.time

    def blocks(self) -> list[Block]:
        """Return all content in sending order as blocks: `injected` first, a string as a text block."""
        own: list[Block] = (
            [{"type": "text", "text": self.content}] if isinstance(self.content, str) else self.content
        )
        return [*self.injected, *own]

    def text(self) -> str:
        """Return what was typed or said, without injected blocks, calls, results and thinking."""
        if isinstance(self.content, str):
            return self.content
        return "\n\n".join(str(b["text"]) for b in self.content if b.get("type") == "text" and b.get("text"))

    def tool_uses(self) -> list[Block]:
        """Return the calls in the message."""
        return [b for b in self.blocks() if b.get("type") == "tool_use"]

    def tool_results(self) -> list[Block]:
        """Return the results in the message."""
        return [b for b in self.blocks() if b.get("type") == "tool_result"]

    @property
    def is_prompt(self) -> bool:
        """Whether it is something that the user said, not results handed back or a summary."""
        return (
            self.role == "user"
            and bool(self.content)
            and (isinstance(self.content, str) or not self.tool_results())
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the API's form: `{"role", "content"}`, the content a string where it can be one."""
        return {"role": self.role, "content": self.blocks() if self.injected else self.content}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Message:
        """Return the message of the API's form.

        Raises:
            ValueError: the role or the content is none that the API knows.
        """
        role, content = data.get("role"), data.get("content")
        if role not in ("user", "assistant"):
            raise ValueError(f"a message's role is user or assistant, not {role!r}")
        if isinstance(content, list) and all(isinstance(b, dict) for b in content):
            return cls(role=role, content=[dict(b) for b in content])
        if isinstance(content, str):
            return cls(role=role, content=content)
        raise ValueError(f"a message's content is a string or a list of blocks, not {type(content).__name__}")


# One class for what may stand before the name: two in a row would take quadratic time on a run of blanks.
_OWN_TAG = re.compile(
    r"<(?=[\s/\u200b\ufeff]*"
    r"(?:system[-_]reminder|relevant[-_]memories|memory|managed[-_]instructions)(?![\w-]))",
    re.IGNORECASE,
)


def escape_tags(text: str) -> str:
    """Return text that is data (a memory, an instruction, a notice) so that it cannot end or forge a wrapper.

    The `<` of opening and closing `system-reminder`, `relevant_memories`, `memory` and `managed_instructions`
    tags, in any case and spacing, becomes `&lt;`; all else stays.
    """
    return _OWN_TAG.sub("&lt;", text)
