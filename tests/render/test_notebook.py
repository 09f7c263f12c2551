"""A session as a notebook: valid, and cells that run as they are."""

from typing import Any

import nbformat
import pytest
from exported_sessions import HOSTILE, IMAGE, PIXEL, call, conversation, info, tokens

from mewcode_magic.messages import Message
from mewcode_magic.render.notebook import notebook_of


def notebook(messages: list[Message], title: str = "Sales") -> Any:
    """Return the notebook as its format's own reader has it, which refuses what is not valid."""
    read = nbformat.reads(notebook_of(info(title), messages).decode(), as_version=nbformat.NO_CONVERT)
    nbformat.validate(read)
    assert (read.nbformat, read.nbformat_minor) == (4, 5)
    return read


def test_prompts_are_agent_cells_over_the_recorded_answers() -> None:
    messages = [
        *conversation({"type": "text", "text": "I *look*."}, call("RunPython", code="df.head()"), result="1"),
        Message(role="assistant", content="Done."),
        Message(role="user", content="thanks {you}\n--really?"),
    ]
    head, load, first, code, second = notebook(messages).cells
    assert head.source.startswith("# Sales\n")
    assert load.source == "%load_ext mewcode"
    assert first.source == "%%agent\ngo"
    assert [o["data"]["text/markdown"] for o in first.outputs] == [
        "I *look*.",
        "`RunPython: df.head()`",
        "Done.",
    ]
    assert (code.cell_type, code.source) == ("code", "df.head()")
    assert [(o.output_type, o.name, o.text) for o in code.outputs] == [("stream", "stdout", "1")]
    assert second.source == "%%agent\nthanks {you}\n--really?"
    assert second.outputs == []


def test_images_and_failures_of_code_are_outputs() -> None:
    result = [{"type": "text", "text": "ZeroDivisionError"}, IMAGE, {"type": "image", "source": None}]
    *_, code = notebook(conversation(call("RunPython", code="1/0"), result=result, is_error=True)).cells
    assert (code.outputs[0].name, code.outputs[0].text) == ("stderr", "ZeroDivisionError")
    assert code.outputs[1]["data"]["image/png"] == PIXEL
    assert code.outputs[2]["data"] == {"text/plain": "[images that no notebook can hold: 1]"}


@pytest.mark.parametrize("bad", [*HOSTILE, "\ud800 half", "\0"])
def test_answers_are_harmless_markdown(bad: str) -> None:
    blocks = ({"type": "text", "text": bad}, call(bad, **{bad: bad}), call("RunPython", code=bad))
    cells = notebook(conversation(*blocks, prompt=bad, result=bad), title=bad).cells
    markdown = [cells[0].source, *(o["data"].get("text/markdown", "") for o in cells[2].outputs)]
    found = [t for text in markdown for t in tokens(text)]
    assert [t.content for t in found if t.type in ("html_block", "html_inline", "image")] == []


def test_empty_session_is_a_notebook_too() -> None:
    assert len(notebook([]).cells) == 2
