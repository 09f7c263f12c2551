"""What went wrong between us and the Messages API, as one line that says what to do next."""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, get_args

import anthropic
import httpx2
from anthropic.types import ModelParam

from mewcode_magic.errors import (
    ContextTooLong,
    KeyRefused,
    ModelError,
    NoKey,
    Overloaded,
    RateLimited,
    ReplyCutOff,
    RequestRefused,
    UnknownModel,
    Unreachable,
)
from mewcode_magic.model.connection import BASE_URL_VARIABLE, HOW_TO_CONNECT, Connection

__all__ = ["Failures"]

SAID_LIMIT = 240
"""Characters shown of what a server says, so that the advice after it stays in sight."""
LONGEST_WAIT = 60.0
"""Seconds. A server that asks for a longer wait before a retry gets none: the cell would stand still."""
_STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status that each kind of error has when it is an answer, not an event inside a stream."""
_NOT_ALLOWED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_BUSY = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT)
_TOO_LONG = re.compile(
    r"prompt is too long|context (limit|length|window|size)|maximum context|too many (input )?tokens",
    re.IGNORECASE,
)
_NO_SUCH_MODEL = re.compile(
    r"model\b.*\b(not found|not exist|unknown)|(unknown|invalid|no such) model", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Failures:
    """Names failures of requests for `model` over `connection`; no secret is in any line."""

    model: str
    connection: Connection

    def explain(self, error: Exception) -> ModelError:
        """Return the error for an exception of the SDK or of its transport."""
        match error:
            case anthropic.APIStatusError():
                return self.refusal(error.status_code, _said(error.body), error.response.headers)
            case anthropic.APIConnectionError():
                return self._unreachable(error)
            case httpx2.TimeoutException():
                return ReplyCutOff(
                    f"{self._server} fell silent in the middle of the reply; run the cell again"
                )
            case httpx2.TransportError():
                return ReplyCutOff(
                    f"the connection to {self._server} broke in the middle of the reply; run the cell again"
                )
            case _:
                return RequestRefused(f"the request cannot be sent ({self._quoted(str(error))})")

    def from_event(self, event: Mapping[str, Any]) -> ModelError:
        """Return the error for an `error` event inside a stream."""
        if status := _STATUS_OF.get(_kind(event)):
            return self.refusal(status, _said(event), {})
        said = self._quoted(_said(event)) or "no reason given"
        return ReplyCutOff(f"{self._server} broke the reply off ({said}); run the cell again")

    def refusal(self, status: int, said: str, headers: Mapping[str, str]) -> ModelError:
        """Return the error for an answer with a status of 400 or more; `said` is its message, or ""."""
        error: type[ModelError]
        if status in _NOT_ALLOWED and self.connection.key_variable is None:
            error, line = NoKey, f"{{server}} wants a key{{says}}; {HOW_TO_CONNECT}"
        elif status in _NOT_ALLOWED:
            error = KeyRefused
            line = (
                "{server} does not accept the key in {variable}{says}; "
                "check that it is complete, still valid, and may use {model}"
            )
        elif self._is_unknown_model(status, said):
            error = UnknownModel
            line = (
                "{server} does not know the model {model}{says}; "
                'name {another} with --model or %config MewCode.model = "NAME"'
            )
        elif status == HTTPStatus.NOT_FOUND:
            error = RequestRefused
            line = (
                "there is no Messages API at {server} (404){says}; "
                f"{BASE_URL_VARIABLE} has to be the server's address without /v1"
            )
        elif status == HTTPStatus.TOO_MANY_REQUESTS:
            error = RateLimited
            line = (
                "{server} limits how much may be asked in a short time{says}; "
                "wait {wait} and run the cell again"
            )
        elif status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or _TOO_LONG.search(said):
            error = ContextTooLong
            line = (
                "the request is too long for {model}{says}; %compact shortens the conversation, and "
                "%sessions new starts afresh; lower MewCode.max_tokens if only that does not fit"
            )
        elif status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            error = Overloaded
            line = (
                "{server} cannot answer at the moment ({status}){says}; "
                "wait {wait} and run the cell again, or name another model with --model"
            )
        else:
            error = RequestRefused
            line = (
                "{server} refuses the request ({status}){says}; "
                "%context shows what is sent, %sessions new starts afresh"
            )
        return error(
            line.format(
                server=self._server,
                says=f': "{self._quoted(said)}"' if said else "",
                variable=self.connection.key_variable,
                model=self.model,
                another=self._another(),
                wait=_wait(headers),
                status=status,
            )
        )

    def raise_at_long_wait(self, answer: httpx2.Response) -> None:
        """Raise now what the SDK would raise after a wait that nobody sits out.

        Raises:
            ModelError: the answer is an error and asks to wait for more than `LONGEST_WAIT`.
        """
        if answer.is_success or (_seconds(answer.headers) or 0) <= LONGEST_WAIT:
            return
        body: object = None
        with contextlib.suppress(ValueError):
            body = json.loads(answer.read())
        raise self.refusal(answer.status_code, _said(body), answer.headers)

    def no_client(self, error: Exception) -> ModelError:
        """Return the error for settings of the environment that no client can be made with."""
        return Unreachable(
            f"no connection can be prepared ({self._quoted(str(error))}); check the settings of proxy and "
            "certificates in the environment: HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE"
        )

    def no_address(self) -> ModelError:
        """Return the error for a base URL that is no address."""
        return Unreachable(
            f"{BASE_URL_VARIABLE} is not the address of a server; write it like http://localhost:11434"
        )

    def no_api(self, content_type: str) -> ModelError:
        """Return the error for an answer that holds no events at all."""
        return RequestRefused(
            f"{self._server} answers, but not as the Messages API does (it sent "
            f"{self._quoted(content_type) or 'nothing'}); check {BASE_URL_VARIABLE}"
        )

    def damaged(self) -> ModelError:
        """Return the error for a stream whose events cannot be read."""
        return ReplyCutOff(f"what {self._server} sent cannot be read as a reply; run the cell again")

    @property
    def _server(self) -> str:
        return self.connection.server

    def _quoted(self, text: str) -> str:
        text = self.connection.masked(" ".join(text.split()))
        return text if len(text) <= SAID_LIMIT else text[: SAID_LIMIT - 1] + "…"

    def _is_unknown_model(self, status: int, said: str) -> bool:
        if status == HTTPStatus.NOT_FOUND:
            return "model" in said.lower() or self.model in said
        return status == HTTPStatus.BAD_REQUEST and _NO_SUCH_MODEL.search(said) is not None

    def _another(self) -> str:
        """Return the name to try in place of the model's, where one of Anthropic's is nearly the same."""
        if self.connection.is_custom:
            return "another"
        known = [name for literal in get_args(ModelParam) for name in get_args(literal)]
        return next(iter(difflib.get_close_matches(self.model, known, n=1)), "another")

    def _unreachable(self, error: Exception) -> ModelError:
        server = self._server
        look = (
            f"start the server, or correct {BASE_URL_VARIABLE}"
            if self.connection.is_custom
            else "check the network connection, VPN or proxy"
        )
        cause: BaseException = error
        for cause in _causes(error):
            match cause:
                case socket.gaierror():
                    return Unreachable(f"the host of {server} cannot be found; {look}")
                case ssl.SSLError():
                    return Unreachable(
                        f"no secure connection to {server} ({self._quoted(cause.reason or str(cause))}); "
                        "if a proxy has a certificate of its own, name that in SSL_CERT_FILE"
                    )
                case ConnectionRefusedError():
                    return Unreachable(f"nothing listens at {server}; {look}")
                case httpx2.TimeoutException():
                    return Unreachable(f"{server} did not answer in time; {look}, or run the cell again")
        return Unreachable(f"no connection to {server} ({self._quoted(str(cause) or repr(cause))}); {look}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _kind(body: object) -> str:
    error = body.get("error") if isinstance(body, Mapping) else None
    return str(error.get("type") or "") if isinstance(error, Mapping) else ""


def _said(body: object) -> str:
    """Return what a server says of an error; other servers than the API have forms of their own."""
    if isinstance(body, Mapping):
        error = body.get("error")
        said = error.get("message") if isinstance(error, Mapping) else error or body.get("message")
        return str(said or "")
    return "" if body is None or "<html" in str(body).lower() else str(body)


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Return how long a server asks to wait before the next request."""
    with contextlib.suppress(KeyError, ValueError):
        return float(headers["retry-after-ms"]) / 1000
    with contextlib.suppress(KeyError, ValueError):
        return float(headers["retry-after"])
    with contextlib.suppress(KeyError, ValueError):
        return parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
    return None


def _wait(headers: Mapping[str, str]) -> str:
    seconds = _seconds(headers)
    return f"{max(1, seconds):,.0f} s" if seconds is not None else "a minute"
