"""Moments in local time."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from mewcode_magic.clock import local


@pytest.fixture(params=["America/New_York", "Asia/Tokyo"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_moment_is_told_in_local_time(zone: str) -> None:
    moment = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    assert local(moment) == moment
    assert local(moment).utcoffset() == timedelta(hours=-5 if zone == "America/New_York" else 9)


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("end", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)])
def test_moment_at_the_ends_of_the_calendar_is_told_too(end: datetime) -> None:
    assert local(end) == end
