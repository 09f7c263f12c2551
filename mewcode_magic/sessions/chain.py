"""Repairing a chain of messages, so that the API accepts it and nothing is lost that could be kept."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import TypeGuard

import msgspec

from mewcode_magic.messages import Block, Message

__all__ = ["Chain", "repair_chain"]

LOST_BEGINNING = "(What was said before this could not be read.)"
"""Stands for the prompt that a first message of the assistant must have answered."""

_THINKING = ("thinking", "redacted_thinking")


def repair_chain(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """Return the messages that can be replayed, and how many of those given could not.

    - An assistant message whose calls were not all answered in the very next message is left out, and so are
      its partial answers. All that follows stays.
    - A result without its call, and a second one for the same call, is left out.
    - Results stand first in their message, and a call id that occurred before is given a number.
    - Blank texts are left out, and messages that say nothing. Every other prompt stays.
    - A conversation that begins with the assistant gets a line in front that says so.

    A sound chain comes back as it was. Messages of one role may follow one another.
    """
    chain = Chain()
    return chain.follow(messages), chain.dropped


class Chain:
    """A chain that is repaired as it grows, each part once; see `repair_chain`.

    `dropped` counts the messages that could not be kept. `open`: it ends in calls that are not all answered.
    They count as dropped; whoever has their answers begins a chain anew.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self.open = False
        self._begun = False
        self._kept: list[Message] = []
        """Of the messages being followed at the moment."""
        self._ids: set[str] = set()

    def follow(self, messages: Sequence[Message]) -> list[Message]:
        """Return what can be replayed of the next messages."""
        kept: list[Message] = []
        self._kept = kept
        index = 0
        while index < len(messages):
            start, index = index, self._sound_until(messages, index)
            kept += messages[start:index]
            if index < len(messages):
                index += self._take(messages, index)
        if kept and not self._begun and kept[0].role == "assistant":
            kept.insert(0, Message(role="user", content=LOST_BEGINNING))
        self._begun = self._begun or bool(kept)
        return kept

    def _sound_until(self, messages: Sequence[Message], start: int) -> int:  # noqa: C901, PLR0912
        """Return the index of the first message from `start` on that may have to be repaired.

        Nearly all messages go through this and no further, so it is one loop without detours.
        """
        ids = self._ids
        waiting: list[str] = []
        for index in range(start, len(messages)):
            message = messages[index]
            content = message.content
            if waiting:
                if not _answers_plainly(message, waiting):
                    return index - 1
                ids.update(waiting)
                waiting = []
            elif isinstance(content, str):
                if not content or content.isspace():
                    return index
            elif message.role == "user":
                return index
            else:
                says = False
                for block in content:
                    kind = block.get("type")
                    if kind == "text":
                        if not _is_said(block.get("text")):
                            return index
                        says = True
                    elif kind == "tool_use":
                        call = block.get("id")
                        if not isinstance(call, str) or call in ids or call in waiting:
                            return index
                        waiting.append(call)
                    elif kind not in _THINKING:
                        return index
                if not says and not waiting:
                    return index
        return len(messages) - bool(waiting)

    def _take(self, messages: Sequence[Message], index: int) -> int:
        """Keep what can be kept of the message at `index` and of its answers; return how many these are."""
        message = messages[index]
        content = message.content if isinstance(message.content, list) else []
        if message.role == "assistant" and any(_is(block, "tool_use") for block in content):
            calls = [block for block in content if _is(block, "tool_use")]
            answers = _answers(messages, index + 1, calls)
            complete = self._take_calls(message, content, calls, answers)
            self.open = not complete and index + 1 + len(answers) == len(messages)
            return 1 + len(answers)
        self._take_said(message, content)
        return 1

    def _take_said(self, message: Message, content: Sequence[Block]) -> None:
        """Keep a message with what of `content` needs no other message; drop it if that says nothing.

        Thinking alone says nothing.
        """
        said = [block for block in content if _says_something(block) and not _needs_another(block)]
        if message.injected or any(block["type"] not in _THINKING for block in said):
            self._kept.append(_with(message, said))
        else:
            self.dropped += 1

    def _take_calls(
        self,
        message: Message,
        content: list[Block],
        calls: list[Block],
        answers: list[tuple[Message, list[Block]]],
    ) -> bool:
        """Keep a message with calls and the messages that answer it, if they answer all; tell whether."""
        matched = _match(calls, [b for _, blocks in answers for b in blocks if _is(b, "tool_result")])
        if matched is None:
            self.dropped += 1
            for answer, blocks in answers:
                self._take_said(answer, blocks)
            return False
        ids = [self._unique(call["id"]) for call in calls]
        fresh = iter(ids)
        said = [b for b in content if _says_something(b) and not _is(b, "tool_result")]
        renamed = [_renamed(b, "id", next(fresh)) if _is(b, "tool_use") else b for b in said]
        self._kept.append(_with(message, renamed))

        results = [_renamed(_tidy(result), "tool_use_id", ids[number]) for number, result in matched]
        others = [
            block
            for _, blocks in answers
            for block in blocks
            if _says_something(block) and not _needs_another(block)
        ]
        names: dict[str, list[str]] = {}
        for answer, _ in answers:
            names |= answer.variables
        bound = {ids[n]: names[r["tool_use_id"]] for n, r in matched if r["tool_use_id"] in names}
        merged = _with(answers[0][0], results + others)
        if merged.variables != bound:
            merged = msgspec.structs.replace(merged, variables=bound)
        self._kept.append(merged)
        return True

    def _unique(self, name: str) -> str:
        """Return an id that is new in the chain: some servers count their calls from one in each reply."""
        unique, number = name, 2
        while unique in self._ids:
            unique = f"{name}_{number}"
            number += 1
        self._ids.add(unique)
        return unique


def _answers_plainly(message: Message, calls: list[str]) -> bool:
    """Tell an answer that holds one plain result of each call, in their order, and nothing else."""
    content = message.content
    if message.role == "assistant" or isinstance(content, str) or len(content) != len(calls):
        return False
    for block, call in zip(content, calls, strict=True):
        if block.get("tool_use_id") != call or not _is(block, "tool_result"):
            return False
        if not isinstance(block.get("content"), str):
            return False
    return True


def _answers(
    messages: Sequence[Message], index: int, calls: list[Block]
) -> list[tuple[Message, list[Block]]]:
    """Return the messages from `index` on, with their blocks, that are one answer to the calls before them.

    That is the next message, if it holds results, and, as long as a call waits, more that hold nothing else;
    after something that the user said, a result comes too late.
    """
    answers: list[tuple[Message, list[Block]]] = []
    waiting = Counter(str(call.get("id")) for call in calls)
    while index < len(messages) and waiting.total() > 0:
        message = messages[index]
        content = message.content
        if message.role == "assistant" or isinstance(content, str):
            break
        results = [block for block in content if _is(block, "tool_result")]
        if not results:
            break
        answers.append((message, content))
        if len(results) < len(content):
            break
        waiting -= Counter(str(result.get("tool_use_id")) for result in results)
        index += 1
    return answers


def _match(calls: list[Block], results: list[Block]) -> list[tuple[int, Block]] | None:
    """Return the first result of each call with the call's number, in the results' order.

    None if a call has no result, or no id.
    """
    open_calls: dict[str, deque[int]] = defaultdict(deque)
    for number, call in enumerate(calls):
        if not isinstance(call.get("id"), str):
            return None
        open_calls[call["id"]].append(number)
    matched: list[tuple[int, Block]] = []
    for result in results:
        name = result.get("tool_use_id")
        if isinstance(name, str) and open_calls[name]:
            matched.append((open_calls[name].popleft(), result))
    return matched if len(matched) == len(calls) else None


def _is(block: Block, kind: str) -> bool:
    return block.get("type") == kind


def _needs_another(block: Block) -> bool:
    """Tell a block that has a place only beside its call or its result."""
    return block.get("type") in ("tool_use", "tool_result")


def _says_something(block: Block) -> bool:
    kind = block.get("type")
    return _is_said(block.get("text")) if kind == "text" else isinstance(kind, str)


def _is_said(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and bool(text) and not text.isspace()


def _tidy(result: Block) -> Block:
    """Return the result without blank texts in its content."""
    content = result.get("content")
    if not isinstance(content, list):
        return result
    said = [block for block in content if isinstance(block, dict) and _says_something(block)]
    return result if len(said) == len(content) else {**result, "content": said or ""}


def _renamed(block: Block, key: str, name: str) -> Block:
    return block if block[key] == name else {**block, key: name}


def _with(message: Message, content: list[Block]) -> Message:
    """Return the message with this content; itself if that is what it has."""
    return message if message.content == content else msgspec.structs.replace(message, content=content)
