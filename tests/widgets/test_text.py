"""Text and times as the widgets show them."""

from datetime import UTC, datetime, timedelta

import pytest

from mewcode_magic.widgets.text import block, clip, count_of, exactly, since, span

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (timedelta(seconds=-90), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 d ago"),
        (timedelta(days=30, hours=23), "30 d ago"),
    ],
)
def test_since_is_relative_within_a_month(past, said) -> None:
    assert since(NOW - past, NOW) == said


def test_since_is_a_local_date_after_a_month() -> None:
    then = NOW - timedelta(days=31)
    assert since(then, NOW) == then.astimezone().strftime("%Y-%m-%d")


def test_times_that_are_missing_are_blank() -> None:
    assert (since(None, NOW), exactly(None)) == ("", "")


@pytest.mark.parametrize("moment", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_times_at_the_ends_of_the_calendar_are_shown(moment) -> None:
    assert exactly(moment)[:4] in ("0001", "9999", "0000")
    assert since(moment, NOW)


def test_html_takes_text_as_text() -> None:
    evil = "<b a='1' b=\"2\">&\ud83d"
    safe = "&lt;b a=&#x27;1&#x27; b=&quot;2&quot;&gt;&amp;?"
    assert span("name", evil) == f'<span class="mew-name">{safe}</span>'
    assert safe in block(evil, label="x")
    assert 'aria-label="&lt;b a=&#x27;1' in block("x", label=evil)


def test_clip_gives_one_line_of_limited_length() -> None:
    assert clip("a\n b\t\r\n c") == "a b c"
    assert clip("x" * 301) == "x" * 299 + "…"
    assert clip("x" * 300) == "x" * 300


def test_counts_say_what_they_count() -> None:
    texts = [count_of(number, "message") for number in (None, 0, 1, 1234)]
    assert [">1<" in t or "1,234" in t for t in texts] == [False, False, True, True]
    assert ["messages<" in t for t in texts] == [False, True, False, True]
