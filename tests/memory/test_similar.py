"""Which texts are nearly the same, in both directions and in both scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.memory import Memory
from mewcode_magic.memory.similar import ALIKE, duplicates, includes, likeness, similar_pairs, words_of


def memories(*bodies: str) -> list[Memory]:
    return [Memory(str(number), "d", "user", body) for number, body in enumerate(bodies)]


def pairs(*bodies: str) -> list[tuple[str, str, bool]]:
    return [(p.first.name, p.second.name, p.included) for p in similar_pairs(memories(*bodies))]


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [
        ("use polars", "Use POLARS!", 1.0),
        ("one two three four five", "one two three four six", 4 / 6),
        ("提交信息用英文", "提交信息用中文", 6 / 8),
        ("", "", 0.0),
        ("a_b", "a b", 1.0),
    ],
)
def test_likeness_is_the_share_of_common_words(first: str, second: str, share: float) -> None:
    assert likeness(words_of(first), words_of(second)) == pytest.approx(share)


@pytest.mark.parametrize(
    ("longer", "shorter", "expected"),
    [
        ("- Use  polars.\n- No pandas.", "use polars.", True),
        ("Use polars for x > 3", "use polars for x < 3", False),
        ("Never use polars.", "use polars.", False),
        ("anything", "", False),
        ("# 用 uv\n其他", "用 uv", True),
    ],
)
def test_a_text_includes_another_only_by_whole_lines(longer: str, shorter: str, expected: bool) -> None:  # noqa: FBT001
    assert includes(longer, shorter) is expected


def test_the_longer_one_comes_first_wherever_it_stands() -> None:
    short, long = "uv for packages", "uv for packages\npytest for tests, and ruff for style"
    assert pairs(short, long) == [("1", "0", True)]
    assert pairs(long, short) == [("0", "1", True)]


def test_duplicates_are_no_pair_and_the_one_that_lasts_is_kept() -> None:
    ended, lasting = (
        Memory("ended", "d", "user", "Same text", expires="2999-01-01"),
        Memory("lasting", "d", "user", "same  TEXT"),
    )
    assert similar_pairs([ended, lasting]) == []
    assert duplicates([ended, lasting]) == [(lasting, ended)]
    first, other, again = memories("x", "y", "X")
    assert duplicates([first, other, again]) == [(first, again)]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9).map(" ".join), max_size=12))
def test_no_pair_is_missed_for_the_sake_of_speed(bodies: list[str]) -> None:
    made = memories(*bodies)
    found = {frozenset((p.first.name, p.second.name)) for p in similar_pairs(made)}
    expected = {
        frozenset((one.name, other.name))
        for one in made
        for other in made
        if one.body_key != other.body_key
        and (
            likeness(words_of(one.body), words_of(other.body)) >= ALIKE
            or includes(one.body, other.body)
            or includes(other.body, one.body)
        )
    }
    assert found == expected
