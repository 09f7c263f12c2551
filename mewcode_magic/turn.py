"""One turn of the agent: send, stream, run the calls, append, until no call is left.

A generator of events that never prints. Whatever ends it (the model, the user's interrupt, an error, a
consumer that walks away), what was said is recorded and every recorded call has its result, so that the
session file is valid and the next turn works.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from mewcode_magic.context import moved_to_file
from mewcode_magic.errors import ContextTooLong, StorageError
from mewcode_magic.events import (
    BlockEnded,
    Event,
    Model,
    Notice,
    ReplyEnded,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from mewcode_magic.messages import Block, Message, Usage
from mewcode_magic.sessions import Session
from mewcode_magic.tools import CallStopped, Tool, ToolContext, ToolResult, run_call

__all__ = ["Prepare", "run_turn"]

Prepare: TypeAlias = Callable[[ContextTooLong | None], Generator[Event, None, Request]]
"""Builds the request for the session as it stands; given a refusal of the last one, a shorter one."""

NOT_RUN = "not run: the user stopped the turn first"
STOPPED = "the user stopped this call before it had ended"
_CUT_SHORT = {
    "max_tokens": "The answer reached the limit of {max_tokens:,} tokens and was cut; "
    "raise MewCode.max_tokens, or ask to go on.",
    "model_context_window_exceeded": "The conversation has filled the model's window and the answer was cut; "
    "%compact makes room, then ask to go on.",
    "refusal": "The model declined to answer.",
}


@dataclass(slots=True)
class _Reply:
    """What has arrived of one reply."""

    blocks: list[Block] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    recorded: Message | None = None
    open_calls: list[Block] = field(default_factory=list)
    """Calls that are recorded and have no result yet."""
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def has_begun(self) -> bool:
        """Whether anything has arrived that the user may have seen."""
        return bool(self.blocks or self.partial)

    def stream(self, model: Model, request: Request) -> Iterator[TextDelta | ThinkingDelta]:
        """Take the reply as it arrives, and pass on what the user may watch arriving."""
        for event in model.stream(request):
            match event:
                case TextDelta(text):
                    self.partial.append(text)
                    yield event
                case ThinkingDelta():
                    yield event
                case BlockEnded(block):
                    self.partial.clear()
                    self.blocks.append(block)
                case ReplyEnded():
                    self.stop_reason, self.usage, self.model = event.stop_reason, event.usage, event.model

    def record(self, session: Session, model: str, *, interrupted: bool = False) -> Message | None:
        """Record the reply once, and return it; None if it said nothing.

        Of a reply that broke off, unsigned thinking and calls whose input was cut are left out.
        """
        if self.recorded is not None:
            return self.recorded
        blocks = list(self.blocks)
        if text := "".join(self.partial):
            blocks.append({"type": "text", "text": text})
        if self.stop_reason == "max_tokens":
            while blocks and blocks[-1].get("type") == "tool_use":
                blocks.pop()
        if not any(b.get("type") == "tool_use" or str(b.get("text", "")).strip() for b in blocks):
            return None
        said = Message(
            role="assistant",
            content=blocks,
            model=self.model or model,
            usage=self.usage if self.stop_reason else None,
            interrupted=interrupted,
        )
        try:
            session.append(said)
        except StorageError:
            self._take(said)
            raise
        self._take(said)
        return said

    def _take(self, said: Message) -> None:
        """Count a reply as recorded, also if the write failed: the session keeps it and writes it later.

        Not earlier: what an interrupt kept from being recorded is recorded when that is dealt with.
        """
        self.recorded, self.open_calls = said, said.tool_uses()

    def record_results(self, session: Session, results: list[ToolResult]) -> None:
        """Record the results of the calls, in their order; a call without one was not run."""
        if not self.open_calls:
            return
        content: list[Block] = []
        variables: dict[str, list[str]] = {}
        for index, call in enumerate(self.open_calls):
            result = results[index] if index < len(results) else ToolResult(NOT_RUN, is_error=True)
            text: Block = {"type": "text", "text": result.text}
            said = [text, *result.images] if result.images else result.text
            block: Block = {"type": "tool_result", "tool_use_id": call["id"], "content": said}
            if result.is_error:
                block["is_error"] = True
            if result.variables:
                variables[call["id"]] = list(result.variables)
            content.append(block)
        try:
            session.append(Message(role="user", content=content, variables=variables))
        except StorageError:
            self.open_calls = []  # as in `_take`
            raise
        self.open_calls = []

    def remarks(self, request: Request) -> Iterator[Notice]:
        """Tell the user why the reply is shorter than it might be."""
        if remark := _CUT_SHORT.get(self.stop_reason):
            yield Notice(remark.format(max_tokens=request.max_tokens))
        elif self.recorded is None and self.stop_reason != "pause_turn":
            yield Notice("The model said nothing.")


def run_turn(
    model: Model,
    session: Session,
    prepare: Prepare,
    tools: dict[str, Tool],
    context: ToolContext,
) -> Generator[Event]:
    """Answer the session's last prompt.

    `prepare` builds each request, and once in a turn another one for one that was too long. A
    KeyboardInterrupt is recorded, told by `TurnEnded(stop="interrupted")`, and raised again.

    Raises:
        ModelError: no reply could be had; what had arrived is recorded, marked as interrupted.
        StorageError: what was said could not be written; it is written before the next record.
    """
    started = time.monotonic()
    usage = Usage()
    name = model.name
    answer = ""
    rounds = 0
    reply = _Reply()
    results: list[ToolResult] = []
    refused: ContextTooLong | None = None

    def ended(stop: Literal["done", "interrupted", "limit"]) -> TurnEnded:
        return TurnEnded(answer, name, usage, time.monotonic() - started, rounds, stop)

    try:
        while rounds < context.settings.max_rounds:
            rounds += 1
            reply = _Reply()
            sent = yield from prepare(None)
            try:
                yield from reply.stream(model, sent)
            except ContextTooLong as error:
                if refused is not None or reply.has_begun:
                    raise
                refused = error
                sent = yield from prepare(error)
                yield from reply.stream(model, sent)
            message = reply.record(session, model.name)
            usage += reply.usage
            name = reply.model or name
            answer = message.text() if message else answer
            yield from reply.remarks(sent)
            results = []
            if reply.open_calls:
                yield from _run_calls(reply.open_calls, results, tools, context, session)
                reply.record_results(session, results)
            elif reply.stop_reason != "pause_turn":
                yield ended("done")
                return
        yield Notice(f"Stopped after {rounds} rounds of calls (MewCode.max_rounds); ask to go on.")
        yield ended("limit")
    except BaseException as error:
        # Also GeneratorExit: a consumer that stops listening has stopped the turn.
        message = reply.record(session, model.name, interrupted=True)
        reply.record_results(session, results)
        if isinstance(error, KeyboardInterrupt):
            answer = message.text() if message else ""
            yield ended("interrupted")
        raise


def _run_calls(
    calls: list[Block],
    results: list[ToolResult],
    tools: dict[str, Tool],
    context: ToolContext,
    session: Session,
) -> Iterator[Event]:
    """Run the calls one after the other and put their results into `results`, also when stopped."""
    for call in calls:
        started = time.monotonic()
        yield ToolStarted(call["id"], call["name"], call["input"])
        try:
            result = _fitting((yield from run_call(call, tools, context)), call["id"], context, session)
        except BaseException as error:
            came_to = error.result if isinstance(error, CallStopped) else ToolResult(STOPPED, is_error=True)
            results.append(_fitting(came_to, call["id"], context, session))
            if isinstance(error, KeyboardInterrupt):
                yield _ended(call, came_to, started, stopped=True)
            raise
        results.append(result)
        yield _ended(call, result, started)


def _ended(call: Block, result: ToolResult, started: float, *, stopped: bool = False) -> ToolEnded:
    seconds = time.monotonic() - started
    told = result.text, result.is_error, seconds, result.detail, result.language
    return ToolEnded(call["id"], call["name"], *told, stopped=stopped)


def _fitting(result: ToolResult, call_id: str, context: ToolContext, session: Session) -> ToolResult:
    """Return a result as it goes into the conversation: a file and a preview, if it is too long."""
    if result.in_file or len(result.text) <= context.settings.result_max_chars:
        return result
    preview = moved_to_file(
        result.text, lambda text: session.store_result(call_id, text), project=context.project
    )
    return replace(result, text=preview)
