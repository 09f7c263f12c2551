"""The answers without a language model, by fixed rules: they quote, remember, and say how to connect one.

Each answer begins by saying what it is. The same request always gets the same answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from mewcode_magic.errors import AnswerUnusable
from mewcode_magic.events import BlockEnded, ModelEvent, Query, Reply, ReplyEnded, Request, TextDelta
from mewcode_magic.memory import Memory, merges_by_rule, rank_by_keywords
from mewcode_magic.messages import Block, Usage
from mewcode_magic.model.answer import read_answer
from mewcode_magic.model.connection import HOW_TO_CONNECT
from mewcode_magic.model.names import OFFLINE
from mewcode_magic.model.rules.asked import (
    asks_for_memories,
    asks_for_recap,
    fact_to_keep,
    variables_to_inspect,
)
from mewcode_magic.model.rules.conversation import Conversation, QuotedMemory, read_request
from mewcode_magic.model.rules.retold import line_on, summary_on
from mewcode_magic.model.rules.saving import call_that_saves

__all__ = ["Offline"]

OPENING = "*Offline: fixed rules, not a language model.*"
INSPECT = "Inspect"
"""The tool that looks at variables."""
SAVED, LOOKED = "offline_", "offline_look_"
"""What the ids of calls begin with."""
QUOTES = 5
"""Most quotes of a kind in an answer."""
LISTED = 20
"""Most entries of a list of prompts or memories, the latest prompts."""
QUOTED_CHARS = 600
LISTED_CHARS = 160
_PIECE = re.compile(r"(?:\s*\S+){1,4}\s*")


class Offline:
    """Quotes what fits the question and saves what it is told to; it sees only the request."""

    name = OFFLINE

    def stream(self, request: Request) -> Iterator[ModelEvent]:
        """Yield the answer: a call, where the prompt says to remember or to look at a variable, else text."""
        conversation = read_request(request)
        if call := _call(conversation):
            name, arguments = call
            identity = f"{LOOKED if name == INSPECT else SAVED}{len(request.messages)}"
            yield BlockEnded({"type": "tool_use", "id": identity, "name": name, "input": arguments})
            yield ReplyEnded("tool_use", Usage(), self.name)
            return
        text = "\n\n".join([OPENING, *_answer(conversation)])
        yield from (TextDelta(piece) for piece in _PIECE.findall(text))
        yield BlockEnded({"type": "text", "text": text})
        yield ReplyEnded("end_turn", Usage(), self.name)

    def query(self, query: Query) -> Reply:
        """Answer what rules can answer.

        Raises:
            AnswerUnusable: that is nothing of this kind.
        """
        if query.kind == "extract":
            from mewcode_magic.model.rules.noting import (
                noted,  # its patterns take 15 ms; the answer comes first
            )

            return Reply(read_answer(json.dumps(noted(query)), query.schema), Usage())
        if query.kind == "condense":
            return Reply(read_answer(json.dumps(merges_by_rule(query)), query.schema), Usage())
        if query.kind == "summary":
            return Reply(read_answer(line_on(query), query.schema), Usage())
        if query.kind == "compact":
            return Reply(read_answer(summary_on(query), query.schema), Usage())
        raise AnswerUnusable(f"offline, {query.kind} has no language model to ask")


def _call(conversation: Conversation) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and the input that a prompt calls for by its words, or None."""
    if fact := fact_to_keep(conversation.prompt):
        return call_that_saves(fact, conversation)
    names = variables_to_inspect(conversation.prompt) if INSPECT in conversation.tools else []
    return (INSPECT, {"names": names}) if names else None


def _answer(conversation: Conversation) -> list[str]:
    """Return the paragraphs of an answer."""
    if conversation.results and not conversation.prompt:
        if str(conversation.results[0].get("tool_use_id")).startswith(LOOKED):
            return _inspected(conversation.results[0], conversation)
        return _outcome(conversation.results)
    if asks_for_recap(conversation.prompt):
        return _recap(conversation.earlier)
    if asks_for_memories(conversation.prompt):
        return _index(conversation, "In memory:")
    if found := _quotes(conversation):
        return found
    nothing = "No memory, instruction or earlier prompt shares the question's words. In memory:"
    return [
        *_index(conversation, nothing),
        f"For answers of a language model, {HOW_TO_CONNECT}.",
    ]


def _inspected(result: Block, conversation: Conversation) -> list[str]:
    """Return what variables hold; where there are none of those names, the answer to the prompt."""
    if result.get("is_error"):
        *earlier, prompt = conversation.earlier
        return _answer(replace(conversation, prompt=prompt, earlier=earlier, results=[]))
    return ["In the kernel:", "\n".join(f"    {line}" for line in _text_of(result).splitlines())]


def _outcome(results: Iterable[Block]) -> list[str]:
    """Return what became of the calls."""
    paragraphs = []
    for result in results:
        told = "That could not be saved:" if result.get("is_error") else "Saved:"
        paragraphs += [told, _quote(_text_of(result), QUOTED_CHARS)]
    return paragraphs


def _text_of(result: Block) -> str:
    content = result.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(block["text"]) for block in content if block["type"] == "text")


def _recap(earlier: Sequence[str]) -> list[str]:
    if not earlier:
        return ["This is the first prompt of the conversation."]
    first = max(0, len(earlier) - LISTED)
    told = f"The last {LISTED} of {len(earlier)} prompts so far:" if first else "Your prompts so far:"
    lines = [f"{n}. {_line(prompt)}" for n, prompt in enumerate(earlier[first:], first + 1)]
    return [told, "\n".join(lines)]


def _index(conversation: Conversation, told: str) -> list[str]:
    """Return the index's memories, one line each; of many, the last ones, which are the user's."""
    if not conversation.index:
        return ["Nothing is in memory yet; `%remember` or a prompt that begins with “remember” changes that."]
    shown = conversation.index[-LISTED:]
    lines = [f"- {_line(f'{m.name}: {m.text}' if m.name else m.text)}" for m in shown]
    more = len(conversation.index) - len(shown)
    return [told, "\n".join(lines), *([f"{more} more: `%memory` lists them."] if more else [])]


def _quotes(conversation: Conversation) -> list[str]:
    """Return quotes of all that shares the question's words."""
    question = conversation.prompt
    known = _matching(question, conversation.known)
    paragraphs = []
    for memory in [*conversation.recalled, *known][:QUOTES]:
        paragraphs += [f"From memory, *{_line(memory.name)}*:", _quote(memory.text, QUOTED_CHARS)]
    lines = _matching(question, [QuotedMemory("", line) for line in conversation.instructions])
    if lines:
        paragraphs += [
            "From the instructions:",
            _quote("\n\n".join(line.text for line in lines), QUOTED_CHARS),
        ]
    prompts = _matching(question, [QuotedMemory("", prompt) for prompt in conversation.earlier])
    if prompts:
        listed = "\n".join(f"- {_line(prompt.text)}" for prompt in prompts)
        paragraphs += ["You said earlier in this conversation:", listed]
    return paragraphs


def _matching(question: str, texts: Sequence[QuotedMemory]) -> list[QuotedMemory]:
    """Return the texts that fit a question, by the same ranking that recalls memories."""
    candidates = {f"{m.name}\n{m.text}": m for m in texts if m.text.strip() != question.strip()}
    drafts = [Memory(m.name, m.text, "project", m.text, extra={"key": key}) for key, m in candidates.items()]
    return [candidates[memory.extra["key"]] for memory in rank_by_keywords(question, drafts, limit=QUOTES)]


def _quote(text: str, limit: int) -> str:
    """Return text as a quote of Markdown, which nothing inside it can end."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LISTED_CHARS else text[: LISTED_CHARS - 1] + "…"
