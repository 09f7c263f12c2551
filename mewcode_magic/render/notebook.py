"""A session as a notebook: prompts as `%%agent` cells over the recorded answers, the code that ran as cells.

The format is nbformat 4.5. The notebook opens with what loads the extension; running a prompt's cell asks
anew, and running a code cell runs what the agent ran.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import orjson

from mewcode_magic.messages import Block, Message
from mewcode_magic.render.lines import called
from mewcode_magic.render.markdown import plain_markdown, safe_markdown
from mewcode_magic.render.markdown_printer import code_span
from mewcode_magic.render.pieces import about, code_of, images_of, results_of, text_of_result, title_line
from mewcode_magic.render.text import clean
from mewcode_magic.sessions import SessionInfo

__all__ = ["notebook_of"]

Cell: TypeAlias = dict[str, Any]
Output: TypeAlias = dict[str, Any]

_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook_of(info: SessionInfo, messages: Sequence[Message]) -> bytes:
    """Return a conversation as the text of an `.ipynb` file."""
    head = f"{plain_markdown(title_line(info), heading=1)}\n\n{plain_markdown(about(info))}"
    cells = [{"cell_type": "markdown", "source": head}, _code_cell("%load_ext mewcode")]
    results = results_of(messages)
    for turn in _turns(messages):
        cells += _cells(turn, results)
    for number, cell in enumerate(cells, 1):
        cell.update(id=f"mew-{number}", metadata={})
    notebook = {"cells": cells, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return orjson.dumps(notebook, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Yield the prompts, each with what follows it; what stands before the first is a turn too."""
    turn: list[Message] = []
    for message in messages:
        if message.is_prompt and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def _cells(turn: Sequence[Message], results: Mapping[str, Block]) -> list[Cell]:
    """Return a turn's cells: the prompt with what was answered, then the code that was run for it."""
    prompt, outputs, code = "", [], []
    for message in turn:
        text = clean(message.text()).strip("\n")
        if message.is_prompt:
            prompt = text
            outputs += _image_outputs(message.blocks())
        elif message.role == "assistant":
            if text.strip():
                outputs.append(_markdown(safe_markdown(text), text))
            for call in message.tool_uses():
                said = called(str(call.get("name") or ""), call.get("input"))
                outputs.append(_markdown(safe_markdown(code_span(said)), f"[{said}]"))
                if call.get("name") == "RunPython":
                    code.append(_code_cell(code_of(call)[0], _ran(results.get(str(call.get("id"))))))
    asked = _code_cell(f"%%agent\n{prompt}", outputs)
    return [asked, *code] if prompt or outputs else code


def _ran(result: Block | None) -> list[Output]:
    """Return what running the code gave."""
    if result is None:
        return []
    text = text_of_result(result)
    name = "stderr" if result.get("is_error") else "stdout"
    said = [{"output_type": "stream", "name": name, "text": text}] if text.strip() else []
    return [*said, *_image_outputs(result.get("content"))]


def _image_outputs(blocks: object) -> list[Output]:
    images, lost = images_of(blocks)
    outputs = [_shown({image.kind: image.data, "text/plain": "[image]"}) for image in images]
    if lost:
        told = f"[images that no notebook can hold: {lost:,}]"
        outputs.append(_shown({"text/plain": told}))
    return outputs


def _code_cell(source: str, outputs: list[Output] | None = None) -> Cell:
    return {"cell_type": "code", "execution_count": None, "source": source, "outputs": outputs or []}


def _markdown(markdown: str, plain: str) -> Output:
    return _shown({"text/markdown": markdown, "text/plain": plain})


def _shown(data: dict[str, str]) -> Output:
    return {"output_type": "display_data", "data": data, "metadata": {}}
