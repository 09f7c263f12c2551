"""Questions of the program itself: who answers them, and what of an answer can be used."""

import contextlib
import time

import msgspec
import pytest
from api_server import ApiServer
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.config import MewCode
from mewcode_magic.errors import AnswerUnusable, KeyRefused, ModelError
from mewcode_magic.events import Model, Query
from mewcode_magic.model import SIDE_MODEL, Models, Scripted
from mewcode_magic.model.answer import read_answer
from mewcode_magic.model.claude import Claude


class Names(msgspec.Struct):
    """An answer's form."""

    names: list[str]


def question(**options: object) -> Query:
    return Query("recall", [{"role": "user", "content": "which?"}], Names, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        '{"names": ["a"]}',
        '```json\n{"names": ["a"]}\n```',
        'Here you are:\n\n```\n{"names": ["a"]}\n```\nAnything else?',
        'I looked at [all] of {them}. {"names": ["a"]} It fits.',
        '{"names": ["a"], "why": {"a": [1, 2]}}',
        '{"reasoning": "none"} {"names": ["a"]}',
    ],
)
def test_json_is_read_with_fences_and_words_around_it(text: str) -> None:
    assert read_answer(text, Names).names == ["a"]


@pytest.mark.parametrize("text", ["", "none of them", '{"names": "a"}', '{"names": ["a"', "[" * 100_000])
def test_an_answer_that_does_not_fit_is_an_error(text: str) -> None:
    with pytest.raises(AnswerUnusable, match="cannot be used"):
        read_answer(text, Names)


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    with contextlib.suppress(AnswerUnusable):
        assert isinstance(read_answer(text, Names).names, list)


def test_claude_answers_a_query(server: ApiServer) -> None:
    thinking = {"type": "thinking", "thinking": '{"names": ["no"]}', "signature": "s"}
    server.reply([thinking, {"type": "text", "text": '{"names": ["a"]}'}], to="recall")
    reply = Claude("claude-test").query(question())
    assert reply.value == Names(["a"])
    assert reply.usage.input_tokens == 10
    (seen,) = server.queries["recall"]
    assert seen.body["messages"] == [{"role": "user", "content": "which?"}]
    assert not server.requests


def test_claude_gives_up_a_query_that_takes_too_long(server: ApiServer) -> None:
    server.reply("{}", fault="stall", to="recall")
    started = time.monotonic()
    with pytest.raises(ModelError):
        Claude("claude-test", max_retries=0).query(question(seconds=0.3))
    assert time.monotonic() - started < 5
    assert server.hung_up.wait(5)


def test_a_refused_query_says_why(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong")
    with pytest.raises(KeyRefused):
        Claude("claude-test").query(question())


def test_a_script_answers_by_kind_and_in_order() -> None:
    model = Scripted([], answers={"recall": [{"names": ["a"]}, '```{"names": []}```', ValueError("broken")]})
    assert model.query(question()).value == Names(["a"])
    assert model.query(question()).value == Names([])
    with pytest.raises(ValueError, match="broken"):
        model.query(question())
    with pytest.raises(ModelError, match="no answer left"):
        model.query(question())
    assert [query.kind for query in model.queries] == ["recall"] * 4


def side_of(main: str | Scripted | None = None, **settings: str) -> tuple[Model, Model]:
    models = Models(main, settings=MewCode(**settings))
    return models.main(), models.side(models.main())


def test_a_small_model_answers_beside_claude(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert side_of()[1].name == SIDE_MODEL
    assert side_of(side_model="claude-other")[1].name == "claude-other"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
    assert side_of()[1].name == SIDE_MODEL


def test_another_server_is_asked_for_the_main_model_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:11434")
    main, side = side_of("qwen3")
    assert side is main


@pytest.mark.parametrize("main", [Scripted([]), "offline"])
def test_other_models_answer_for_themselves(main: Scripted | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    chosen, side = side_of(main)
    assert side is chosen


def test_a_model_is_kept_for_its_open_connection() -> None:
    models = Models(settings=MewCode())
    assert models.main("claude-a") is models.main("claude-a")
    assert models.main("claude-a") is not models.main("claude-b")
    assert models.side(models.main("claude-a")) is models.side(models.main("claude-b"))
