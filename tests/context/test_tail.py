"""What a compaction keeps word for word, and where the tail may begin."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.config import MewCode
from mewcode_magic.context import Room
from mewcode_magic.context.tail import divide
from mewcode_magic.context.tokens import estimate_message
from mewcode_magic.messages import Message

THOUSAND = "words " * 900
"""About a thousand tokens."""


def asked(text: str) -> Message:
    return Message(role="user", content=text)


def answered(text: str) -> Message:
    return Message(role="assistant", content=[{"type": "text", "text": text}])


def called(name: str) -> Message:
    call = {"type": "tool_use", "id": name, "name": "Glob", "input": {}}
    return Message(role="assistant", content=[call])


def results(name: str, text: str = "out") -> Message:
    return Message(role="user", content=[{"type": "tool_result", "tool_use_id": name, "content": text}])


def kept(messages: list[Message], **settings: Any) -> list[Message]:
    """Return the tail, after a look that nothing is lost."""
    made = MewCode(**settings)
    earlier, tail = divide(messages, Room.of(200_000, made), made)
    assert len(earlier) + len(tail) == len(messages)
    assert [m for m in messages if m in earlier] == earlier
    assert [m for m in messages if m in tail] == tail
    return tail


def turns(count: int, text: str = "short") -> list[Message]:
    return [m for n in range(count) for m in (asked(f"q{n} {text}"), answered(f"a{n} {text}"))]


def test_latest_messages_are_kept_until_they_are_enough_tokens() -> None:
    messages = turns(40, THOUSAND)
    tail = kept(messages)
    assert tail == messages[-len(tail) :]
    assert 10_000 <= sum(map(estimate_message, tail)) < 12_000


def test_of_short_turns_no_more_than_ten_are_kept() -> None:
    assert kept(turns(40)) == turns(40)[-20:]
    assert kept(turns(40), keep_recent_turns=3) == turns(40)[-6:]


def test_five_messages_are_kept_even_if_fewer_are_enough() -> None:
    messages = turns(20, THOUSAND * 6)
    assert len(kept(messages)) == 5
    assert len(kept(messages, min_keep_messages=3)) == 3


def test_most_tokens_go_before_the_number_of_messages_but_the_last_always_stays() -> None:
    assert len(kept(turns(20, THOUSAND * 15))) == 2
    assert len(kept(turns(20, THOUSAND * 60))) == 1


def test_tail_never_begins_with_results() -> None:
    chain = [asked("go"), *(m for n in range(30) for m in (called(f"t{n}"), results(f"t{n}", THOUSAND)))]
    tail = kept(chain)
    assert tail[0] == chain[0]
    assert tail[1].tool_uses()
    assert not kept([called("t1"), results("t1", THOUSAND * 60)])[0].tool_results()


def test_prompt_of_the_last_turn_stays_in_front_of_what_followed() -> None:
    messages = [asked("old"), answered("x"), asked("the task")]
    messages += [m for n in range(30) for m in (called(f"t{n}"), results(f"t{n}", THOUSAND))]
    tail = kept(messages)
    assert tail[0] == asked("the task")
    assert 5 <= len(tail) < 30


def test_prompt_that_would_fill_the_tail_is_left_to_the_summary() -> None:
    messages = [asked(THOUSAND * 60)]
    messages += [m for n in range(30) for m in (called(f"t{n}"), results(f"t{n}", THOUSAND))]
    assert kept(messages)[0].tool_uses()


def test_conversation_within_the_limits_is_kept_whole() -> None:
    assert kept(turns(3)) == turns(3)
    assert kept([]) == []


@pytest.mark.parametrize(
    ("window", "compacts", "refuses", "most"),
    [
        (200_000, 167_000, 177_000, 40_000),
        (1_000_000, 967_000, 977_000, 40_000),
        (20_000, 10_000, 15_000, 5_000),
    ],
)
def test_limits_follow_the_window(window: int, compacts: int, refuses: int, most: int) -> None:
    room = Room.of(window, MewCode())
    assert (room.compacts_above, room.refuses_above, room.keeps_most) == (compacts, refuses, most)
    assert room.keeps == min(10_000, most)


parts = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, 8)),
        st.tuples(st.just("answer"), st.integers(0, 8)),
        st.tuples(st.just("call"), st.integers(0, 8)),
    ),
    max_size=40,
)


@given(parts, st.integers(1, 8), st.integers(0, 12), st.integers(0, 30_000))
def test_any_tail_is_whole_and_within_its_limit(
    parts: list[tuple[str, int]], least: int, most_turns: int, most: int
) -> None:
    messages: list[Message] = []
    for number, (kind, length) in enumerate(parts):
        if kind == "call":
            messages += [called(f"t{number}"), results(f"t{number}", f"{number}" + THOUSAND * length)]
        else:
            messages.append((asked if kind == "ask" else answered)(f"{number} {THOUSAND * length}"))
    tail = kept(
        messages,
        min_keep_messages=least,
        keep_recent_turns=most_turns,
        keep_max_tokens=most,
        keep_recent_tokens=9_000,
    )
    assert bool(tail) == bool(messages)
    assert tail == [] or not tail[0].tool_results()
    last = 2 if parts and parts[-1][0] == "call" else 1
    assert len(tail) <= last + 1 or sum(map(estimate_message, tail)) <= most
