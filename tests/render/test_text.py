from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.render.text import all_seen, clean, cut, fit, line, width


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


@given(st.text(st.characters(codec=None)))
def test_text_in_which_all_is_seen_hides_nothing_and_keeps_what_is_seen(text: str) -> None:
    seen = all_seen(text)
    assert all(c in "\n\t" or c.isprintable() for c in seen)
    assert seen.replace("\r", "") or not text
    assert all_seen(seen) == seen


def test_what_shows_nothing_or_reorders_is_escaped_and_what_people_write_is_not() -> None:
    hidden = (
        "\u200b\u200d\u2060\ufeff\u00ad\u202e\u2066\u2069\u061c\u180e\u3164\uffa0\u115f\u2800\ufe0f\u00a0"
    )
    hidden += "\u2003\u3000\u2028\x85\x1b\x00\U000e0041\U000e0100\ud800"
    assert all_seen(hidden) == "".join(ascii(c)[1:-1] for c in hidden)
    kept = "x = 'é 中文，語' # 👍\n\tif a:\r\n"
    assert all_seen(kept) == kept.replace("\r\n", "\n")


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
