"""A session as a Markdown file to read, print or send: prompts word for word, answers, calls and results.

What a model, a tool or a user wrote is data: answers go through `safe_markdown`, all else stands in fences
that nothing in it can close. There is no HTML, and the only images are the session's own, as files beside.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from mewcode_magic.messages import Block, Message
from mewcode_magic.render.markdown import plain_markdown, safe_markdown
from mewcode_magic.render.markdown_printer import fenced
from mewcode_magic.render.pieces import about, code_of, images_of, results_of, text_of_result, title_line
from mewcode_magic.render.text import clean, line
from mewcode_magic.render.transcript import who_said
from mewcode_magic.sessions import SessionInfo

__all__ = ["Document", "document_of"]


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown text, and the images that it shows, by their names in the folder that it takes them from."""

    text: str
    images: Mapping[str, bytes] = field(default_factory=dict)


def document_of(info: SessionInfo, messages: Sequence[Message], *, folder: str) -> Document:
    """Return a conversation as a document; `folder`, beside it, is where its images go."""
    writer = _Writer(folder, results_of(messages))
    parts = [plain_markdown(title_line(info), heading=1), plain_markdown(about(info))]
    for message in messages:
        parts += writer.message(message)
    return Document("\n\n".join(parts) + "\n", writer.files)


class _Writer:
    """Writes one message after the other, and collects their images."""

    def __init__(self, folder: str, results: Mapping[str, Block]) -> None:
        self.files: dict[str, bytes] = {}
        self._folder, self._results = folder, results
        self._answering = False
        """Whether the agent has spoken since the last prompt: its turn has one heading."""

    def message(self, message: Message) -> Iterator[str]:
        """Yield the parts of a message; results come with their call."""
        text = clean(message.text()).strip()
        if message.is_prompt:
            self._answering = False
            yield plain_markdown(who_said(message), heading=2)
            if text:
                yield fenced(text)
            yield from self._images(message.blocks())
            return
        if message.role != "assistant":
            return
        if not self._answering:
            self._answering = True
            yield plain_markdown(who_said(message), heading=2)
        if text:
            yield safe_markdown(text)
        for call in message.tool_uses():
            yield from self._call(call)
        if message.interrupted:
            yield "*Stopped here.*"

    def _call(self, call: Block) -> Iterator[str]:
        yield f"**{plain_markdown(line(str(call.get('name')), 100))}**"
        yield fenced(*code_of(call))
        result = self._results.get(str(call.get("id")))
        if result is None:
            yield "*No result.*"
            return
        text = text_of_result(result)
        yield "Failed:" if result.get("is_error") else "Result:"
        if text.strip():
            yield fenced(text)
        yield from self._images(result.get("content"))

    def _images(self, blocks: object) -> Iterator[str]:
        images, lost = images_of(blocks)
        for image in images:
            name = f"{len(self.files) + 1}.{image.ending}"
            self.files[name] = base64.b64decode(image.data)
            yield f"![{name}]({quote(self._folder)}/{name})"
        if lost:
            yield f"*Images that the session holds in no form that a file could have: {lost:,}.*"
