"""`ReadFile` gives a notebook as its cells and outputs, whatever stands in it."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tool_calls import run_tool

from mewcode_magic.tools import ReadFile, ToolContext, ToolResult


def read(context: ToolContext, **limits: int) -> ToolResult:
    return run_tool(ReadFile(), context, path="a.ipynb", **limits)


def write(project: Path, *cells: Any) -> None:
    notebook = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "a.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def code(source: Any, *outputs: Any, count: int | None = 1) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": "abc",
        "source": source,
        "execution_count": count,
        "outputs": list(outputs),
        "metadata": {},
    }


def shown(**data: Any) -> dict[str, Any]:
    bundle = {kind.replace("_", "/", 1): value for kind, value in data.items()}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def image(color: str) -> str:
    file = io.BytesIO()
    Image.new("RGB", (8, 4), color).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def test_cells_come_with_their_outputs(context: ToolContext, project: Path) -> None:
    write(
        project,
        {"cell_type": "markdown", "source": ["# Sales\n", "by month"], "metadata": {}},
        code(
            "df\nprint(1)",
            {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
            shown(text_html="<table>", text_plain="a  b"),
            {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["long"]},
        ),
        code("later", count=None),
    )
    assert read(context).text == (
        "--- cell 1: markdown\n# Sales\nby month\n\n"
        "--- cell 2: code [1], id abc\ndf\nprint(1)\n"
        "--- output: stdout\n1\n--- output: text/plain\na  b\n--- output: error KeyError\n'x'\n\n"
        "--- cell 3: code [not run], id abc\nlater"
    )


def test_offset_and_limit_count_cells(context: ToolContext, project: Path) -> None:
    write(project, *(code(f"cell_{n}") for n in range(1, 10)))
    text = read(context, offset=3, limit=2).text
    assert [f"cell_{n}" in text for n in range(1, 10)] == [n in (3, 4) for n in range(1, 10)]
    assert text.endswith("(more cells follow, 9 in all; read on with offset=5)")
    assert read(context, offset=10).text == "a.ipynb has only 9 cells"


def test_images_become_blocks_up_to_four_the_others_are_mentioned(
    context: ToolContext, project: Path
) -> None:
    write(project, *(code("plot()", shown(image_png=image("red"), text_plain="<Figure>")) for _ in range(6)))
    result = read(context)
    assert len(result.images) == 4
    assert result.text.count("image: PNG, 8 x 4 pixels (image") == 4
    assert result.text.count("--- output: image/png, not shown") == 2
    assert "(image 4 below)" in result.text


@pytest.mark.parametrize("data", ["no base64!", base64.b64encode(b"no image").decode(), "", None, 5, ["x"]])
def test_damaged_image_is_told_not_sent(context: ToolContext, project: Path, data: Any) -> None:
    write(project, code("plot()", shown(image_png=data)))
    result = read(context)
    assert result.images == ()
    assert "--- output: image/png, damaged" in result.text


def test_svg_in_an_output_is_never_an_image(context: ToolContext, project: Path) -> None:
    write(project, code("plot()", {"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}}))
    result = read(context)
    assert result.images == ()
    assert "--- output: image/svg+xml" in result.text


def test_long_outputs_and_many_cells_are_bounded(context: ToolContext, project: Path) -> None:
    long = {"output_type": "stream", "name": "stdout", "text": "y" * 100_000}
    write(project, *(code("x" * 100_000, long) for _ in range(10)))
    text = read(context).text
    assert len(text) < 50_000
    assert "(100,000 characters)" in text
    assert "offset=3" in text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n",
        b"no json",
        b"[1]",
        b"5",
        b'{"cells": 5}',
        b'{"cells": {"a": 1}}',
        b"\xff\xfe",
        b"{" * 9_000,
    ],
)
def test_what_is_no_notebook_is_one_line_that_says_so(
    context: ToolContext, project: Path, content: bytes
) -> None:
    (project / "a.ipynb").write_bytes(content)
    result = read(context)
    assert "\n" not in result.text.strip() or not content.strip()
    assert result.is_error == bool(content.strip())


@pytest.mark.parametrize(
    "cell", [{}, 5, None, {"source": 5, "outputs": 5}, {"outputs": [5, {}, {"data": 5}]}]
)
def test_odd_cells_break_nothing(context: ToolContext, project: Path, cell: Any) -> None:
    write(project, cell, code("print(1)"))
    result = read(context)
    assert not result.is_error
    assert "print(1)" in result.text


def test_notebook_of_format_3_is_read(context: ToolContext, project: Path) -> None:
    cell = {"cell_type": "code", "input": ["x = 1"], "prompt_number": 7, "outputs": []}
    old = {"worksheets": [{"cells": [cell]}], "nbformat": 3}
    (project / "a.ipynb").write_text(json.dumps(old), encoding="utf-8")
    assert read(context).text == "--- cell 1: code [7]\nx = 1"
