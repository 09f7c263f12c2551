"""Conversations as tests draw them: any that a file may hold, and those that turns leave behind."""

import functools
import json
import math
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from mewcode_magic.events import Request
from mewcode_magic.messages import Message

texts = st.text(st.characters(), max_size=12) | st.sampled_from(["", " ", "\ud83d", "a\0b", "ok"])
ids = st.sampled_from(["t1", "t2", "t3", "call 4!"])
names = st.sampled_from(["ReadFile", "bad name", "x" * 70, ""])
text_blocks = st.builds(lambda t: {"type": "text", "text": t}, texts)
images = st.sampled_from(
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "aGk="}},
        {"type": "image"},
    ]
)
thinking = st.sampled_from(
    [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "half \ud83d", "signature": "s"},
        {"type": "thinking", "thinking": "a\0b", "signature": "s"},
        {"type": "redacted_thinking", "data": "xyz"},
    ]
)
deep: Any = functools.reduce(lambda inner, _: {"a": [inner]}, range(400), "x")
values = texts | st.just(deep) | st.sampled_from([math.inf, -math.inf, math.nan, 10**30])
calls = st.builds(
    lambda i, n, v: {"type": "tool_use", "id": i, "name": n, "input": {"a": v}}, ids, names, values
)
results = st.builds(
    lambda i, c, e: {"type": "tool_result", "tool_use_id": i, "content": c, "is_error": e},
    ids,
    texts | st.lists(text_blocks | images, max_size=2) | st.none(),
    st.booleans(),
)
any_block = text_blocks | images | thinking | calls | results
messages = st.builds(
    lambda role, content, injected: Message(role=role, content=content, injected=injected),
    st.sampled_from(["user", "assistant"]),
    texts | st.lists(any_block, max_size=4),
    st.just([]) | st.lists(text_blocks, max_size=1),
)
any_history = st.lists(messages, max_size=9)
"""Messages in any order and of any form."""


@dataclass(frozen=True)
class Round:
    """What a model made of one request; `end` says what became of the turn then.

    `calls`: how many, all answered, by `images` or texts. `end`: "goes-on" to the next request, "done",
    "failed" without a word, "stopped" in the middle.
    """

    calls: int
    end: str
    images: bool = False


rounds = st.builds(
    Round,
    st.sampled_from([0, 1, 3, 25, 60]),
    st.sampled_from(["goes-on", "goes-on", "done", "failed", "stopped"]),
    st.booleans(),
)
turns = st.lists(
    st.tuples(st.integers(0, 30), st.lists(rounds, min_size=1, max_size=3)), min_size=1, max_size=6
)
"""Turns: how many blocks stand in front of the prompt, and the rounds."""


def prompt_of(number: int, blocks: int) -> Message:
    """Return the prompt of a turn."""
    injected = [{"type": "text", "text": f"notice {number}.{n}"} for n in range(blocks)]
    return Message(role="user", content=f"prompt {number}", injected=injected)


def said_in(round_: Round, number: str) -> list[Message]:
    """Return what is recorded of a round."""
    if round_.end == "failed":
        return []
    said = {"type": "text", "text": f"reply {number}"}
    thought = {"type": "thinking", "thinking": "", "signature": "s"}
    ids = [f"toolu_{number}_{n}" for n in range(round_.calls)]
    uses = [{"type": "tool_use", "id": i, "name": "Bash", "input": {"command": "ls"}} for i in ids]
    stopped = round_.end == "stopped"
    reply = Message(role="assistant", content=[thought, said, *uses], interrupted=stopped)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    content: Any = [{"type": "text", "text": "a plot"}, image] if round_.images else "files"
    results = [{"type": "tool_result", "tool_use_id": i, "content": content} for i in ids]
    return [reply, Message(role="user", content=results)] if ids else [reply]


def blocks_of(request: Request) -> list[str]:
    """Return a request's blocks in their order, each with its role, as the bytes that are sent of it."""
    sent = [("system", block) for block in request.system]
    sent += [(message["role"], block) for message in request.messages for block in message["content"]]
    return [json.dumps([role, {k: v for k, v in b.items() if k != "cache_control"}]) for role, b in sent]


def breakpoints_of(request: Request) -> list[int]:
    """Return at which of the request's blocks its cache breakpoints stand."""
    blocks = [*request.system, *(block for message in request.messages for block in message["content"])]
    return [number for number, block in enumerate(blocks) if "cache_control" in block]
