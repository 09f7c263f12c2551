"""What the Messages API demands of a request: each broken demand is a 400 that ends a session for good."""

import itertools
import json
import re
from typing import Any

IMAGE_TYPES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
KNOWN_TOOLS = {"memory_20250818": "memory"}
"""The names that tools of the API's own types have; their schemas are not sent."""


def broken_rules(body: dict[str, Any]) -> list[str]:
    """Return the demands that a request's body breaks; the body is as the API takes it."""
    messages = [{**m, "content": _as_blocks(m["content"])} for m in body["messages"]]
    broken = [
        *_roles(messages),
        *_calls(messages),
        *_blocks(messages),
        *_breakpoints(body, messages),
        *_tools(body.get("tools", [])),
    ]
    try:
        if "\\u0000" in json.dumps(body) or json.dumps(body, ensure_ascii=False).encode() is None:
            broken.append("a NUL in the body")
        json.dumps(body, allow_nan=False)
    except UnicodeEncodeError:
        broken.append("a lone surrogate in the body")
    except (ValueError, RecursionError) as error:
        broken.append(f"the body is no JSON: {error}")
    return broken


def _as_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _roles(messages: list[dict[str, Any]]) -> list[str]:
    roles = [m["role"] for m in messages]
    broken = []
    if not roles or roles[0] != "user" or roles[-1] != "user":
        broken.append(f"the first and the last message are the user's: {roles}")
    if any(a == b for a, b in itertools.pairwise(roles)):
        broken.append(f"roles alternate: {roles}")
    return broken


def _calls(messages: list[dict[str, Any]]) -> list[str]:
    broken = []
    seen: set[str] = set()
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        kinds = [b["type"] for b in message["content"]]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls):
            broken.append(f"message {number}: results {results} for calls {open_calls}")
        if kinds[: len(results)] != ["tool_result"] * len(results):
            broken.append(f"message {number}: results come first: {kinds}")
        calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        if len(set(calls)) != len(calls) or seen & set(calls):
            broken.append(f"message {number}: call ids are unique: {calls}")
        if any(not re.fullmatch("[a-zA-Z0-9_-]+", i) for i in calls):
            broken.append(f"message {number}: characters of call ids: {calls}")
        if (calls and message["role"] != "assistant") or (results and message["role"] != "user"):
            broken.append(f"message {number}: {kinds} in a message of {message['role']}")
        seen |= set(calls)
        open_calls = calls
    if open_calls:
        broken.append(f"calls without results: {open_calls}")
    return broken


def _blocks(messages: list[dict[str, Any]]) -> list[str]:
    broken = []
    for number, message in enumerate(messages):
        if not message["content"]:
            broken.append(f"message {number} is empty")
            continue
        if message["role"] == "assistant" and "thinking" in message["content"][-1]["type"]:
            broken.append(f"message {number} ends in thinking")
        for block in message["content"]:
            broken += [f"message {number}: {fault}" for fault in _block(block, message["role"])]
    return broken


def _block(block: dict[str, Any], role: str) -> list[str]:
    match block["type"]:
        case "text" if not block["text"].strip():
            return ["an empty text block"]
        case "thinking" if not block.get("signature") or role != "assistant":
            return ["thinking without signature, or not the assistant's"]
        case "tool_use" if not isinstance(block["input"], dict) or not re.fullmatch(
            "[a-zA-Z0-9_-]{1,64}", block["name"]
        ):
            return [f"a call's name or input: {block['name']!r}"]
        case "image" if block["source"].get("media_type", "image/png") not in IMAGE_TYPES:
            return ["an image of another type"]
        case "image" if role != "user":
            return ["an image of the assistant's"]
        case "tool_result" if not block["content"]:
            return ["an empty result"]
        case "tool_result" if isinstance(block["content"], list):
            return [fault for part in block["content"] for fault in _block(part, "user")]
    return []


def _breakpoints(body: dict[str, Any], messages: list[dict[str, Any]]) -> list[str]:
    system = body.get("system", [])
    blocks = [
        *body.get("tools", []),
        *(system if isinstance(system, list) else []),
        *(b for m in messages for b in m["content"]),
    ]
    marked = [b for b in blocks if "cache_control" in b]
    broken = [f"{len(marked)} cache breakpoints"] if len(marked) > 4 else []
    return broken + [
        f"a breakpoint on a block of type {b['type']}" for b in marked if "thinking" in b.get("type", "")
    ]


def _tools(tools: list[dict[str, Any]]) -> list[str]:
    broken = [f"tool name {t['name']!r}" for t in tools if not re.fullmatch("[a-zA-Z0-9_-]{1,64}", t["name"])]
    for tool in tools:
        if (kind := tool.get("type", "custom")) == "custom":
            broken += [] if "input_schema" in tool else [f"tool {tool['name']!r} without a schema"]
        elif KNOWN_TOOLS.get(kind) != tool["name"] or tool.keys() - {"type", "name", "cache_control"}:
            broken.append(f"a tool of type {kind!r} that the API does not know so: {tool}")
    return broken
