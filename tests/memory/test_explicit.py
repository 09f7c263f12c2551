from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.errors import InvalidMemory
from mewcode_magic.memory import TYPES, MemoryStore, expiry, memory_from_text

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Dashboards are at https://grafana.example.com/d/1", "reference"),
        ("I read the docs at www.example.com", "reference"),
        ("Don't use pandas, see https://example.com", "reference"),
        ("Don't use pandas", "feedback"),
        ("don’t use pandas", "feedback"),
        ("Do not use pandas", "feedback"),
        ("Please stop adding comments", "feedback"),
        ("never commit data", "feedback"),
        ("I want polars instead of pandas", "feedback"),
        ("不要用 pandas", "feedback"),
        ("别用 pandas", "feedback"),
        ("请不要用 pandas", "feedback"),
        ("用 polars 而不是 pandas", "feedback"),
        ("I like short answers", "user"),
        ("i like short answers", "user"),
        ("Short answers are what I like", "user"),
        ("my team is in Lisbon", "user"),
        ("Prefers dark plots", "user"),
        ("我在上海工作", "user"),
        ("喜欢简短的回答", "user"),
        ("Our fiscal year starts in April", "project"),
        ("The loop over i is slow because of I/O", "project"),
        ("Nevertheless the tests are slow", "project"),
        ("别人的代码在 vendor 目录", "project"),
        ("The data must never be committed", "project"),
        ("Mypy is run in CI", "project"),
    ],
)
def test_the_type_follows_from_the_words(text: str, kind: str) -> None:
    assert memory_from_text(text, now=NOW).type == kind


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        ("Use polars. Not pandas.", "use-polars", "Use polars."),
        (
            "Our fiscal year starts in April",
            "our-fiscal-year-starts-in-april",
            "Our fiscal year starts in April",
        ),
        (
            "Don't use pandas in all of the new code",
            "dont-use-pandas",
            "Don't use pandas in all of the new code",
        ),
        ("Dashboards: https://example.com/d/1", "dashboards", "Dashboards: https://example.com/d/1"),
        ("https://example.com/d/1", "https-example-com-d-1", "https://example.com/d/1"),
        ("提交信息用中文写。要短", "提交信息用中文写", "提交信息用中文写。"),
        ("🎉🎊", "🎉🎊", "🎉🎊"),
        ("# Deploys\n\nOn Fridays.", "deploys", "Deploys"),
        ("{'a': 1} -> $x", "a-1-x", "{'a': 1} -> $x"),
    ],
)
def test_name_and_description_come_from_the_first_sentence(text: str, name: str, description: str) -> None:
    memory = memory_from_text(text, now=NOW)
    assert (memory.name, memory.description, memory.body) == (name, description, text)


def test_what_is_given_wins() -> None:
    memory = memory_from_text("I like it", type="project", name="N", description="D", expires="2w", now=NOW)
    assert (memory.type, memory.name, memory.description) == ("project", "N", "D")
    assert memory.expires == NOW + timedelta(weeks=2)


@pytest.mark.parametrize(
    ("text", "options"), [(" \n", {}), ("x", {"type": "note"}), ("x", {"expires": "soon"})]
)
def test_what_cannot_be_remembered_is_one_clear_error(text: str, options: dict[str, str]) -> None:
    with pytest.raises(InvalidMemory):
        memory_from_text(text, now=NOW, **options)


@given(st.text(min_size=1).filter(lambda text: text.strip().strip("\x00")))
def test_any_text_has_a_type_and_a_name_of_moderate_length(text: str) -> None:
    memory = memory_from_text(text, now=NOW)
    assert memory.type in TYPES
    assert len(memory.name) <= 60
    assert len(memory.description) <= 200


def test_the_same_text_twice_is_remembered_once(store: MemoryStore) -> None:
    actions = [
        store.save(memory_from_text("Use polars. Not pandas.", now=NOW), rename_if_taken=True).action
        for _ in range(2)
    ]
    assert actions == ["created", "unchanged"]
    other = store.save(memory_from_text("Use polars. Always.", now=NOW), rename_if_taken=True)
    assert (other.action, other.memory.name) == ("created", "use-polars-2")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("12h", NOW + timedelta(hours=12)),
        ("30d", NOW + timedelta(days=30)),
        (" 2 W ", NOW + timedelta(weeks=2)),
        ("2026-12-01T10:00:00Z", datetime(2026, 12, 1, 10, tzinfo=UTC)),
        ("2026-12-01", datetime(2026, 12, 1, 23, 59, 59, 999000).astimezone()),
    ],
)
def test_expiry_of_what_people_write(text: str, end: datetime) -> None:
    assert expiry(text, now=NOW) == end


@pytest.mark.parametrize(
    "text", ["", "soon", "30", "30m", "-1d", "1.5d", "2026-02-30", "9" * 30 + "d", "99999999w", "2912000d"]
)
def test_expiry_of_something_else_says_what_is_accepted(text: str) -> None:
    with pytest.raises(InvalidMemory, match="12h, 30d, 2w"):
        expiry(text, now=NOW)


@pytest.mark.parametrize("text", ["0d", "2026-11-28", "2026-11-29T11:59:00Z"])
def test_expiry_in_the_past_is_refused(text: str) -> None:
    with pytest.raises(InvalidMemory, match="not in the future"):
        expiry(text, now=NOW)
