"""One client of the Anthropic SDK: sends requests and yields a stream's events as the server sent them.

The SDK opens streams, retries and knows the protocol. Its own accumulation of the events is left out: it
fails on servers that leave out fields, and what comes back to the API has to be exactly what it gave.
Only this module, `failures` and, for the API's own memory tool, `tools/memory_commands` import the SDK.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Generator
from typing import Any

import anthropic
import httpx2
from anthropic.lib.streaming import MessageStream, MessageStreamManager

from mewcode_magic.events import Request
from mewcode_magic.model.connection import Connection
from mewcode_magic.model.failures import Failures

__all__ = ["Wire"]

CONNECT_TIMEOUT = 5.0
"""Seconds for making a connection; the SDK's default."""


class Wire:
    """A client for one model over one connection, made with the options that the connection gives."""

    def __init__(
        self,
        model: str,
        connection: Connection,
        options: dict[str, Any],
        *,
        max_retries: int,
        read_timeout: float,
    ) -> None:
        """Make the client; nothing is sent.

        Raises:
            Unreachable: the settings of proxy, certificates or address cannot be used.
        """
        self.connection = connection
        self.failures = Failures(model, connection)
        self._model = model
        try:
            # Made here, since the one that the SDK makes of itself complains on stderr where this one raises.
            http = anthropic.DefaultHttpxClient()
        except (ValueError, OSError, ImportError) as error:
            raise self.failures.no_client(error) from None
        weakref.finalize(self, http.close)
        try:
            self._client = anthropic.Anthropic(
                **options,
                http_client=http,
                max_retries=max_retries,
                timeout=anthropic.Timeout(read_timeout, connect=CONNECT_TIMEOUT),
                middleware=[self._heed_wait],
            )
        except httpx2.InvalidURL:
            raise self.failures.no_address() from None

    def events(self, request: Request, *, read_timeout: float | None = None) -> Generator[dict[str, Any]]:
        """Yield the events of the reply's stream, without those that say nothing.

        `read_timeout`: seconds without a byte after which it counts as lost; None: the client's.

        Raises:
            ModelError: there is no reply, or the stream breaks.
        """
        try:
            with self._stream(request, read_timeout) as stream:
                yield from self._read(stream)
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError) as error:
            failure = self.failures.explain(error)
        else:
            return
        # Raised outside the handler, so that the SDK's error, request and key with it, does not come along.
        raise failure

    def probe(self, *, timeout: float) -> None:
        """Send a request that asks for nothing: the API refuses it for that, and it costs nothing.

        Raises:
            ModelError: within `timeout` seconds there is no answer, or it is another refusal.
        """
        client = self._client.with_options(
            max_retries=0, timeout=anthropic.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT))
        )
        try:
            client.post("/v1/messages", body={}, cast_to=object)
            failure = self.failures.no_api("no refusal of an empty request")
        except (anthropic.BadRequestError, anthropic.UnprocessableEntityError):
            return
        except (anthropic.AnthropicError, httpx2.HTTPError, ValueError) as error:
            failure = self.failures.explain(error)
        raise failure

    def _stream(self, request: Request, read_timeout: float | None) -> MessageStreamManager[None]:
        messages: Any = request.messages
        optional: dict[str, Any] = {}
        if read_timeout is not None:
            optional["timeout"] = anthropic.Timeout(read_timeout, connect=CONNECT_TIMEOUT)
        if request.system:
            optional["system"] = request.system
        if request.tools:
            optional["tools"] = request.tools
        with warnings.catch_warnings():
            # Nothing is sent yet: this is where the SDK warns of deprecated models, into the user's cell.
            warnings.simplefilter("ignore")
            return self._client.messages.stream(
                model=self._model, max_tokens=request.max_tokens, messages=messages, **optional
            )

    def _read(self, stream: MessageStream[None]) -> Generator[dict[str, Any]]:
        empty = True
        try:
            for sent in anthropic.Stream.raw_events(stream.response):
                if not sent.data or sent.data == "[DONE]":
                    continue
                event = {"type": sent.event, **sent.json()}
                if event["type"] == "error" or event.get("error"):
                    raise self.failures.from_event(event)
                empty = False
                yield event
        except (ValueError, TypeError):
            raise self.failures.damaged() from None
        if empty:
            raise self.failures.no_api(stream.response.headers.get("content-type", ""))

    def _heed_wait(
        self, request: anthropic.APIRequest, send: anthropic.CallNext
    ) -> anthropic.APIResponse[Any]:
        """Hand on each attempt's answer, unless it asks for a wait that the SDK would sit out silently."""
        answer = send(request)
        self.failures.raise_at_long_wait(answer.http_response)
        return answer
