"""Reading a transcript of Claude Code, `~/.claude/projects/FOLDER/UUID.jsonl`: one JSON object a line.

::

    {"type": "user", "message": {"role": "user", "content": "…"}, "uuid": "u1", "parentUuid": null,
     "isSidechain": false, "timestamp": "2026-06-18T09:15:00.123Z", "sessionId": "…", "cwd": "…"}
    {"type": "assistant", "message": {"id": "msg_1", "model": "…", "content": [one block], "usage": {…}},
     "uuid": "a1", "parentUuid": "u1", …}
    {"type": "system", "subtype": "compact_boundary", "uuid": "c1", "parentUuid": null,
     "logicalParentUuid": "a9", …}, then a user line with "isCompactSummary": true
    {"type": "custom-title", "customTitle": "…"}, "ai-title" with "aiTitle", "summary" with "summary"

The blocks of one reply stand on lines of their own, under one `message.id`. `parentUuid` makes a tree of the
lines: who goes back and asks again leaves the old branch in the file. The conversation is the branch of the
last line. Results of parallel calls hang each on the line of its call, beside the branch. Lines of agents
that the agent started (`isSidechain`), and what the program wrote for itself, are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mewcode_magic.messages import Block, Message
from mewcode_magic.sessions.records import Marker, ts_of, usage_of, values_in

__all__ = ["Transcript", "is_claude_code", "read_claude_code"]

Entry: TypeAlias = dict[str, Any]
"""One line as it was parsed."""

_Found: TypeAlias = tuple[Block | None, float | None]

UNANSWERED = "(The transcript holds no result of this call.)"

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""The kinds of lines that hold a title, the one that counts most first, and under which key."""

_INTERRUPTED = "[Request interrupted by user"
_COMMAND = re.compile(r"<command-name>\s*(\S+?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_COMMAND_START = re.compile(r"\s*<command-(?:name|message|args)>")
_OWN_OUTPUT = re.compile(r"\s*<local-command-(?:stdout|stderr)>")
_FOR_ITSELF = re.compile(r"\s*<local-command-caveat>")
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_PUT_IN_FRONT = re.compile(r"\s*<(?:ide_\w+|bash-(?:input|stdout|stderr)|task-notification)>")
"""What the program told the model in the user's name."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a transcript holds; `skipped` counts lines that could not be read, wholly or in part."""

    records: list[Message | Marker]
    title: str
    skipped: int


@dataclass(slots=True)
class _Reply:
    """A reply of which one line after the other is read."""

    id: str
    ts: float | None
    model: str | None
    blocks: list[Block] = field(default_factory=list)
    usage: Any = None
    interrupted: bool = False


@dataclass(slots=True)
class _Prompt:
    """What stands in the user's name; `command`: it is one of the program's slash commands."""

    ts: float | None
    texts: list[str] = field(default_factory=list)
    injected: list[Block] = field(default_factory=list)
    command: bool = False


def is_claude_code(value: Any) -> bool:
    """Tell a line of such a transcript, as it was parsed, from a record of a session file."""
    return (
        isinstance(value, dict)
        and value.get("type") in ("user", "assistant")
        and isinstance(value.get("message"), dict)
    )


def read_claude_code(lines: Iterable[bytes]) -> Transcript:
    """Return the conversation in the lines of a transcript, in a form that can be recorded and replayed.

    A reply is one message and the results of its calls are the next; a call without a result gets one that
    says so. Thinking is kept with its signature or not at all. What was compacted stays in front of the
    boundary, which holds the summary.
    """
    entries: list[Entry] = []
    titles: dict[str, str] = {}
    skipped = 0
    for line in lines:
        values, lost, _ = values_in(line)
        skipped += lost or not all(isinstance(value, dict) for value in values)
        for value in values:
            if not isinstance(value, dict):
                continue
            if isinstance(title := value.get(_TITLES.get(str(value.get("type")), "")), str):
                titles[value["type"]] = title
            if isinstance(value.get("uuid"), str):
                entries.append(value)
    title = next((titles[kind] for kind in _TITLES if titles.get(kind, "").strip()), "")
    return Transcript(list(_records(entries)), title, skipped)


def _records(entries: list[Entry]) -> Iterator[Message | Marker]:
    results = _results(entries)
    for said in _said(_branch(entries)):
        match said:
            case _Reply():
                yield from _reply(said, results)
            case _Prompt():
                yield Message(
                    role="user", content="\n\n".join(said.texts), injected=said.injected, time=said.ts
                )
            case Marker():
                yield said


def _branch(entries: list[Entry]) -> list[Entry]:
    """Return the entries from the first to the last thing said, each followed by one that answers it.

    A compaction has no parent but says what stood before it; what it kept may be written again behind it,
    and is taken there. Where a parent's line was lost, what stands before it in the file takes its place.
    """
    places = {entry["uuid"]: place for place, entry in enumerate(entries)}
    mains = [place for place, entry in enumerate(entries) if _is_main(entry)]
    said = [place for place in mains if is_claude_code(entries[place]) and not entries[place].get("isMeta")]
    place = said[-1] if said else -1
    branch: dict[str, Entry] = {}
    seen: set[int] = set()
    while place >= 0 and place not in seen:
        seen.add(place)
        entry = entries[place]
        branch.setdefault(entry["uuid"], entry)
        parent = entry.get("parentUuid") or entry.get("logicalParentUuid")
        if not parent:
            break
        place = places[parent] if places.get(parent, place) not in seen else _last_before(mains, place)
    return list(branch.values())[::-1]


def _last_before(places: list[int], place: int) -> int:
    return max((other for other in places if other < place), default=-1)


def _is_main(entry: Entry) -> bool:
    """Tell what belongs to the conversation itself from what an agent of the agent said."""
    return not (entry.get("isSidechain") or entry.get("teamName"))


def _results(entries: list[Entry]) -> dict[str, _Found]:
    """Return the first result of each call, wherever it stands, and when it came."""
    results: dict[str, _Found] = {}
    for entry in entries:
        if _is_main(entry) and is_claude_code(entry) and entry["type"] == "user":
            for block in _blocks(entry["message"].get("content")):
                if block.get("type") == "tool_result" and isinstance(call := block.get("tool_use_id"), str):
                    results.setdefault(call, (block, ts_of(entry)))
    return results


def _said(branch: list[Entry]) -> list[_Reply | _Prompt | Marker]:
    """Return the branch as replies, prompts and boundaries."""
    said: list[_Reply | _Prompt | Marker] = []
    for entry in branch:
        if not _is_main(entry) or entry.get("isMeta") or entry.get("isApiErrorMessage"):
            continue
        if entry.get("isCompactSummary"):
            summary = "\n\n".join(b["text"] for b in _content(entry) if _is_text(b))
            said.append(Marker("compact_boundary", {"summary": summary, "keep": []}, ts_of(entry)))
        elif entry.get("type") == "assistant":
            _add_reply(said, entry)
        else:
            _add_prompt(said, entry)
    return said


def _add_reply(said: list[_Reply | _Prompt | Marker], entry: Entry) -> None:
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("model") == "<synthetic>":  # the program's own words
        return
    name = str(message.get("id") or entry["uuid"])
    reply = said[-1] if said else None
    if not isinstance(reply, _Reply) or reply.id != name:
        model = message.get("model")
        reply = _Reply(name, ts_of(entry), model if isinstance(model, str) else None)
        said.append(reply)
    reply.blocks += [b for b in _content(entry) if _is_sayable(b) and b not in reply.blocks]
    reply.usage = message.get("usage") or reply.usage  # each line has what was counted so far


def _add_prompt(said: list[_Reply | _Prompt | Marker], entry: Entry) -> None:
    """Take what stands in the user's name, unless that is results, which are found by their call."""
    prompt = _Prompt(ts_of(entry))
    for block in _content(entry):
        kind = block.get("type")
        text = _REMINDER.sub("", block["text"]) if _is_text(block) else ""
        if text.startswith(_INTERRUPTED):
            _interrupt(said)
        elif _OWN_OUTPUT.match(text):
            if said and isinstance(last := said[-1], _Prompt) and last.command:
                said.pop()  # the program answered it, not the model
        elif _COMMAND_START.match(text):
            words = [match[1].strip() for match in (_COMMAND.search(text), _ARGUMENTS.search(text)) if match]
            prompt.texts.append(" ".join(words).strip())
            prompt.command = True
        elif _PUT_IN_FRONT.match(text) or kind in ("image", "document"):
            prompt.injected.append(block)
        elif text.strip() and not _FOR_ITSELF.match(text):
            prompt.texts.append(text)
    if any(prompt.texts) or prompt.injected:
        said.append(prompt)


def _interrupt(said: list[_Reply | _Prompt | Marker]) -> None:
    if said and isinstance(said[-1], _Reply):
        said[-1].interrupted = True


def _reply(reply: _Reply, results: dict[str, _Found]) -> Iterator[Message]:
    """Yield a reply, and the results of its calls."""
    if not reply.blocks:
        return
    usage = usage_of(reply.usage)
    yield Message(
        role="assistant",
        content=reply.blocks,
        time=reply.ts,
        model=reply.model,
        usage=usage,
        interrupted=reply.interrupted,
    )
    calls = [block["id"] for block in reply.blocks if block["type"] == "tool_use"]
    if calls:
        found = [results.get(call, (None, None)) for call in calls]
        answers = [_result(call, block) for call, (block, _) in zip(calls, found, strict=True)]
        times = [ts for _, ts in found if ts is not None]
        yield Message(role="user", content=answers, time=max(times, default=reply.ts))


def _result(call: str, block: Block | None) -> Block:
    result: Block = {"type": "tool_result", "tool_use_id": call}
    if block is None:
        return {**result, "content": UNANSWERED, "is_error": True}
    content = block.get("content")
    if isinstance(content, list):
        content = [part for part in _blocks(content) if _is_text(part) or part.get("type") == "image"]
    failed = {"is_error": True} if block.get("is_error") is True else {}
    return {**result, "content": content if isinstance(content, str | list) else "", **failed}


def _is_sayable(block: Block) -> bool:
    """Tell a reply's block that may stand in another request; others need tools that only the program has."""
    match block:
        case {"type": "text"}:
            return _is_text(block)
        case {"type": "thinking", "signature": str(seal)} | {"type": "redacted_thinking", "data": str(seal)}:
            return bool(seal)
        case {"type": "tool_use", "id": str(), "name": str(), "input": dict()}:
            return True
    return False


def _is_text(block: Block) -> bool:
    text = block.get("text")
    return block.get("type") == "text" and isinstance(text, str) and bool(text.strip())


def _content(entry: Entry) -> list[Block]:
    """Return the blocks of an entry; what was typed while the model worked is an attachment."""
    match entry:
        case {"type": "user" | "assistant", "message": {"content": content}}:
            return _blocks(content)
        case {"attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": content}}:
            return _blocks(content)
    return []


def _blocks(content: Any) -> list[Block]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
