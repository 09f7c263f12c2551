"""Claude over real HTTP: what goes out, what comes back, and one clear line for each way to fail."""

import logging
import os
import signal
import socket
import threading
import traceback
import warnings
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from anthropic.types import ModelParam
from api_server import ApiServer, Block, Fault

from mewcode_magic import errors
from mewcode_magic.config import MewCode
from mewcode_magic.events import BlockEnded, ModelEvent, ReplyEnded, Request, TextDelta, ThinkingDelta
from mewcode_magic.messages import Usage
from mewcode_magic.model import DEFAULT_MODEL, SIDE_MODEL, Models, window_of
from mewcode_magic.model.claude import Claude
from mewcode_magic.model.names import _WINDOWS

KEY = "sk-ant-api03-n0tARealKeyAtAll-0123456789"
HELLO = Request(
    system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    messages=[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    tools=[{"name": "Remember", "description": "saves", "input_schema": {"type": "object"}}],
    max_tokens=100,
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with ApiServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        yield server


def ask(model: Claude | None = None, request: Request = HELLO) -> list[ModelEvent]:
    return list((model or Claude("claude-test", max_retries=0)).stream(request))


def blocks(events: list[ModelEvent]) -> list[Block]:
    return [event.block for event in events if isinstance(event, BlockEnded)]


def failure(model: Claude | None = None, request: Request = HELLO) -> errors.ModelError:
    """Return the error that a request ends with; no secret is in it nor in its traceback."""
    with pytest.raises(errors.ModelError) as caught:
        ask(model, request)
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < errors.LINE_LIMIT
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return caught.value


# What goes out


def test_request_arrives_as_it_was_built(server: ApiServer) -> None:
    server.reply("Hello.")
    ask()
    sent = server.requests[0]
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "claude-test",
        "max_tokens": 100,
        "stream": True,
        "system": HELLO.system,
        "messages": HELLO.messages,
        "tools": HELLO.tools,
    }


def test_empty_parts_are_left_out(server: ApiServer) -> None:
    server.reply("Hello.")
    ask(request=Request(system=[], messages=HELLO.messages, tools=[], max_tokens=1))
    assert server.requests[0].body.keys() == {"model", "max_tokens", "stream", "messages"}


def test_server_without_key_gets_a_placeholder(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    server.reply("Hello.")
    ask()
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_auth_token_is_the_key_when_it_is_all_there_is(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "ollama")
    server.reply("Hello.")
    ask()
    assert server.requests[0].headers["authorization"] == "Bearer ollama"


def test_key_with_a_line_break_behind_it_is_used_without(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", f" {KEY}\n")
    server.reply("Hello.")
    ask()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_user_and_password_of_the_address_become_a_header(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.replace("//", "//ann:p%40ssw0rd@"))
    server.reply("Hello.")
    ask()
    assert server.requests[0].headers["authorization"] == "Basic YW5uOnBAc3N3MHJk"
    assert "ssw0rd" not in caplog.text


def test_changed_environment_counts_at_the_next_request(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Claude("claude-test")
    server.reply("One.")
    server.reply("Two.")
    ask(model)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    ask(model)
    assert [r.headers["authorization"] for r in server.requests] == [f"Bearer {KEY}", "Bearer another-key"]


# What comes back


def test_text_streams_in_pieces(server: ApiServer) -> None:
    server.reply("A sentence — with 🎉 and 中文.", usage={"cache_read_input_tokens": 7})
    events = ask()
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 2
    assert "".join(pieces) == "A sentence — with 🎉 and 中文."
    assert blocks(events) == [{"type": "text", "text": "A sentence — with 🎉 and 中文."}]
    assert events[-1] == ReplyEnded("end_turn", Usage(10, 5, 0, 7), "claude-test")


def test_blocks_come_exactly_as_the_server_gave_them(server: ApiServer) -> None:
    given = [
        {"type": "thinking", "thinking": "Let me see whether it holds.", "signature": "EqQBCg=="},
        {"type": "thinking", "thinking": "", "signature": "Empty+Signed=="},
        {"type": "redacted_thinking", "data": "Enc=="},
        {"type": "text", "text": "I save it.", "citations": None},
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "Remember",
            "input": {"body": 'quo"te é 🎉', "n": [1, {"a": None}]},
            "caller": {"type": "direct"},
        },
        {"type": "tool_use", "id": "toolu_2", "name": "Remember", "input": {}},
    ]
    server.reply(given)
    events = ask()
    assert blocks(events) == given
    thought = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
    assert thought == "Let me see whether it holds."
    assert events[-1] == ReplyEnded("tool_use", Usage(10, 5), "claude-test")


def test_blocks_are_accepted_when_they_go_back(server: ApiServer) -> None:
    server.reply(
        [
            {"type": "thinking", "thinking": "", "signature": "Sig=="},
            {"type": "text", "text": "Saving."},
            {"type": "tool_use", "id": "toolu_1", "name": "Remember", "input": {"body": "x"}},
        ]
    )
    server.reply("Done.")
    model = Claude("claude-test")
    reply = {"role": "assistant", "content": blocks(ask(model))}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    messages = [*HELLO.messages, reply, {"role": "user", "content": [result]}]
    ask(model, Request(HELLO.system, messages, HELLO.tools, 100))
    assert server.requests[1].body["messages"] == messages


@pytest.mark.parametrize(
    "reason", ["refusal", "max_tokens", "pause_turn", "model_context_window_exceeded", "new"]
)
def test_stop_reason_is_handed_on(server: ApiServer, reason: str) -> None:
    server.reply("So far", stop_reason=reason)
    assert ask()[-1] == ReplyEnded(reason, Usage(10, 5), "claude-test")


def test_reply_names_the_model_that_answered(server: ApiServer) -> None:
    server.reply("Hi.", model="claude-test-20260101")
    assert ask()[-1].model == "claude-test-20260101"


def test_blank_text_is_no_block(server: ApiServer) -> None:
    server.reply([{"type": "text", "text": ""}, {"type": "text", "text": " \n"}])
    assert blocks(ask()) == []


def test_call_cut_by_the_limit_of_tokens_is_no_block(server: ApiServer) -> None:
    start = {"type": "tool_use", "id": "toolu_1", "name": "Remember", "input": {}}
    cut = {"type": "input_json_delta", "partial_json": '{"body": "half a'}
    server.stream(
        [
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": cut},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
            {"type": "message_stop"},
        ]
    )
    events = ask()
    assert blocks(events) == []
    assert events[-1].stop_reason == "max_tokens"


@pytest.mark.parametrize(
    "text", ["[1", "null", '{"a": NaN}', '{"a": 1e999}', '{"a": ' * 20_000], ids=lambda text: text[:11]
)
def test_call_with_input_that_cannot_go_back_to_the_api_is_an_error(server: ApiServer, text: str) -> None:
    start = {"type": "tool_use", "id": "toolu_1", "name": "Remember", "input": {}}
    server.stream(
        [
            {"type": "content_block_start", "index": 0, "content_block": start},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": text},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ]
    )
    error = failure()
    assert isinstance(error, errors.ReplyCutOff)
    assert "'Remember' is not JSON" in str(error)


@pytest.mark.parametrize("part", [{}, {"id": "toolu_1"}, {"name": "Remember"}, {"id": 5, "name": None}])
def test_call_without_id_or_name_is_an_error(server: ApiServer, part: dict[str, Any]) -> None:
    server.stream(
        [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", **part}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_stop"},
        ]
    )
    error = failure()
    assert isinstance(error, errors.ReplyCutOff)
    assert "cannot be read as a reply" in str(error)


def test_call_may_leave_out_an_input_that_is_empty(server: ApiServer) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Remember"}
    server.stream(
        [
            {"type": "content_block_start", "index": 0, "content_block": call},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_stop"},
        ]
    )
    assert blocks(ask()) == [{**call, "input": {}}]


def test_server_may_leave_out_what_the_reply_does_not_need(server: ApiServer) -> None:
    text: dict[str, Any] = {"type": "text", "text": ""}
    server.stream(
        [
            b": a comment\n\n",
            {"type": "message_start", "message": {"content": []}},
            {"type": "news", "anything": 1},
            b'data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}\n\n',
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "later_delta", "text": "?"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "content_block_start", "index": 1, "content_block": {"type": "novel", "x": [1]}},
            {"type": "content_block_stop", "index": 1},
            {"type": "message_stop"},
            b"data: [DONE]\n\n",
        ]
    )
    events = ask()
    assert blocks(events) == [{**text, "text": "Hello"}, {"type": "novel", "x": [1]}]
    assert events[-1] == ReplyEnded("end_turn", Usage(), "claude-test")


def test_half_a_surrogate_pair_becomes_a_character_that_can_be_shown(server: ApiServer) -> None:
    delta = b'"delta": {"type": "text_delta", "text": "a\\ud83d"}'
    server.stream(
        [
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            b'data: {"type": "content_block_delta", "index": 0, ' + delta + b"}\n\n",
            {"type": "content_block_stop", "index": 0},
            {"type": "message_stop"},
        ]
    )
    assert blocks(ask()) == [{"type": "text", "text": "a\N{REPLACEMENT CHARACTER}"}]


def test_deprecated_model_prints_no_warning(server: ApiServer) -> None:
    from anthropic.resources.messages import DEPRECATED_MODELS

    server.reply("Still here.")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ask(Claude(next(iter(DEPRECATED_MODELS))))
    assert [w for w in seen if "deprecated" in str(w.message)] == []


# Failures: no answer


def test_no_key_says_how_to_set_one(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failure()
    assert isinstance(error, errors.NoKey)
    assert "ANTHROPIC_API_KEY" in str(error)
    monkeypatch.setenv("ANTHROPIC_API_KEY", " \n")
    assert isinstance(failure(), errors.NoKey)


@pytest.mark.parametrize(
    "key", ["sk-ant-\nabc", "“sk-ant-abc”", "sk-ant abc", "sk-ant-\x00abc", "sk-clé-abcdef"]
)
def test_value_that_cannot_be_a_key_is_refused_without_showing_it(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    if "\x00" in key:
        monkeypatch.setitem(os.environ, "ANTHROPIC_API_KEY", key.replace("\x00", "\x01"))
    else:
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    error = failure()
    assert isinstance(error, errors.KeyRefused)
    assert "ANTHROPIC_API_KEY" in str(error)
    assert "abc" not in str(error)
    assert server.requests == []


def test_wrong_key_names_its_variable(server: ApiServer) -> None:
    server.key = "another"
    error = failure()
    assert isinstance(error, errors.KeyRefused)
    assert "ANTHROPIC_API_KEY" in str(error)
    assert server.url in str(error)


def test_server_that_wants_a_key_where_none_is_set(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = "another"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    error = failure()
    assert isinstance(error, errors.NoKey)
    assert "wants a key" in str(error)


def test_key_is_masked_when_the_server_echoes_it(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f"invalid x-api-key: Bearer {KEY}, also sk-proj-abcdefghijkl"
    for status in (401, 400, 500, 418):
        server.refuse(status, "authentication_error", echo)
        error = failure()
        assert "[key]" in str(error)
        assert "sk-" not in str(error)
    assert KEY not in caplog.text
    assert KEY not in repr(Claude("claude-test"))


def test_short_key_is_masked_where_it_stands_alone(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "abc")
    server.refuse(400, "invalid_request_error", "key abc is not for abcdef")
    assert '"key [key] is not for abcdef"' in str(failure())


def test_unknown_model_says_how_to_name_another(server: ApiServer) -> None:
    server.model = "claude-other"
    error = failure()
    assert isinstance(error, errors.UnknownModel)
    assert "claude-test" in str(error)
    assert "MewCode.model" in str(error)
    server.refuse(400, "invalid_request_error", "model 'claude-test' not found")
    assert isinstance(failure(), errors.UnknownModel)


def test_address_without_an_api_says_so(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.url}/v1/")
    error = failure()
    assert isinstance(error, errors.RequestRefused)
    assert "without /v1" in str(error)


def test_page_in_place_of_a_stream_says_so(server: ApiServer) -> None:
    server.answer(200, b"<html>Log in to the hotel's network</html>")
    error = failure()
    assert isinstance(error, errors.RequestRefused)
    assert "text/html" in str(error)


def test_proxy_page_with_an_error_is_not_quoted(server: ApiServer) -> None:
    server.answer(502, b"<html><body>Bad gateway</body></html>")
    error = failure()
    assert isinstance(error, errors.Overloaded)
    assert "<" not in str(error)


def test_rate_limit_says_how_long_to_wait(server: ApiServer) -> None:
    server.refuse(429, "rate_limit_error", "Too fast.", headers={"retry-after": "20"})
    error = failure()
    assert isinstance(error, errors.RateLimited)
    assert '"Too fast."; wait 20 s' in str(error)
    server.refuse(429, "rate_limit_error", "Too many tokens.")
    error = failure()
    assert isinstance(error, errors.RateLimited)
    assert "wait a minute" in str(error)


@pytest.mark.parametrize("wait", ["7200", "inf", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_wait_that_nobody_sits_out_ends_the_request_at_once(server: ApiServer, wait: str) -> None:
    server.refuse(429, "rate_limit_error", "Daily limit.", headers={"retry-after": wait})
    server.reply("Never asked for.")
    error = failure(Claude("claude-test", max_retries=2))
    assert isinstance(error, errors.RateLimited)
    assert '"Daily limit."; wait ' in str(error)
    assert len(server.requests) == 1


def test_overload_says_what_to_do(server: ApiServer) -> None:
    server.refuse(529, "overloaded_error", "Overloaded")
    error = failure()
    assert isinstance(error, errors.Overloaded)
    assert "529" in str(error)


def test_answer_after_an_error_of_the_server_is_had_by_a_retry(server: ApiServer) -> None:
    server.refuse(500, "api_error", "Oops", headers={"retry-after-ms": "1"})
    server.refuse(529, "overloaded_error", "Overloaded", headers={"retry-after-ms": "1"})
    server.reply("There.")
    assert blocks(ask(Claude("claude-test"))) == [{"type": "text", "text": "There."}]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 198000 + 16000 > 200000",
        ),
        (413, "request_too_large", "Request exceeds the maximum size"),
        (400, "invalid_request_error", "the request exceeds the available context size"),
    ],
)
def test_request_beyond_the_window_says_what_to_do(
    server: ApiServer, status: int, kind: str, message: str
) -> None:
    server.refuse(status, kind, message)
    error = failure()
    assert isinstance(error, errors.ContextTooLong)
    assert "%sessions new" in str(error)


def test_refused_request_quotes_the_reason_as_one_line(server: ApiServer) -> None:
    server.refuse(400, "invalid_request_error", "messages.3: broken\nForged line {0} " + "x" * 5000)
    error = failure()
    assert isinstance(error, errors.RequestRefused)
    assert "messages.3: broken Forged line {0}" in str(error)
    assert str(error).endswith("%sessions new starts afresh")


def test_request_that_breaks_a_rule_is_refused_as_by_the_api(server: ApiServer) -> None:
    broken = Request([], [{"role": "user", "content": [{"type": "text", "text": " "}]}], [], 10)
    error = failure(request=broken)
    assert isinstance(error, errors.RequestRefused)
    assert "an empty text block" in str(error)


def test_half_a_surrogate_pair_in_a_request_is_one_line(server: ApiServer) -> None:
    broken = Request([], [{"role": "user", "content": "\ud83d"}], [], 10)
    assert isinstance(failure(request=broken), errors.RequestRefused)
    assert server.requests == []


def test_nothing_listening_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
    error = failure()
    assert isinstance(error, errors.Unreachable)
    assert f"nothing listens at http://127.0.0.1:{port}" in str(error)


def test_host_that_does_not_exist_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    # A label of 64 characters is one that no resolver looks up.
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://{'x' * 64}.invalid")
    assert isinstance(failure(), errors.Unreachable)


def test_server_without_tls_says_so(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.replace("http:", "https:"))
    error = failure()
    assert isinstance(error, errors.Unreachable)
    assert "no secure connection" in str(error)


def test_server_that_never_answers_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{mute.getsockname()[1]}")
        error = failure(Claude("claude-test", max_retries=0, read_timeout=0.05))
    assert isinstance(error, errors.Unreachable)
    assert "did not answer in time" in str(error)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SSL_CERT_FILE", "/no/such/file"),
        ("SSL_CERT_FILE", __file__),
        ("HTTPS_PROXY", "gopher://ann:passw0rd@proxy"),
        ("ALL_PROXY", "socks5://ann:passw0rd@proxy"),
    ],
)
def test_settings_that_no_connection_can_be_made_with_are_named(
    server: ApiServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    variable: str,
    value: str,
) -> None:
    monkeypatch.setenv(variable, value)
    error = failure()
    assert isinstance(error, errors.Unreachable)
    assert variable in str(error)
    assert "passw0rd" not in str(error)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "address",
    ["localhost:11434", "http://", "ftp://host", "http://[::1", "http://host:port", "http://a b", KEY],
)
def test_address_that_is_none_names_its_variable(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    error = failure()
    assert isinstance(error, errors.Unreachable)
    assert "ANTHROPIC_BASE_URL" in str(error)


# Failures: half an answer


@pytest.mark.parametrize("fault", ["cut", "close", "malformed", "not-utf8"])
def test_reply_that_breaks_off_is_told_after_what_arrived(server: ApiServer, fault: Fault) -> None:
    server.reply("Once upon a time there was a stream that", fault=fault)
    events = Claude("claude-test").stream(HELLO)
    assert next(events) == TextDelta("Once up")
    with pytest.raises(errors.ReplyCutOff, match="run the cell again"):
        list(events)
    assert len(server.requests) == 1


def test_error_inside_a_stream_is_told_like_any_other(server: ApiServer) -> None:
    server.reply("Once upon a time there was", fault="error")
    events = Claude("claude-test").stream(HELLO)
    assert next(events) == TextDelta("Once up")
    with pytest.raises(errors.Overloaded):
        list(events)


def test_error_of_an_unknown_kind_inside_a_stream_is_a_reply_cut_off(server: ApiServer) -> None:
    server.stream([{"type": "error", "error": {"type": "strange_error", "message": "Broken."}}])
    error = failure()
    assert isinstance(error, errors.ReplyCutOff)
    assert "Broken." in str(error)


def test_stalled_stream_times_out(server: ApiServer) -> None:
    server.reply("Once upon a time there was", fault="stall")
    error = failure(Claude("claude-test", max_retries=0, read_timeout=0.05))
    assert isinstance(error, errors.ReplyCutOff)
    assert "fell silent" in str(error)


def test_events_out_of_order_are_a_damaged_reply(server: ApiServer) -> None:
    server.stream([{"type": "content_block_stop", "index": 4}])
    assert isinstance(failure(), errors.ReplyCutOff)


# Ending early


def test_closed_iterator_closes_the_connection(server: ApiServer) -> None:
    server.reply("Once upon a time there was", fault="stall")
    events = Claude("claude-test").stream(HELLO)
    assert next(events) == TextDelta("Once up")
    events.close()
    assert server.hung_up.wait(5)


def test_interrupt_in_a_stall_ends_the_stream_and_the_next_request_works(server: ApiServer) -> None:
    server.reply("Once upon a time there was", fault="stall")
    server.reply("Next.")
    model = Claude("claude-test")
    events = model.stream(HELLO)
    assert next(events) == TextDelta("Once up")
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        list(events)
    assert server.hung_up.wait(5)
    assert blocks(ask(model)) == [{"type": "text", "text": "Next."}]


# The defaults


@pytest.mark.parametrize(("family", "default"), [("sonnet", DEFAULT_MODEL), ("haiku", SIDE_MODEL)])
def test_default_models_are_the_newest_of_the_sdk(family: str, default: str) -> None:
    names = [name for literal in get_args(ModelParam) for name in get_args(literal)]
    models = [n for n in names if n.startswith(f"claude-{family}-") and len(n.split("-")[-1]) < 8]
    assert max(models, key=lambda name: [int(part) for part in name.split("-")[2:]]) == default


def test_windows_are_of_models_that_the_sdk_knows() -> None:
    names = [name for literal in get_args(ModelParam) for name in get_args(literal)]
    for prefix in _WINDOWS.keys() - {"offline"}:
        assert [name for name in names if name.startswith(prefix)] != []
    assert {window_of(DEFAULT_MODEL), window_of(SIDE_MODEL)} == {1_000_000}
    assert window_of("claude-haiku-4-5-20251001") == window_of("scripted") == 200_000


def test_model_is_chosen_by_name_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models(settings=MewCode())
    assert models.main().name == "offline"
    assert models.main("claude-x").name == "claude-x"
    assert Models("claude-y", settings=MewCode(model="claude-z")).main().name == "claude-y"
    assert Models(settings=MewCode(model="claude-z")).main().name == "claude-z"
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:11434")
    assert models.main().name == DEFAULT_MODEL
    assert models.main("offline").name == "offline"
