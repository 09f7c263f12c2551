"""Reading the sound lines of a session file quickly; `records.read_line` takes all the others.

Decoding straight into the values is what makes a long session load as fast as its JSON can be parsed. Each
function raises one of `records.UNREADABLE` for a line that is not of its kind, or not sound.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

import msgspec

from mewcode_magic.messages import Block, Message, Surfaced, Usage
from mewcode_magic.sessions.records import Result

__all__ = ["role_message", "role_result", "typed_record"]


class _RoleResult(Result, frozen=True, kw_only=True):
    role: Literal["tool_result"]


# A time without an offset, as older files have it, is left to the slow way.
_Stamp: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]


class _TypedUser(msgspec.Struct, frozen=True, tag_field="type", tag="user"):
    content: str | list[Block]
    timestamp: _Stamp
    injected: list[Block] | None = None
    recalled: list[Surfaced] | None = None
    notebook: str | None = None
    cell: str | None = None
    run: str | None = None


class _TypedAssistant(msgspec.Struct, frozen=True, tag_field="type", tag="assistant"):
    content: str | list[Block]
    timestamp: _Stamp
    model: str | None = None
    usage: Usage | None = None
    interrupted: bool = False


class _TypedResult(msgspec.Struct, frozen=True, tag_field="type", tag="tool_result"):
    content: str | list[Block]
    timestamp: _Stamp
    tool_use_id: str
    is_error: bool = False
    variables: list[str] | None = None


# In the role dialect the records of prompts and replies have the very fields of a Message.
role_message: Callable[[bytes], Message] = msgspec.json.Decoder(Message).decode
"""Returns the prompt or reply in a line of the role dialect."""
role_result: Callable[[bytes], Result] = msgspec.json.Decoder(_RoleResult).decode
"""Returns the result in a line of the role dialect."""

_replace = msgspec.structs.replace
# Copies share what they leave empty; three new containers a message would take as long as decoding does.
_PROMPT = Message(role="user", content="")
_REPLY = Message(role="assistant", content="")
_TYPED = msgspec.json.Decoder(_TypedUser | _TypedAssistant | _TypedResult)


def typed_record(line: bytes) -> Message | Result:
    """Return the prompt, reply or result in a line of the typed dialect."""
    record = _TYPED.decode(line)
    if type(record) is _TypedResult:  # isinstance costs a quarter of all this
        return Result(
            tool_use_id=record.tool_use_id,
            content=record.content,
            is_error=record.is_error,
            ts=record.timestamp.timestamp(),
            variables=record.variables or [],
        )
    if type(record) is _TypedAssistant:
        return _replace(
            _REPLY,
            content=record.content,
            time=record.timestamp,
            model=record.model,
            usage=record.usage,
            interrupted=record.interrupted,
        )
    return _replace(
        _PROMPT,
        content=record.content,
        injected=record.injected or _PROMPT.injected,
        time=record.timestamp,
        recalled=record.recalled or _PROMPT.recalled,
        notebook=record.notebook,
        cell=record.cell,
        run=record.run,
    )
