"""What a request or a query says, taken apart again: prompts, results, memories, index and instructions.

The offline answers see nothing but the request, as any model does. The forms read here are those that
`context` and `memory` write: blocks in `<system-reminder>` and `<relevant_memories>` come from the program,
all other text from the user.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mewcode_magic.events import Query, Request
from mewcode_magic.memory.document import read_document
from mewcode_magic.messages import Block

__all__ = ["Conversation", "QuotedMemory", "read_query", "read_request"]

_INJECTED = re.compile(r"\s*<(?:system-reminder|relevant_memories)>")
_MEMORY = re.compile(
    r'^<memory name="(?P<name>[^"]*)"[^>]*>\n(?P<body>.*?)\n</memory>$', re.DOTALL | re.MULTILINE
)
_NOT_SAID = ("#", "<!--", "```", "<managed_instructions>", "</managed_instructions>")
"""What lines of the instructions begin with that say nothing by themselves."""
_TAGGED = re.compile(r"<(?P<tag>[a-z]+)>\n(?P<text>.*)\n</(?P=tag)>", re.DOTALL)
_SECTIONS = re.compile(r"^# (mewcodeMd|autoMemory|currentDate)\n", re.MULTILINE)
_ENTRY = re.compile(r"^- (?:\[(?P<name>[^\]]*)\]\([^)]*\)[ \t]*[-—]?[ \t]*)?(?P<text>.*)$", re.MULTILINE)
_CHANGE = re.compile(
    r"^(?:New|Changed|The) \w+ memory (?P<quote>['\"])(?P<name>.*?)(?P=quote)"
    r"(?: is gone\b| \(.*?\): (?P<text>.*)$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class QuotedMemory:
    """A memory as the request has it: its name, and its body or its line in the index."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request's parts."""

    prompt: str
    """What the user said last; "" if the last message only hands results back."""
    results: list[Block]
    """The `tool_result` blocks of the last message."""
    earlier: list[str]
    """The prompts before, oldest first."""
    recalled: list[QuotedMemory]
    """Memories in front of the last prompt, best first."""
    known: list[QuotedMemory]
    """Memories in front of earlier prompts, latest first."""
    index: list[QuotedMemory]
    """The memories of the indexes, with what was told and saved of them since; those come last."""
    instructions: list[str]
    """The lines of the instructions that say something."""
    tools: frozenset[str]


def read_request(request: Request) -> Conversation:
    """Return the parts of a request."""
    users = [_blocks(message) for message in request.messages if message["role"] == "user"]
    prompts = [_typed(blocks) for blocks in users]
    recalled = _memories(users[-1])
    known = {m.name: m for blocks in users[:-1] for m in _memories(blocks)}
    for memory in recalled:
        known.pop(memory.name, None)
    sections = _sections(users[0])
    return Conversation(
        prompt=prompts[-1],
        results=[block for block in users[-1] if block["type"] == "tool_result"],
        earlier=[prompt for prompt in prompts[:-1] if prompt],
        recalled=recalled,
        known=list(reversed(known.values())),
        index=_index(sections.get("autoMemory", ""), request.messages),
        instructions=_lines(sections.get("mewcodeMd", "")),
        tools=frozenset(tool["name"] for tool in request.tools),
    )


def read_query(query: Query) -> Iterator[tuple[str, str]]:
    """Yield the tag and the text of each block of a query that has one."""
    for block in (block for message in query.messages for block in _blocks(message)):
        if found := _TAGGED.fullmatch(str(block.get("text", ""))):
            yield found["tag"], found["text"]


def _blocks(message: dict[str, Any]) -> list[Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _typed(blocks: list[Block]) -> str:
    """Return the text of a message that the user wrote."""
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    return "\n\n".join(text for text in texts if not _INJECTED.match(text)).strip()


def _memories(blocks: list[Block]) -> list[QuotedMemory]:
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    return [
        QuotedMemory(html.unescape(entry["name"]), entry["body"].strip())
        for text in texts
        if text.startswith("<relevant_memories>")
        for entry in _MEMORY.finditer(text)
    ]


def _sections(blocks: list[Block]) -> dict[str, str]:
    """Return the sections of the reminder that a conversation begins with, by their headings."""
    text = str(blocks[0].get("text", "")) if blocks else ""
    _, *rest = _SECTIONS.split(text if _INJECTED.match(text) else "")
    return dict(zip(rest[::2], rest[1::2], strict=True))


def _index(section: str, messages: list[dict[str, Any]]) -> list[QuotedMemory]:
    """Return the memories of the index as they stand at the conversation's end."""
    entries = [QuotedMemory(line["name"] or "", line["text"]) for line in _ENTRY.finditer(section)]
    saving: dict[str, QuotedMemory] = {}
    for block in (block for message in messages for block in _blocks(message)):
        match block:
            case {"type": "text", "text": str(text)} if text.startswith("<system-reminder>"):
                for change in _CHANGE.finditer(text):
                    entries = [entry for entry in entries if entry.name != change["name"]]
                    if change["text"] is not None:
                        entries.append(QuotedMemory(change["name"], change["text"]))
            case {"type": "tool_use", "id": identity, "input": {"action": "save", "body": str(body)}}:
                saving[identity] = QuotedMemory("", body)
            case {"type": "tool_use", "id": identity, "input": {"command": "create", "file_text": str(text)}}:
                memory, _ = read_document(text, _stem_of(block["input"]), "project")
                saving[identity] = QuotedMemory(memory.name, memory.body)
            case {"type": "tool_result", "tool_use_id": identity} if not block.get("is_error"):
                saved = saving.pop(identity, None)
                if saved and not any(entry.text and entry.text in saved.text for entry in entries):
                    entries.append(saved)
    return entries


def _stem_of(arguments: dict[str, Any]) -> str:
    return str(arguments.get("path")).rpartition("/")[2].removesuffix(".md")


def _lines(section: str) -> list[str]:
    """Return the lines that say something, without the paragraph that introduces the section to a model."""
    _, _, text = section.partition("\n\n")
    lines = (line.strip().removeprefix("- ") for line in text.splitlines())
    return [line for line in lines if re.search(r"\w", line) and not line.startswith(_NOT_SAID)]
