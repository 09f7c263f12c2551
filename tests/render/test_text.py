from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.render.text import clean, cut, fit, line, width


@given(st.text(st.characters(codec=None)))
def test_cleaned_text_can_be_sent_and_printed(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert not any(c not in "\n\t" and (c < " " or "\x7f" <= c <= "\x9f") for c in cleaned)
    assert clean(cleaned) == cleaned


@given(st.text(), st.integers(1, 30))
def test_a_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    assert "\n" not in line(text, limit)
    assert len(line(text, limit)) <= limit


def test_a_name_cannot_show_the_rest_of_a_line_backwards() -> None:
    assert line("a\u202ecod.exe") == "a\N{REPLACEMENT CHARACTER}cod.exe"


def test_width_counts_cells_of_a_terminal() -> None:
    assert width("abc") == 3
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert width("👍") == 2
    assert width("\N{ZERO WIDTH JOINER}") == 0


@given(st.text("ab日本 é", max_size=20), st.integers(1, 12))
def test_fitted_text_has_exactly_its_cells(text: str, cells: int) -> None:
    assert width(fit(text, cells)) == cells
    assert width(cut(text, cells)) <= cells
