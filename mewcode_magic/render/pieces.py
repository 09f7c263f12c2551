"""What a session's calls, results and images are, for the forms that it is exported in."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass

from mewcode_magic.clock import local
from mewcode_magic.messages import Block, Message
from mewcode_magic.render.text import clean, line
from mewcode_magic.sessions import SessionInfo

__all__ = ["Image", "about", "code_of", "images_of", "results_of", "text_of_result", "title_line"]

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}

_CODE = {"RunPython": ("code", "python"), "ProposeCell": ("code", "python"), "Bash": ("command", "bash")}
"""The tools whose call is code: the argument that holds it, and its language."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a file can hold: its MIME type, and its data in base64."""

    kind: str
    data: str

    @property
    def ending(self) -> str:
        """The ending of a file of it, without the dot."""
        return _ENDINGS[self.kind]


def title_line(info: SessionInfo) -> str:
    """Return a session's title as one line."""
    return line(info.title) or f"Session {info.id}"


def about(info: SessionInfo) -> str:
    """Return one line on a session: its id and when it took place."""
    begun, ended = (
        f"{local(time):%Y-%m-%d %H:%M}" if time else "" for time in (info.created, info.last_active)
    )
    span = f"{begun} to {ended}" if begun and ended and begun != ended else begun or ended
    return " · ".join(part for part in (f"MewCode session {info.id}", span) if part)


def code_of(call: Block) -> tuple[str, str]:
    """Return the code that a call carries and its language; of other calls, the arguments as JSON."""
    arguments = call.get("input")
    key, language = _CODE.get(str(call.get("name")), ("", ""))
    if isinstance(arguments, dict) and isinstance(code := arguments.get(key), str):
        return clean(code), language
    return clean(json.dumps(arguments or {}, ensure_ascii=False, indent=2)), "json"


def results_of(messages: Sequence[Message]) -> dict[str, Block]:
    """Return the first result of each call, by the call's id."""
    results: dict[str, Block] = {}
    for message in messages:
        for result in message.tool_results():
            results.setdefault(str(result.get("tool_use_id")), result)
    return results


def text_of_result(result: Block) -> str:
    """Return the text of a result."""
    content = result.get("content")
    if not isinstance(content, list):
        return clean(str(content or ""))
    texts = [block.get("text") for block in content if isinstance(block, dict)]
    return clean("\n".join(text for text in texts if isinstance(text, str)))


def images_of(blocks: object) -> tuple[list[Image], int]:
    """Return the images among blocks, and how many there are beside them that no file can hold."""
    found, lost = [], 0
    for block in blocks if isinstance(blocks, list) else []:
        if not isinstance(block, dict) or block.get("type") != "image":
            continue
        match block.get("source"):
            case {"type": "base64", "media_type": str(kind), "data": str(data)} if (
                kind in _ENDINGS and _is_base64(data)
            ):
                found.append(Image(kind, data))
            case _:
                lost += 1
    return found, lost


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return False
