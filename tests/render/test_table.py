import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.render.table import Cell, Column, Table
from mewcode_magic.render.text import width

COLUMNS = (
    Column("#", right=True, whole=True),
    Column("Name"),
    Column("Note", spare=True),
    Column("Id", whole=True),
)


def table(*rows: tuple[str, ...], **options) -> Table:
    return Table(COLUMNS, [tuple(Cell(text) for text in row) for row in rows], **options)


def test_text_is_aligned_by_cells_of_a_terminal() -> None:
    text = table(("1", "日本語", "a", "x1"), ("10", "name", "note", "x2"), notes=["2 in all"]).text(60)
    assert text.split("\n") == [
        " #  Name    Note  Id",
        "--  ------  ----  --",
        " 1  日本語  a     x1",
        "10  name    note  x2",
        "2 in all",
    ]


def test_narrow_text_cuts_names_and_leaves_spare_columns_out_but_keeps_ids_whole() -> None:
    long = table(("1", "a very long name indeed", "a note", "20261129-101010-abcd"))
    assert long.text(40).split("\n") == [
        "#  Name             Id",
        "-  ---------------  --------------------",
        "1  a very long na…  20261129-101010-abcd",
    ]


def test_column_keeps_the_cells_that_it_needs_at_least() -> None:
    columns = (Column("Name"), Column("Passage", least=20), Column("Id", whole=True, spare=True))
    row = ("a very long name indeed", "a passage that is much longer than all", "20261129-101010-abcd")
    assert Table(columns, [tuple(map(Cell, row))]).text(36).split("\n")[2] == (
        "a very long n…  a passage that is m…"
    )


@given(st.lists(st.tuples(*[st.text("ab日 \n\t<", max_size=40)] * 2), min_size=1), st.integers(40, 120))
def test_text_never_is_wider_than_asked(texts, limit: int) -> None:
    rows = [("1", name, note, "x2") for name, note in texts]
    assert all(width(text) <= limit for text in table(*rows).text(limit).split("\n"))


def test_a_column_without_texts_is_not_shown() -> None:
    text = table(("1", "a", "", "x"))
    assert "Note" not in text.text()
    assert "Note" not in text.html()


def test_an_empty_table_says_so() -> None:
    empty = table(empty="Nothing <yet>.", notes=["0 in a folder"])
    assert empty.text() == "Nothing <yet>.\n0 in a folder"
    assert "<table" not in empty.html()
    assert "Nothing &lt;yet&gt;." in empty.html()


class Texts(HTMLParser):
    """The tags of a page, its texts, and what it shows on hover."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.texts += [value for name, value in attrs if name == "title"]

    def handle_data(self, data):
        self.texts.append(data)


@given(st.text("<>&\"'ab$`/=\x1b", min_size=1, max_size=20))
def test_html_escapes_every_text(text: str) -> None:
    cell = Cell(text, hover=text, detail=text, marks=(text,))
    html = Table([Column(text)], [[cell]], notes=[text]).html(text)
    parser = Texts()
    parser.feed(html)
    structure = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert parser.tags <= structure | {"span", "details", "summary", "pre"}


def test_html_aligns_numbers_right_and_is_left_alone_by_mathjax() -> None:
    html = table(("1", "$a$", "b", "c")).html("hidden-by-widget")
    assert '<td align="right" class="mew-whole">1</td>' in html
    assert re.match('<div class="hidden-by-widget [^"]*tex2jax_ignore mathjax_ignore">', html)


def test_html_opens_a_detail_and_bounds_it() -> None:
    html = Table([Column("a")], [[Cell("notes", detail="x" * 50_000)]]).html()
    assert '<details><summary>notes</summary><pre class="mew-code">xxx' in html
    assert len(html) < 30_000


def test_one_view_has_both_forms() -> None:
    view = table(("1", "a", "b", "c")).view(css_class="k", width=60)
    assert view.plain.startswith("#  Name")
    assert "<table" in view.html
