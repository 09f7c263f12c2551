"""One reply put together from the events of its stream; it knows nothing of how they arrive."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mewcode_magic.errors import ReplyCutOff
from mewcode_magic.events import BlockEnded, ModelEvent, ReplyEnded, TextDelta, ThinkingDelta
from mewcode_magic.messages import Block, Usage

__all__ = ["ReplyStream"]

_USAGE = Usage.__struct_fields__


@dataclass(slots=True)
class _Growing:
    """A block that has begun, and the pieces that belong to its fields."""

    block: Block
    pieces: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, piece: str) -> None:
        self.pieces.setdefault(name, []).append(piece)

    def joined(self, name: str) -> str:
        return str(self.block.get(name) or "") + "".join(self.pieces[name])


class ReplyStream:
    """The state of one reply.

    Blocks are kept as the server gave them, with what the deltas add. Servers other than Anthropic's leave
    out parts: usage, the stop reason or the last event, so only what the reply itself needs is demanded.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._growing: dict[int, _Growing] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason = ""
        self._stopped = False
        self._called = False
        self._broken_call = ""

    def take(self, event: dict[str, Any]) -> Iterator[ModelEvent]:
        """Yield what an event of the stream means; nothing for a kind that is not known.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: the event is not as the API has it.
        """
        match event["type"]:
            case "message_start":
                message = event.get("message") or {}
                self._model = message.get("model") or self._model
                self._count(message.get("usage"))
            case "content_block_start":
                self._growing[event["index"]] = _Growing(dict(event["content_block"]))
            case "content_block_delta":
                yield from self._add(event["index"], event["delta"])
            case "content_block_stop":
                yield from self._end_block(event["index"])
            case "message_delta":
                self._stop_reason = (event.get("delta") or {}).get("stop_reason") or self._stop_reason
                self._count(event.get("usage"))
            case "message_stop":
                self._stopped = True

    def end(self) -> ReplyEnded:
        """Return the event that ends the reply, once the stream has.

        Raises:
            ReplyCutOff: the stream ended before the reply, or a call's input cannot be read.
        """
        if not (self._stop_reason or self._stopped):
            raise ReplyCutOff("the connection was closed before the reply was complete; run the cell again")
        reason = self._stop_reason or ("tool_use" if self._called else "end_turn")
        if self._broken_call and reason in ("tool_use", "end_turn"):
            raise ReplyCutOff(
                f"the input of the model's call of {self._broken_call!r} is not JSON that can be read; "
                "run the cell again"
            )
        return ReplyEnded(reason, Usage(**self._usage), self._model)

    def _add(self, index: int, delta: dict[str, Any]) -> Iterator[ModelEvent]:
        growing = self._growing[index]
        match delta["type"]:
            case "text_delta":
                piece = _whole(delta["text"])
                growing.add("text", piece)
                yield TextDelta(piece)
            case "thinking_delta":
                growing.add("thinking", delta["thinking"])
                yield ThinkingDelta(_whole(delta["thinking"]))
            case "input_json_delta":
                growing.add("input", delta["partial_json"])
            case "signature_delta":
                growing.block["signature"] = delta["signature"]
            case "citations_delta":
                growing.block["citations"] = [*(growing.block.get("citations") or []), delta["citation"]]

    def _end_block(self, index: int) -> Iterator[ModelEvent]:
        growing = self._growing.pop(index)
        block = growing.block
        for name in growing.pieces.keys() - {"input"}:
            block[name] = growing.joined(name)
        if block["type"] == "text" and not str(block.get("text") or "").strip():
            return  # the API refuses it when it comes back
        if text := "".join(growing.pieces.get("input", [])):
            block["input"] = _parsed(text)
            if not isinstance(block["input"], dict):
                # Cut by the limit of tokens, or not JSON; either way it must not run on half of its input.
                self._broken_call = str(block.get("name"))
                return
        if block["type"] == "tool_use":
            if not isinstance(block["id"], str) or not isinstance(block["name"], str):
                raise TypeError("a call without id or name")
            block["input"] = (
                block.get("input") or {}
            )  # of a call that takes nothing, some servers say nothing
            self._called = True
        yield BlockEnded(block)

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Take over counts; those of a later event are totals, and null where they do not apply."""
        for name in _USAGE:
            if (count := (usage or {}).get(name)) is not None:
                self._usage[name] = int(count)


def _parsed(text: str) -> Any:
    """Return the value of a JSON text, or None: of one that cannot go back to the API either."""
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is beyond any number")
    return number


def _whole(text: str) -> str:
    """Return `text` without lone surrogates, which no front end can be sent."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
