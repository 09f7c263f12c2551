"""Data inside the wrappers cannot end or forge one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.messages import escape_tags

NAMES = ["system-reminder", "system_reminder", "relevant_memories", "relevant-memories", "memory"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "tag", ["</{}>", "<{}>", "< / {}\n>", "<{} name='x'>", "<\u200b/{} >", "</{}", "<</{}>"]
)
def test_escape_tags_defuses_opening_and_closing_tags_in_any_spelling(name: str, tag: str) -> None:
    for spelling in (name, name.upper(), name.title()):
        text = f"before {tag.format(spelling)} after"
        escaped = escape_tags(text)
        assert f"<{tag.format(spelling).removeprefix('<')}" not in escaped
        assert escaped.replace("&lt;", "<") == text


def test_escape_tags_leaves_other_text_alone() -> None:
    text = "a < b, <b>bold</b>, std::vector<memory_order>, <memory-map>, <memories>, 1 <2"
    assert escape_tags(text) == text


@given(
    st.lists(st.sampled_from(["<", "/", " ", "\n", "\u200b", ">", "memory", "System-Reminder", "a", "&lt;"]))
)
def test_escape_tags_leaves_no_tag_and_is_stable(pieces: list[str]) -> None:
    escaped = escape_tags("".join(pieces))
    assert not re.search(r"(?i)<[\s/\u200b]*(memory|system-reminder)(?![\w-])", escaped)
    assert escape_tags(escaped) == escaped
