"""`SearchSessions`: what the agent learns of earlier conversations, and what it does not."""

from dataclasses import replace

import pytest
from session_files import ID, call, role, write
from tool_calls import run_tool

from mewcode_magic.config import MewCode
from mewcode_magic.events import Event
from mewcode_magic.sessions import SessionStore
from mewcode_magic.tools import Permissions, SearchSessions, ToolContext


@pytest.fixture
def store(context: ToolContext) -> SessionStore:
    """The sessions that the tool looks through."""
    return SessionStore(context.project)


def test_answer_has_id_title_and_passage_and_no_question_is_asked(
    context: ToolContext, store: SessionStore
) -> None:
    write(store, role("user", "hello"), role("assistant", "We set the churn threshold to 0.3."))
    asked: list[Event] = []
    result = run_tool(SearchSessions(), context, asked=asked, query="churn thresholds")
    assert not result.is_error
    head, passage = result.text.split("\n")
    assert head.startswith(f"{ID}, 2026-06-18 ")
    assert head.endswith(": hello (1 record with a hit)")
    assert passage == "you: We set the churn threshold to 0.3."
    assert not [event for event in asked if type(event).__name__ == "PermissionAsked"]


def test_nothing_found_is_a_sentence_and_missing_words_are_named(
    context: ToolContext, store: SessionStore
) -> None:
    assert run_tool(SearchSessions(), context, query="churn").text == "no session holds any of these words"
    write(store, role("user", "the churn"))
    result = run_tool(SearchSessions(), context, query="churn polars")
    assert result.text.endswith("(No session holds all the words; the first is without: polars)")


def test_limit_is_kept_and_the_conversation_itself_is_marked(
    context: ToolContext, store: SessionStore
) -> None:
    write(store, role("user", "churn"), name="other")
    write(store, role("user", "churn", 1_781_999_999), name=context.session_id)
    assert run_tool(SearchSessions(), context, query="churn").text.count("this conversation") == 1
    assert "other" not in run_tool(SearchSessions(), context, query="churn", limit=1).text


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": "x", "limit": 0}, {"query": 3}])
def test_wrong_arguments_are_an_error_result(context: ToolContext, arguments: dict[str, object]) -> None:
    assert run_tool(SearchSessions(), context, **arguments).is_error


def test_credentials_in_passages_are_masked(context: ToolContext, store: SessionStore) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30
    write(store, role("user", f"the churn service takes {secret} as its key"))
    text = run_tool(SearchSessions(), context, query="churn service").text
    assert "churn service" in text
    assert secret not in text


def test_values_in_results_are_not_shown_while_they_are_not_shared(
    context: ToolContext, store: SessionStore
) -> None:
    write(
        store,
        role("user", "hello"),
        role("assistant", call("t")),
        role("tool_result", "churn 4711", tool_use_id="t"),
    )
    assert "4711" in run_tool(SearchSessions(), context, query="churn").text
    settings = MewCode(share_values=False)
    text = run_tool(SearchSessions(), replace(context, settings=settings), query="churn").text
    assert ID in text
    assert "4711" not in text


def test_a_rule_can_forbid_it(context: ToolContext, store: SessionStore) -> None:
    write(store, role("user", "churn"))
    settings = MewCode(deny=["SearchSessions"])
    denied = replace(context, settings=settings, permissions=Permissions(settings))
    assert run_tool(SearchSessions(), denied, query="churn").is_error
