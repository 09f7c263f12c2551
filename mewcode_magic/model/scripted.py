"""A model that gives fixed replies, for tests and notebooks: no network, and the same words every time."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from mewcode_magic.errors import ModelError
from mewcode_magic.events import (
    BlockEnded,
    ModelEvent,
    Query,
    QueryKind,
    Reply,
    ReplyEnded,
    Request,
    TextDelta,
    ThinkingDelta,
)
from mewcode_magic.messages import Block, Usage
from mewcode_magic.model.answer import read_answer

__all__ = ["Scripted", "ScriptedReply"]

PIECE = 8
"""Characters of a delta."""
CHARACTERS_PER_TOKEN = 4
"""For the estimated usage."""

Part: TypeAlias = str | Block | BaseException


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """A reply with all that can be said of it.

    `parts`: texts, content blocks, and exceptions, which are raised at their place; a text or thinking in
    front of one is streamed but does not end. `stop_reason` "" means what the parts suggest; `usage` None,
    an estimate from the lengths.
    """

    parts: Sequence[Part]
    stop_reason: str = ""
    usage: Usage | None = None


class Scripted:
    """Gives one reply a request, in order: a text, an exception, a list of parts or a `ScriptedReply`.

    `answers` are those to the program's own questions, in order for each kind: a text, a value that becomes
    its JSON, or an exception. Queries may come from another thread.
    """

    def __init__(
        self,
        replies: Iterable[str | BaseException | Sequence[Part] | ScriptedReply],
        *,
        answers: Mapping[QueryKind, Iterable[Any]] | None = None,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.requests: list[Request] = []
        """What was asked, as it was at the time."""
        self.queries: list[Query] = []
        """The program's own questions."""
        self._replies = [_reply(reply) for reply in replies]
        self._answers = {kind: iter(list(of_kind)) for kind, of_kind in (answers or {}).items()}

    def stream(self, request: Request) -> Iterator[ModelEvent]:
        """Yield the next reply.

        Raises:
            ModelError: there is no reply left.
        """
        self.requests.append(replace(request, messages=list(request.messages)))
        number = len(self.requests)
        if number > len(self._replies):
            raise ModelError(
                f"the script has {len(self._replies)} replies and was asked for number {number}; add one"
            )
        reply = self._replies[number - 1]
        said = 0
        for part, following in zip(reply.parts, [*reply.parts[1:], None], strict=True):
            if isinstance(part, BaseException):
                raise part
            block: Block = {"type": "text", "text": part} if isinstance(part, str) else copy.deepcopy(part)
            said += len(json.dumps(block))
            yield from _deltas(block)
            if not isinstance(following, BaseException) or block["type"] == "tool_use":
                yield BlockEnded(block)
        usage = reply.usage or Usage(
            input_tokens=_tokens(len(json.dumps([request.system, request.messages, request.tools]))),
            output_tokens=_tokens(said),
        )
        yield ReplyEnded(reply.stop_reason or _stop_reason(reply.parts), usage, self.name)

    def query(self, query: Query) -> Reply:
        """Give the next answer of the query's kind.

        Raises:
            ModelError: there is none left.
        """
        self.queries.append(query)
        answer = next(self._answers.get(query.kind, iter(())), None)
        if answer is None:
            raise ModelError(f"the script has no answer left to a query of kind {query.kind!r}; add one")
        if isinstance(answer, BaseException):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        asked = _tokens(len(json.dumps(query.messages)))
        return Reply(read_answer(text, query.schema), Usage(asked, _tokens(len(text))))


def _reply(reply: str | BaseException | Sequence[Part] | ScriptedReply) -> ScriptedReply:
    if isinstance(reply, ScriptedReply):
        return reply
    return ScriptedReply([reply] if isinstance(reply, str | BaseException) else list(reply))


def _deltas(block: Block) -> Iterator[ModelEvent]:
    kind = block["type"]
    if kind in ("text", "thinking"):
        text = str(block[kind])
        for start in range(0, len(text), PIECE):
            piece = text[start : start + PIECE]
            yield TextDelta(piece) if kind == "text" else ThinkingDelta(piece)


def _stop_reason(parts: Sequence[Part]) -> str:
    called = any(isinstance(part, dict) and part["type"] == "tool_use" for part in parts)
    return "tool_use" if called else "end_turn"


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
