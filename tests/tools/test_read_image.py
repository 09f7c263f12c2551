"""`ReadFile` gives images as the API takes them, and refuses what would brick the conversation."""

import base64
import io
import random
import sys
from pathlib import Path

import pytest
from PIL import Image
from request_rules import broken_rules
from tool_calls import run_tool

from mewcode_magic.tools import ReadFile, ToolContext, ToolResult

KINDS = ["PNG", "JPEG", "GIF", "WEBP"]


WITH_AND_WITHOUT = pytest.mark.parametrize("pillow", [True, False], ids=["pillow", "no pillow"])


def read(context: ToolContext, path: str, *, pillow: bool = True) -> ToolResult:
    """Read, with Pillow or as where it is not installed: an entry of None makes an import fail."""
    with pytest.MonkeyPatch.context() as environment:
        if not pillow:
            environment.setitem(sys.modules, "PIL", None)
        return run_tool(ReadFile(), context, path=path)


def encoded(kind: str, width: int, height: int, *, mode: str = "RGB", **options: object) -> bytes:
    file = io.BytesIO()
    Image.new(mode, (width, height), "red").save(file, kind, **options)
    return file.getvalue()


def picture(result: ToolResult) -> Image.Image:
    (block,) = result.images
    assert block["type"] == "image"
    assert block["source"]["type"] == "base64"
    opened = Image.open(io.BytesIO(base64.b64decode(block["source"]["data"])))
    opened.load()
    assert block["source"]["media_type"] == f"image/{str(opened.format).lower()}"
    return opened


@pytest.mark.parametrize("kind", KINDS)
@WITH_AND_WITHOUT
def test_small_image_is_sent_as_it_is_whatever_its_name(
    context: ToolContext, project: Path, kind: str, *, pillow: bool
) -> None:
    data = encoded(kind, 30, 20)
    (project / "picture").write_bytes(data)
    result = read(context, "picture", pillow=pillow)
    assert result.text == f"picture: {kind}, 30 x 20 pixels"
    assert base64.b64decode(result.images[0]["source"]["data"]) == data
    # What the agent did not see as text it cannot replace.
    assert context.read == {}
    answer = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": result.text}, *result.images],
    }
    call = {"type": "tool_use", "id": "t1", "name": "ReadFile", "input": {"path": "picture"}}
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [answer]},
    ]
    assert broken_rules({"messages": messages}) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["RGB", "P", "L"])
def test_large_image_is_scaled_to_what_a_model_looks_at(
    context: ToolContext, project: Path, kind: str, mode: str
) -> None:
    if (kind, mode) == ("JPEG", "P"):
        mode = "CMYK"
    (project / "picture").write_bytes(encoded(kind, 3_136, 40, mode=mode))
    result = read(context, "picture")
    assert picture(result).size == (1_568, 20)
    assert result.text == f"picture: {kind}, 3136 x 40 pixels, sent at 1568 x 20"


@pytest.mark.parametrize("kind", KINDS)
def test_large_image_without_pillow_is_refused_with_what_to_install(
    context: ToolContext, project: Path, kind: str
) -> None:
    (project / "picture").write_bytes(encoded(kind, 1_600, 40))
    result = read(context, "picture", pillow=False)
    assert result.is_error
    assert "1600 x 40 pixels" in result.text
    assert "pip install pillow" in result.text


def test_image_of_many_bytes_is_sent_in_fewer(context: ToolContext, project: Path) -> None:
    noise = random.Random(0).randbytes(1_500 * 1_500 * 3)
    Image.frombytes("RGB", (1_500, 1_500), noise).save(project / "picture.png")
    assert (project / "picture.png").stat().st_size > 5_000_000
    sent = read(context, "picture.png")
    assert picture(sent).size == (1_500, 1_500)
    assert len(sent.images[0]["source"]["data"]) < 5_000_000


def test_transparency_and_orientation_survive_scaling(context: ToolContext, project: Path) -> None:
    (project / "clear.png").write_bytes(encoded("PNG", 2_000, 100, mode="RGBA"))
    assert picture(read(context, "clear.png")).mode == "RGBA"
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    (project / "turned.jpg").write_bytes(encoded("JPEG", 2_000, 100, exif=exif))
    sent = picture(read(context, "turned.jpg"))
    assert sent.height == 1_568


@pytest.mark.parametrize("kind", KINDS)
@WITH_AND_WITHOUT
def test_damaged_image_is_refused(context: ToolContext, project: Path, kind: str, *, pillow: bool) -> None:
    file = io.BytesIO()
    noise = random.Random(0).randbytes(300 * 300 * 3)
    Image.frombytes("RGB", (300, 300), noise).save(file, kind)
    data = file.getvalue()
    for length in (12, 20, 40, len(data) // 2):
        (project / "picture").write_bytes(data[:length])
        result = read(context, "picture", pillow=pillow)
        assert result.is_error, (length, result.text)
        assert "damaged" in result.text
        assert result.images == ()


@WITH_AND_WITHOUT
def test_image_that_unfolds_beyond_memory_is_refused(
    context: ToolContext, project: Path, *, pillow: bool
) -> None:
    data = bytearray(encoded("PNG", 10, 10))
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    (project / "bomb.png").write_bytes(data)
    result = read(context, "bomb.png", pillow=pillow)
    assert result.is_error
    assert "60000 x 60000 pixels" in result.text


def test_svg_is_text(context: ToolContext, project: Path) -> None:
    (project / "plot.svg").write_text("<svg></svg>", encoding="utf-8")
    assert read(context, "plot.svg") == ToolResult("     1\t<svg></svg>", in_file=True)


def test_other_formats_of_images_are_binary_files(context: ToolContext, project: Path) -> None:
    (project / "picture.bmp").write_bytes(encoded("BMP", 10, 10))
    result = read(context, "picture.bmp")
    assert result.is_error
    assert "binary" in result.text
