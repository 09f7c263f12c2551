"""A local server that speaks the Messages API's streaming, with its refusals and its faults.

::

    with ApiServer() as server:
        server.reply("Hello.")
        ...                                  # ask a `Claude` while ANTHROPIC_BASE_URL is server.url
        assert server.requests[0].body["messages"][-1]["content"] == "Hi"

Each request takes the next scripted answer. One that the API would refuse gets the API's 400 and takes none.
The program's own questions (recall, extraction and so on) are told by their prompts, counted apart and take
the answers scripted with `to=KIND`; without one, extraction finds nothing and every other query is refused.
"""

import json
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from request_rules import broken_rules

from mewcode_magic import prompts
from mewcode_magic.prompts import prompt

Event = dict[str, Any]
Block = dict[str, Any]
Fault = Literal["cut", "close", "stall", "malformed", "not-utf8", "error"]

Kind = Literal["prompt", "recall", "extract", "summary", "compact", "condense"]

QUERIES: tuple[Kind, ...] = ("recall", "extract", "summary", "compact", "condense")

PIECE = 7
"""Characters of a delta."""


@dataclass(frozen=True)
class SeenRequest:
    """A request as it arrived; header names are lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What is sent for one request: an error's body, or the stream's chunks and how it ends."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    chunks: tuple[bytes, ...] = ()
    end: Literal["whole", "cut", "stall"] = "whole"
    gate: threading.Event | None = None
    """What the second half of the chunks waits for."""


class ApiServer:
    """The server, running in threads between `with` and its end.

    `key`: the only one that is accepted; None takes any. `model`: the only one that is known; None: all are.
    """

    def __init__(self, *, key: str | None = None, model: str | None = None) -> None:
        self.key = key
        self.model = model
        self.requests: list[SeenRequest] = []
        self.hung_up = threading.Event()
        """Set when a client closes the connection of a stalled stream."""
        self.queries: dict[Kind, list[SeenRequest]] = {kind: [] for kind in QUERIES}
        """The program's own questions, by kind."""
        self._answers: dict[Kind, list[Answer]] = {kind: [] for kind in ("prompt", *QUERIES)}
        self._stopping = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.api = self
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()

    def reply(
        self,
        content: str | list[Block],
        *,
        stop_reason: str | None = None,
        usage: dict[str, Any] | None = None,
        model: str | None = None,
        fault: Fault | None = None,
        gate: threading.Event | None = None,
        to: Kind = "prompt",
    ) -> None:
        """Script a reply of text or of blocks; with `fault` it goes wrong after half of its events.

        With `gate` it goes on after half of them when that is set. `stop_reason` is by default what the
        blocks suggest; `usage` adds to or replaces the default counts.
        """
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        events = list(stream_events(blocks, stop_reason=stop_reason, usage=usage or {}, model=model))
        if fault is not None:
            del events[len(events) // 2 :]
        chunks = [sse(event) for event in events]
        match fault:
            case "error":
                chunks.append(sse(error_body("overloaded_error", "Overloaded")))
            case "malformed":
                chunks.append(b'event: content_block_delta\ndata: {"type": "content_block_del\n\n')
            case "not-utf8":
                chunks.append(b'event: content_block_delta\ndata: {"type": "\xff"}\n\n')
        end: Literal["whole", "cut", "stall"] = fault if fault in ("cut", "stall") else "whole"
        self._answers[to].append(Answer(chunks=tuple(chunks), end=end, gate=gate))

    def stream(self, events: Iterable[Event | bytes]) -> None:
        """Script a stream of events as they are given; bytes go out unchanged."""
        self._answers["prompt"].append(
            Answer(chunks=tuple(event if isinstance(event, bytes) else sse(event) for event in events))
        )

    def refuse(
        self,
        status: int,
        kind: str = "api_error",
        message: str = "",
        *,
        headers: dict[str, str] | None = None,
        to: Kind = "prompt",
    ) -> None:
        """Script an error answer in the API's form."""
        body = json.dumps(error_body(kind, message)).encode()
        self._answers[to].append(Answer(status, headers or {}, "application/json", (body,)))

    def answer(self, status: int, body: bytes, content_type: str = "text/html") -> None:
        """Script an answer that is no API's."""
        self._answers["prompt"].append(Answer(status, {}, content_type, (body,)))

    def _answer_to(self, seen: SeenRequest) -> Answer:
        """Return what the API says to a request: a refusal of its own, or the next scripted answer."""
        kind = kind_of(seen.body)
        (self.requests if kind == "prompt" else self.queries[kind]).append(seen)
        if self.key is not None and seen.headers.get("authorization") != f"Bearer {self.key}":
            return refusal(401, "authentication_error", "invalid bearer token")
        if seen.path != "/v1/messages":
            return refusal(404, "not_found_error", "Not Found")
        if self.model is not None and seen.body.get("model") != self.model:
            return refusal(404, "not_found_error", f"model: {seen.body['model']}")
        if broken := broken_rules(seen.body) if "messages" in seen.body else ["messages: Field required"]:
            return refusal(400, "invalid_request_error", "; ".join(broken))
        if self._answers[kind]:
            return self._answers[kind].pop(0)
        if kind == "extract":
            return Answer(chunks=whole_stream('{"operations": []}'))
        return refusal(400, "invalid_request_error", "the test scripted no answer to this request")


def kind_of(body: dict[str, Any]) -> Kind:
    """Return which of the program's own questions a request is, else that it is a prompt."""
    system = body.get("system") or [{}]
    said = system if isinstance(system, str) else system[0].get("text")
    return next((kind for kind in QUERIES if has_prompt(kind) and said == prompt(kind)), "prompt")


def has_prompt(kind: Kind) -> bool:
    """Whether the program asks questions of a kind yet."""
    return Path(prompts.__file__).with_name(f"{kind}.md").exists()


def whole_stream(text: str) -> tuple[bytes, ...]:
    """Return the chunks of a reply of text."""
    events = stream_events([{"type": "text", "text": text}], stop_reason=None, usage={}, model=None)
    return tuple(sse(event) for event in events)


def error_body(kind: str, message: str) -> dict[str, Any]:
    """Return an error as the API words it."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def refusal(status: int, kind: str, message: str) -> Answer:
    """Return an error answer."""
    return Answer(status, {}, "application/json", (json.dumps(error_body(kind, message)).encode(),))


def sse(event: Event) -> bytes:
    """Return a server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def stream_events(
    blocks: list[Block], *, stop_reason: str | None, usage: dict[str, Any], model: str | None
) -> Iterator[Event]:
    """Yield the events of a reply as the API sends them, pings included."""
    called = any(block["type"] == "tool_use" for block in blocks)
    counts = {
        "input_tokens": 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 5,
        **usage,
    }
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model or "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**counts, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "ping"}
    for index, block in enumerate(blocks):
        start, deltas = _deltas(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {
            "stop_reason": stop_reason or ("tool_use" if called else "end_turn"),
            "stop_sequence": None,
        },
        "usage": {"output_tokens": counts["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _deltas(block: Block) -> tuple[Block, list[Event]]:
    """Return a block as it starts, and what is then added to it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": p} for p in _pieces(block["text"])]
        case "thinking":
            pieces = [{"type": "thinking_delta", "thinking": p} for p in _pieces(block["thinking"])]
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*pieces, signature]
        case "tool_use":
            pieces = ["", *_pieces(json.dumps(block["input"]))]
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in pieces]
        case _:
            return block, []


def _pieces(text: str) -> list[str]:
    return [text[i : i + PIECE] for i in range(0, len(text), PIECE)]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: ApiServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up, which some tests are about."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_POST(self) -> None:
        api = self.server.api
        length = int(self.headers["content-length"])
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = api._answer_to(SeenRequest(self.path, headers, body))
        try:
            self._send(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in {"content-type": answer.content_type, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for place, chunk in enumerate(answer.chunks):
            if answer.gate is not None and place == len(answer.chunks) // 2:
                answer.gate.wait()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if answer.end == "stall":
            self._stall()
        if answer.end == "whole":
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _stall(self) -> None:
        """Send nothing more until the client hangs up or the server stops."""
        api = self.server.api
        self.connection.settimeout(0.02)
        while not api._stopping.is_set():
            try:
                if self.connection.recv(1) == b"":
                    api.hung_up.set()
                    return
            except TimeoutError:
                continue
            except OSError:
                api.hung_up.set()
                return

    def log_message(self, *args: object) -> None:
        """Say nothing: pytest shows what the tests print."""
