"""Where the Messages API is and which variable of the environment opens it.

No other module sees the key.
"""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from mewcode_magic.errors import KeyRefused, NoKey, Unreachable

__all__ = ["HOW_TO_CONNECT", "Connection"]

BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
DEFAULT_SERVER = "https://api.anthropic.com"
HOW_TO_CONNECT = (
    "set ANTHROPIC_API_KEY before Jupyter starts, or run "
    '`import os, getpass; os.environ["ANTHROPIC_API_KEY"] = getpass.getpass()` in a cell; '
    "for a server of your own (Ollama, llama.cpp, vLLM, LM Studio) set ANTHROPIC_BASE_URL"
)
_KEY_OPTIONS = {"ANTHROPIC_API_KEY": "api_key", "ANTHROPIC_AUTH_TOKEN": "auth_token"}
"""The SDK client's option for each variable, in the order in which they count."""
_PLACEHOLDER = "none"
"""Sent as the key to a server for which none is set: it does not look at it."""
_URL = re.compile(
    r"(?P<scheme>https?)://((?P<login>[^/?#\s]*)@)?(?P<address>[^/?#@\s]+[^?#\s]*)(\S*)", re.IGNORECASE
)
_ANY_KEY = re.compile(r"\bsk-[A-Za-z0-9_-]{8,}")
_ANY_LOGIN = re.compile(r"//[^/@\s]+@")
_LONG_SECRET = 8
"""Characters from which on a secret is masked inside words too; a short one may be part of many."""


@dataclass(frozen=True, slots=True)
class Connection:
    """What the environment says about the API. Its repr, `str()` and `server` hold no secret."""

    key_variable: str | None
    """The variable that supplies the key, or None."""
    _key: str = field(repr=False)
    _url: str = field(repr=False)

    @classmethod
    def from_environment(cls) -> Connection:
        """Return the connection of the variables as they are now; blanks around their values do not count."""
        values = {name: os.environ.get(name, "").strip() for name in (*_KEY_OPTIONS, BASE_URL_VARIABLE)}
        variable = next((name for name in _KEY_OPTIONS if values[name]), None)
        return cls(variable, values[variable] if variable else "", values[BASE_URL_VARIABLE])

    @property
    def is_set(self) -> bool:
        """Whether there is a key, or a server that may need none."""
        return bool(self.key_variable or self._url)

    @property
    def is_custom(self) -> bool:
        """Whether ANTHROPIC_BASE_URL names the server."""
        return bool(self._url)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the server is another one than Anthropic's own, which knows Anthropic's models."""
        return self.server != DEFAULT_SERVER

    @property
    def server(self) -> str:
        """The server's address without user, password and query."""
        url = _URL.fullmatch(self._url or DEFAULT_SERVER)
        if url is None:
            return f"the address in {BASE_URL_VARIABLE}"
        return self.masked(f"{url['scheme']}://{url['address']}".rstrip("/"))

    def __str__(self) -> str:
        """Return one line: where the key comes from, and the server."""
        key = f"key from {self.key_variable}" if self.key_variable else "no key set"
        return f"{key}, server {self.server}"

    def client_options(self) -> dict[str, Any]:
        """Return the SDK client's options: key, address and headers.

        Raises:
            NoKey: neither a key nor a server is set.
            KeyRefused: the value cannot be a key.
            Unreachable: ANTHROPIC_BASE_URL is no address of a server.
        """
        if not self.is_set:
            raise NoKey(f"no API key is set; {HOW_TO_CONNECT}")
        if not all("!" <= character <= "~" for character in self._key):
            raise KeyRefused(
                f"{self.key_variable} holds a blank, a line break or a character that no key has; "
                "copy the key again and set it with nothing around it"
            )
        url = _URL.fullmatch(self._url or DEFAULT_SERVER)
        if url is None:
            raise Unreachable(
                f"{BASE_URL_VARIABLE} is not the address of a server; write it like http://localhost:11434"
            )
        option = _KEY_OPTIONS[self.key_variable] if self.key_variable else "api_key"
        options = {option: self._key or _PLACEHOLDER, "base_url": f"{url['scheme']}://{url['address']}"}
        if login := url["login"]:
            # As a header: HTTP clients write addresses into their logs.
            basic = base64.b64encode(unquote(login).encode()).decode()
            return {**options, "default_headers": {"Authorization": f"Basic {basic}"}}
        return options

    def masked(self, text: str) -> str:
        """Return `text` with every secret of the connection, and all else that looks like a key, replaced."""
        url = _URL.fullmatch(self._url)
        password = unquote(url["login"]).partition(":")[2] if url and url["login"] else ""
        for secret in sorted({self._key, password} - {""}, key=len, reverse=True):
            pattern = re.escape(secret)
            if len(secret) < _LONG_SECRET:
                pattern = rf"(?<!\w){pattern}(?!\w)"
            text = re.sub(pattern, "[key]", text)
        return _ANY_LOGIN.sub("//[key]@", _ANY_KEY.sub("[key]", text))
