"""The lines around a recorded answer, as a notebook and a terminal get them."""

import re
from typing import Any

import pytest

from mewcode_magic.events import Replayed, VariablesMissing
from mewcode_magic.render.lines import beside, figure_view


def test_recorded_answer_is_marked_with_when_and_by_whom() -> None:
    mark = beside(Replayed(1_800_000_000.0, "claude-<b>", 0))
    assert re.fullmatch(
        r"\[Recorded on 2027-01-1\d \d\d:\d\d by claude-<b>; --fresh asks again\]", mark.plain
    )
    assert "claude-&lt;b&gt;" in mark.html
    later = beside(Replayed(None, "", 1))
    assert later.plain == "[Recorded, before what was asked anew in this kernel; --fresh asks again]"


@pytest.mark.parametrize(
    ("offered", "code", "told"),
    [
        ("below", "x = 1", "the recorded code is in the cell below"),
        ("notebook", "x = 1", "a cell of this notebook has the recorded code"),
        ("nowhere", "", "there is no recorded code"),
    ],
)
def test_missing_variables_are_named_with_where_their_code_is(offered: Any, code: str, told: str) -> None:
    view = beside(VariablesMissing(("x", "y"), code, offered))
    assert view.plain == f"[Not in this kernel: x, y; {told}]"


def test_code_that_stands_in_no_cell_is_folded_and_no_markup() -> None:
    view = beside(VariablesMissing(("<b>",), "x = '</pre><script>'\ny = 2", "nowhere"))
    assert view.plain == "[Not in this kernel: <b>; the recorded code:]\n    x = '</pre><script>'\n    y = 2"
    assert view.html.startswith("<details")
    assert "<script>" not in view.html
    assert "<b>" not in view.html


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "image/svg+xml", "data": "aGk="},
        {"type": "url", "url": "http://example.com/spy.png"},
        {"type": "base64", "media_type": "image/png", "data": 5},
        "text",
        None,
    ],
)
def test_figure_of_another_form_is_not_shown(source: Any) -> None:
    assert "cannot be shown" in figure_view({"type": "image", "source": source}).plain


def test_figure_is_shown_and_ends_no_attribute() -> None:
    data = 'aGk="><script>'
    view = figure_view({"type": "image", "source": {"media_type": "image/png", "data": data}})
    assert view.html == '<img alt="figure" src="data:image/png;base64,aGk=&quot;&gt;&lt;script&gt;">'
