"""Displayed figures become small pictures; libraries that draw them stand in as modules of their names."""

import base64
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from mewcode_magic.kernel.activity import VEGA_IN_HTML, Cell, Figure, figure_of
from mewcode_magic.kernel.figures import MOST_PIXELS, image_block

PLOTLY = "application/vnd.plotly.v1+json"
ALTAIR = "application/vnd.vegalite.v5+json"

DRAW = """
import io
from PIL import Image
def draw(figure):
    assert "config" not in figure, figure
    written = io.BytesIO()
    Image.new("RGB", (2_000, 1_000), figure["data"]).save(written, "PNG")
    return written.getvalue()
"""
MODULES = {
    "drawing.py": DRAW,
    "plotly/__init__.py": "",
    "plotly/graph_objects.py": "from drawing import draw\n"
    "class Figure:\n"
    "    def __init__(self, figure):\n"
    "        self.figure = figure\n"
    "    def to_image(self, format):\n"
    "        assert format == 'png'\n"
    "        return draw(self.figure)\n",
    "kaleido.py": "",
    "vl_convert.py": "from drawing import draw as vegalite_to_png\n",
}

PAGE = """<div id="altair-viz-1"></div>
<script type="text/javascript">
  (function(spec, embedOpt){ let a = {}; (function(){})({not: "JSON"});
  })({"data": "red", "$schema": "https://vega.github.io/schema/vega-lite/v6.json"}, {"mode": "vega-lite"});
</script>"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make modules importable."""
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))

    def write(*names: str) -> None:
        for name in ("drawing.py", *names):
            path = tmp_path / "lib" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(MODULES[name], encoding="utf-8")
            module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            monkeypatch.setitem(sys.modules, module, None)
            del sys.modules[module]

    return write


def picture(mime: str, data: Any) -> Image.Image | None:
    block = image_block(Figure(Cell("x"), mime, data))
    if block is None:
        return None
    assert block["source"]["media_type"] == "image/png"
    return Image.open(io.BytesIO(base64.b64decode(block["source"]["data"])))


@pytest.mark.parametrize(
    ("mime", "modules", "data"),
    [
        (
            PLOTLY,
            ["plotly/__init__.py", "plotly/graph_objects.py", "kaleido.py"],
            {"data": "red", "config": {}},
        ),
        (ALTAIR, ["vl_convert.py"], {"data": "red"}),
        (ALTAIR, ["vl_convert.py"], '{"data": "red"}'),
        (VEGA_IN_HTML, ["vl_convert.py"], PAGE),
    ],
    ids=["plotly", "altair", "text", "page"],
)
def test_figure_of_a_library_is_drawn_where_it_can_be(
    install: Install, mime: str, modules: list[str], data: Any
) -> None:
    install()
    assert picture(mime, data) is None
    install(*modules)
    drawn = picture(mime, data)
    assert drawn is not None
    assert drawn.size == (MOST_PIXELS, MOST_PIXELS // 2)
    assert drawn.convert("RGB").getpixel((5, 5)) == (255, 0, 0)


def test_page_that_draws_a_chart_is_a_figure_and_no_other_page() -> None:
    figure = figure_of({"text/html": PAGE, "text/plain": "alt.Chart(...)"}, Cell("x"))
    assert figure is not None
    assert figure.mime == VEGA_IN_HTML
    assert figure_of({"text/html": "<table></table>", "text/plain": "a"}, Cell("x")) is None


def test_library_that_fails_costs_no_turn(install: Install) -> None:
    install("vl_convert.py")
    assert picture(ALTAIR, {"data": "no color"}) is None
    assert picture(ALTAIR, "no JSON") is None
    assert picture(VEGA_IN_HTML, "<p>vega.github.io/schema/vega-lite/</p>") is None


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_picture_of_any_kind_is_scaled_and_sent_as_png(mode: str) -> None:
    written = io.BytesIO()
    kind = "TIFF" if mode in ("CMYK", "F") else "PNG"
    Image.new(mode, (1_000, 3_000)).save(written, kind)
    drawn = picture("image/png", base64.b64encode(written.getvalue()).decode())
    assert drawn is not None
    assert drawn.size == (MOST_PIXELS // 3, MOST_PIXELS)
