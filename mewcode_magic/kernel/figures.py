"""A displayed figure as a PNG that a model can be sent."""

from __future__ import annotations

import base64
import contextlib
import importlib
import importlib.util
import io
import json
import re
from typing import Any

from mewcode_magic.kernel.activity import VEGA_IN_HTML, Figure
from mewcode_magic.messages import Block

__all__ = ["MOST_PIXELS", "image_block"]

MOST_PIXELS = 768
"""Of the longer side; more tells a model little and costs much."""


def image_block(figure: Figure) -> Block | None:
    """Return the figure as an image block of the API, or None if it cannot be made one here.

    Pictures are scaled by Pillow. A plotly figure needs kaleido, an altair chart vl-convert, beside the
    library that drew it; nothing is installed or imported that the user's environment does not have.
    """
    try:
        picture = _picture(figure)
        png = None if picture is None else _scaled(picture)
    except Exception:  # noqa: BLE001 - other libraries draw here, and a plot must not cost the turn
        return None
    if png is None:
        return None
    data = base64.b64encode(png).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def _picture(figure: Figure) -> bytes | None:
    """Return a figure as the bytes of a picture."""
    if figure.mime.startswith("image/"):
        data = figure.data
        return data if isinstance(data, bytes) else base64.b64decode(data)
    if "plotly" in figure.mime and _has("plotly") and _has("kaleido"):
        figure_class = importlib.import_module("plotly.graph_objects").Figure
        drawn: bytes = figure_class(_plain(figure.data)).to_image(format="png")
        return drawn
    if "vegalite" in figure.mime and _has("vl_convert"):
        convert = importlib.import_module("vl_convert").vegalite_to_png
        chart = _chart_of(figure.data) if figure.mime == VEGA_IN_HTML else _plain(figure.data)
        converted: bytes = convert(chart)
        return converted
    return None


def _chart_of(page: str) -> Any:
    """Return the specification that a page of Altair gives its script.

    Raises:
        ValueError: there is none.
    """
    for call in re.finditer(r"\}\)\((?=\{)", page):
        with contextlib.suppress(json.JSONDecodeError):
            return json.JSONDecoder().raw_decode(page, call.end())[0]
    raise ValueError("the page calls its script with no chart")


def _plain(data: Any) -> Any:
    """Return a figure's JSON without what only the front end needs."""
    figure = json.loads(data) if isinstance(data, str) else data
    return {key: value for key, value in figure.items() if key != "config"} if "data" in figure else figure


def _scaled(picture: bytes) -> bytes | None:
    if not _has("PIL"):
        return None
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as image:
        image.seek(0)
        image.thumbnail((MOST_PIXELS, MOST_PIXELS))
        drawn = image if image.mode in ("RGB", "RGBA", "L", "P") else image.convert("RGB")
        written = io.BytesIO()
        drawn.save(written, "PNG", optimize=True)
    return written.getvalue()


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
