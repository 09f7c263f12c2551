"""What is sent in place of a result or an image, as `trimmed` records say it.

::

    {"role": "trimmed", "content": {"toolu_1": "…", "@3": "…"}, "ts": 1736951405}

A key is a call's id, as it is unique in what is replayed, and its text stands in place of the result. Or it
is `@N`, which no id can be, and its text stands in place of each image in front of the N-th prompt, counted
from 1, from the beginning or the last boundary. Later records go before earlier ones; a boundary ends them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mewcode_magic.messages import Block, Message

__all__ = ["prompt_key", "replacements_in", "trimmed_messages"]


def prompt_key(number: int) -> str:
    """Return what the images in front of a prompt are named by; prompts count from 1."""
    return f"@{number}"


def replacements_in(content: Any) -> dict[str, str]:
    """Return what a `trimmed` record says, without what is none of it."""
    if not isinstance(content, dict):
        return {}
    return {key: text for key, text in content.items() if isinstance(text, str) and text.strip()}


def trimmed_messages(messages: Sequence[Message], replacements: Mapping[str, str]) -> list[Message]:
    """Return the messages of a repaired chain with the replacements in their places."""
    if not replacements:
        return list(messages)
    trimmed: list[Message] = []
    prompts = 0
    for message in messages:
        prompts += message.is_prompt
        if message.role == "assistant":
            trimmed.append(message)
        elif message.is_prompt:
            trimmed.append(_without_images(message, replacements.get(prompt_key(prompts))))
        else:
            trimmed.append(_with_results(message, replacements))
    return trimmed


def _without_images(prompt: Message, text: str | None) -> Message:
    if text is None:
        return prompt

    def line_for(block: Block) -> Block:
        return {"type": "text", "text": text} if block.get("type") == "image" else block

    content = prompt.content
    return msgspec.structs.replace(
        prompt,
        injected=[line_for(block) for block in prompt.injected],
        content=content if isinstance(content, str) else [line_for(block) for block in content],
    )


def _with_results(message: Message, replacements: Mapping[str, str]) -> Message:
    content = message.content
    if isinstance(content, str) or not any(block.get("tool_use_id") in replacements for block in content):
        return message
    replaced = [
        {**block, "content": text}
        if block.get("type") == "tool_result" and (text := replacements.get(str(block.get("tool_use_id"))))
        else block
        for block in content
    ]
    return msgspec.structs.replace(message, content=replaced)
