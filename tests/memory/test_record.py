import hashlib
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.memory import TYPES, Memory, slug_of
from mewcode_magic.memory.record import moment

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def hashed(name: str) -> str:
    return hashlib.sha1(name.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("prefers-polars", "prefers-polars"),
        ("Fiscal year", "fiscal-year"),
        ("commit message 前缀", "commit-message-071596ac"),
        ("../evil", f"evil-{hashed('../evil')}"),
        ("/", f"memory-{hashed('/')}"),
        ("提交信息", f"memory-{hashed('提交信息')}"),
        ("🎉", f"memory-{hashed('🎉')}"),
        ("memory", f"memory-{hashed('memory')}"),
        ("MEMORY", f"memory-{hashed('MEMORY')}"),
        ("con", f"con-{hashed('con')}"),
        ("LPT1", f"lpt1-{hashed('LPT1')}"),
        ("a\0b", "a-b"),
        ("a\nb", "a-b"),
    ],
)
def test_slug_of_a_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug


def test_slugs_of_long_names_differ_though_both_are_cut() -> None:
    slugs = {slug_of("x" * 300 + end) for end in ("a", "b")}
    assert len(slugs) == 2
    assert all(len(slug) < 100 for slug in slugs)


@given(st.text())
def test_slug_is_a_safe_file_name(name: str) -> None:
    slug = slug_of(name)
    assert slug
    assert len(slug) < 100
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not slug.startswith("-")


@given(st.text(), st.text())
def test_names_share_a_slug_only_if_they_differ_in_case_and_separators(one: str, other: str) -> None:
    def spelling(name: str) -> str:
        memory = Memory(name, "d", "user", "b")
        return "-".join(memory.name.replace("_", " ").replace("-", " ").split()).lower()

    if slug_of(one) == slug_of(other):
        assert spelling(one) == spelling(other)


def test_texts_are_normalised() -> None:
    memory = Memory(" two\nlines\x07 \u202e", "a\r\nb\ud800", "user", "\n one\r\ntwo\rthree\x00 \n")
    assert memory.name == "two lines"
    assert memory.description == "a b\N{REPLACEMENT CHARACTER}"
    assert memory.body == "one\ntwo\nthree\N{REPLACEMENT CHARACTER}"


def test_emoji_joined_by_invisible_characters_stay_whole() -> None:
    assert Memory("👩‍💻 ❤️", "d", "user", "b").name == "👩‍💻 ❤️"


def test_place_follows_from_the_type_until_it_is_found_somewhere() -> None:
    places = {kind: Memory("n", "d", kind, "b").place for kind in TYPES}
    assert places == {"user": "user", "feedback": "user", "project": "project", "reference": "project"}
    assert Memory("n", "d", "user", "b", found_in="project").place == "project"


def test_age_counts_from_updated_then_created_then_the_file() -> None:
    hours = [NOW - timedelta(hours=n) for n in range(4)]
    assert Memory("n", "d", "user", "b", updated=hours[1], created=hours[2]).age(NOW) == timedelta(hours=1)
    assert Memory("n", "d", "user", "b", created=hours[2], modified=hours[3]).age(NOW) == timedelta(hours=2)
    assert Memory("n", "d", "user", "b", modified=hours[3]).age(NOW) == timedelta(hours=3)
    assert Memory("n", "d", "user", "b").age(NOW) == timedelta()
    assert Memory("n", "d", "user", "b", updated=NOW + timedelta(hours=1)).age(NOW) == timedelta()


def test_expiry_is_the_moment_itself() -> None:
    memory = Memory("n", "d", "user", "b", expires=NOW)
    assert memory.is_expired(NOW)
    assert not memory.is_expired(NOW - timedelta(milliseconds=1))
    assert not Memory("n", "d", "user", "b").is_expired(NOW)


def test_a_bare_date_of_expiry_lasts_to_its_end_in_local_time() -> None:
    memory = Memory("n", "d", "user", "b", expires=moment("2026-11-29", end_of_day=True))
    assert not memory.is_expired(datetime(2026, 11, 29, 23, 59).astimezone())
    assert memory.is_expired(datetime(2026, 11, 30).astimezone())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-29T10:00:00Z", datetime(2026, 11, 29, 10, tzinfo=UTC)),
        ("2026-11-29 10:00+02:00", datetime(2026, 11, 29, 10, tzinfo=timezone(timedelta(hours=2)))),
        (date(2026, 11, 29), datetime(2026, 11, 29).astimezone()),
        (datetime(2026, 11, 29, 10, 0, 0, 123456, UTC), datetime(2026, 11, 29, 10, 0, 0, 123000, UTC)),
    ],
)
def test_moment_of_what_files_hold(value: object, expected: datetime) -> None:
    assert moment(value) == expected


@pytest.mark.parametrize("value", ["", "next week", "2026-13-45", "0001-01-01", "9999-12-31", 20261129, []])
def test_moment_of_something_else_is_an_error(value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the texts are Python's own
        moment(value)
