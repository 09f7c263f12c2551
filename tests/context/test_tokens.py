"""Estimates, against a tokenizer's counts, and what the API counted."""

from typing import Any

import pytest
from histories import deep
from token_samples import SAMPLES

from mewcode_magic.context import estimate_tokens
from mewcode_magic.context.tokens import IMAGE_TOKENS, TokenMeter, estimate_message, estimate_tokens_of
from mewcode_magic.messages import Message, Usage

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "a" * 99_999}}
WORDS = "revenue of the north by month " * 100


@pytest.mark.parametrize("kind", SAMPLES)
def test_estimate_is_within_fifteen_percent_of_a_tokenizer(kind: str) -> None:
    text, tokens = SAMPLES[kind]
    assert abs(estimate_tokens(text) / tokens - 1) < 0.15


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("提交信息使用前缀", 6, 12),
        ("データフレームには何を使えばいい?", 12, 22),
        ("Быстрая лиса", 6, 12),
        ("x" * 8_000, 700, 4_000),
        ("-" * 8_000, 700, 4_000),
        ("half \ud83d a pair", 3, 7),
    ],
)
def test_text_of_any_kind_is_estimated(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


def test_image_costs_the_same_whatever_its_bytes() -> None:
    assert estimate_tokens_of(IMAGE) == IMAGE_TOKENS
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [IMAGE, {"type": "text", "text": "ok"}]}
    assert IMAGE_TOKENS < estimate_tokens_of([{"role": "user", "content": [result]}]) < IMAGE_TOKENS + 20


def test_signature_of_thinking_costs_nothing() -> None:
    thinking = {"type": "thinking", "thinking": "so", "signature": "a" * 9_999}
    assert estimate_tokens_of(thinking) < 5


@pytest.mark.parametrize("value", [{1: object()}, {"n": 2**64}, {"half": "\ud83d"}, {"deep": deep}])
def test_what_cannot_be_written_as_it_is_counts_all_the_same(value: Any) -> None:
    assert estimate_tokens_of({"type": "tool_use", "input": value}) > 0


# -- a conversation ------------------------------------------------------------------------------------


def said(text: str, *, tokens: int = 0, time: float | None = 1.0) -> Message:
    usage = Usage(tokens - 10, 10) if tokens else None
    return Message(role="assistant", content=text, usage=usage, time=time)


def asked(text: str) -> Message:
    return Message(role="user", content=text, time=1.0)


def count(messages: list[Message]) -> int:
    return TokenMeter().tokens(messages, lambda: 500)


def test_conversation_that_nobody_counted_is_estimated_with_what_stands_in_front() -> None:
    messages = [asked(WORDS), said(WORDS)]
    assert count(messages) == 500 + sum(map(estimate_message, messages))


def test_count_of_the_api_covers_all_up_to_its_reply() -> None:
    assert count([asked(WORDS * 50), said("yes", tokens=7_000)]) == 7_000
    later = asked(WORDS)
    assert count([asked("a"), said("b", tokens=7_000), later]) == 7_000 + estimate_message(later)


def test_reply_without_a_count_is_estimated_behind_the_last_one_that_has_one() -> None:
    stopped, usage_of_nothing = said(WORDS), Message(role="assistant", content="x", usage=Usage(), time=1.0)
    counted = count([said("a", tokens=900), stopped, usage_of_nothing])
    assert counted == 900 + estimate_message(stopped) + estimate_message(usage_of_nothing)


def test_count_of_a_message_that_a_compaction_kept_does_not_hold_any_more() -> None:
    kept = said("yes", tokens=160_000, time=None)
    assert count([asked("a"), kept]) == 500 + estimate_message(asked("a")) + estimate_message(kept)


def test_estimates_follow_how_the_model_counts() -> None:
    meter, messages = TokenMeter(), [asked("a"), said("b", tokens=1_000)]
    total = 1_000
    for _ in range(20):
        messages += [asked(WORDS)]
        meter.tokens(messages, lambda: 0)
        total += round(1.3 * estimate_message(messages[-1])) + 10
        messages += [said("b", tokens=total)]
    assert meter.tokens(messages, lambda: 0) == total
    after = meter.tokens([*messages, asked(WORDS)], lambda: 0) - total
    assert 1.15 < after / estimate_message(asked(WORDS)) < 1.35


def test_request_that_was_made_shorter_in_between_says_nothing_of_how_the_model_counts() -> None:
    meter = TokenMeter()
    messages = [asked("a"), said("b", tokens=90_000)]
    meter.tokens(messages, lambda: 0)
    messages += [asked(WORDS), said("c", tokens=30_000), asked(WORDS)]
    assert meter.tokens(messages, lambda: 0) == 30_000 + estimate_message(asked(WORDS))


def test_conversation_that_was_exchanged_is_counted_anew() -> None:
    meter = TokenMeter()
    assert meter.tokens([asked("a"), said("b", tokens=9_000)], lambda: 0) == 9_000
    assert meter.tokens([asked("c"), said("d", tokens=70), asked("")], lambda: 0) < 90
    assert meter.tokens([], lambda: 3) == 3
