"""While `share_values` is off, `ReadFile` shows code and prose, and of data never a value."""

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image
from tool_calls import run_tool

from mewcode_magic.tools import ReadFile, ToolContext

VALUE = "confidential-4711"


@pytest.fixture(autouse=True)
def _private(context: ToolContext) -> None:
    context.settings.share_values = False


def read(context: ToolContext, path: str) -> str:
    result = run_tool(ReadFile(), context, path=path)
    assert result.images == ()
    assert not result.is_error
    return result.text


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", f'n,m\n"1,2",{VALUE}\n', "a table in text, 2 lines, 2 columns"),
        ("a.CSV", f"{VALUE};b;c\n", "1 lines, 3 columns"),
        ("a.tsv", f"{VALUE}\tb\n\n", "2 lines, 2 columns"),
        ("a.json", f'[{{"{VALUE}": 1}}, 2]', "JSON, an array of 2"),
        ("a.json", f'{{"{VALUE}": 1}}', "JSON, an object of 1 keys"),
        ("a.json", f'"{VALUE}"', "JSON, one value"),
        ("a.json", f"{VALUE} is not JSON", "a json file that cannot be read"),
        ("a.jsonl", f'{{"a": "{VALUE}"}}\n' * 3, "text, 3 lines"),
        ("a.txt", VALUE, "text, 1 lines"),
        ("a.log", VALUE, "text, 1 lines"),
        ("a.html", f"<td>{VALUE}</td>", "text, 1 lines"),
        ("a.svg", f"<text>{VALUE}</text>", "text, 1 lines"),
        (".env", f"NAME={VALUE}", "text, 1 lines"),
        ("data", f"{VALUE}\n", "text, 1 lines"),
        ("a.pkl", f"\0{VALUE}", "a binary file"),
        ("a.parquet", f"PAR1{VALUE}", "a parquet file that cannot be read"),
        ("a.xlsx", f"PK{VALUE}", "a xlsx file that cannot be read"),
    ],
)
def test_data_is_told_by_its_shape(
    context: ToolContext, project: Path, name: str, text: str, told: str
) -> None:
    (project / name).write_text(text, encoding="utf-8")
    result = read(context, name)
    assert told in result
    assert f"{len(text.encode()):,} bytes" in result
    assert VALUE not in result
    # What was not seen cannot be replaced either.
    assert context.read == {}


def test_parquet_is_told_by_its_schema(context: ToolContext, project: Path) -> None:
    pd.DataFrame({"month": [VALUE], "sales": [1.5]}).to_parquet(project / "a.parquet")
    result = read(context, "a.parquet")
    assert "1 rows, 2 columns: month (" in result
    assert "sales (double)" in result
    assert VALUE not in result


def test_workbook_is_told_by_the_cells_of_its_sheets(context: ToolContext, project: Path) -> None:
    with zipfile.ZipFile(project / "a.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", f'<sheet name="{VALUE}"/>')
        sheet = f'<worksheet><dimension ref="A1:C20"/><c>{VALUE}</c></worksheet>'
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        archive.writestr("xl/worksheets/sheet2.xml", "<worksheet/>")
    result = read(context, "a.xlsx")
    assert "2 sheets with the cells A1:C20, unknown" in result
    assert VALUE not in result


def test_image_is_told_by_its_pixels(context: ToolContext, project: Path) -> None:
    Image.new("RGB", (30, 20)).save(project / "a.png")
    assert "image/png, 30 x 20 pixels" in read(context, "a.png")


def test_notebook_is_told_by_its_code_and_the_kinds_of_its_outputs(
    context: ToolContext, project: Path
) -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": [f"{VALUE}\n", "x"]},
        {"output_type": "execute_result", "data": {"text/plain": VALUE, "text/html": VALUE}},
        {"output_type": "display_data", "data": {"image/png": VALUE}},
        {"output_type": "error", "ename": "KeyError", "evalue": VALUE, "traceback": [VALUE]},
    ]
    cell = {"cell_type": "code", "source": "load()", "outputs": outputs, "execution_count": 1}
    (project / "a.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    result = read(context, "a.ipynb")
    assert "load()" in result
    assert VALUE not in result
    for line in (
        "stdout, 2 lines, not shown",
        "text/plain, 1 lines",
        "image/png, not shown",
        "error KeyError",
    ):
        assert line in result


@pytest.mark.parametrize(
    "name", ["a.py", "a.md", "Makefile", "requirements-dev.txt", "pyproject.toml", "A.SQL"]
)
def test_code_and_prose_are_shown(context: ToolContext, project: Path, name: str) -> None:
    (project / name).write_text("one\n", encoding="utf-8")
    assert read(context, name) == "     1\tone"


def test_memories_are_shown(context: ToolContext, home: Path) -> None:
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "a.md").write_text("one", encoding="utf-8")
    assert read(context, str(home / "memory" / "a.md")) == "     1\tone"


def test_file_that_takes_long_to_count_is_told_as_far_as_it_was(context: ToolContext, project: Path) -> None:
    with (project / "a.csv").open("wb") as file:
        file.write(b"a,b\n" * 3_000)
        file.truncate(200 << 30)  # a hole, which takes no room
    text = read(context, "a.csv")
    assert "more than 3,000 lines, 2 columns, 214,748,364,800 bytes" in text
