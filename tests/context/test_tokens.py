"""Estimates, within what a tokenizer would say."""

import pytest

from mewcode_magic.context import estimate_tokens
from mewcode_magic.context.tokens import IMAGE_TOKENS, estimate_tokens_of


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("The quick brown fox jumps over the lazy dog.", 9, 15),
        ("提交信息使用前缀", 6, 12),
        ("データフレームには何を使えばいい?", 12, 22),
    ],
)
def test_text_is_estimated_by_its_script(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


def test_image_costs_the_same_whatever_its_bytes() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "a" * 99_999}}
    assert estimate_tokens_of(image) == IMAGE_TOKENS
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [image, {"type": "text", "text": "ok"}]}
    assert IMAGE_TOKENS < estimate_tokens_of([{"role": "user", "content": [result]}]) < IMAGE_TOKENS + 20


def test_key_that_is_no_string_and_value_that_is_no_json_are_borne() -> None:
    assert estimate_tokens_of({1: object()}) > 0
