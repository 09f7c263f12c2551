"""What is shown of the connection: the variable and the server, never a secret."""

import pytest

from mewcode_magic.model import describe_connection
from mewcode_magic.model.connection import Connection

KEY = "sk-ant-api03-n0tARealKeyAtAll-0123456789"


def test_nothing_set_says_so() -> None:
    assert describe_connection() == "no key set, server https://api.anthropic.com"
    assert not Connection.from_environment().is_set


def test_key_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    assert describe_connection() == "key from ANTHROPIC_AUTH_TOKEN, server https://api.anthropic.com"
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert describe_connection() == "key from ANTHROPIC_API_KEY, server https://api.anthropic.com"
    assert KEY not in repr(Connection.from_environment())


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://localhost:11434/", "http://localhost:11434"),
        ("https://ann:secret@proxy.example/claude?token=secret#secret", "https://proxy.example/claude"),
        ("http://secret@host", "http://host"),
        ("http://ann:sec@ret@host", "http://host"),
        (f"http://host/{KEY}/", "http://host/[key]"),
        ("secret", "the address in ANTHROPIC_BASE_URL"),
    ],
)
def test_address_is_shown_without_what_is_secret_in_it(
    monkeypatch: pytest.MonkeyPatch, address: str, shown: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    assert describe_connection() == f"no key set, server {shown}"
    assert "secret" not in repr(Connection.from_environment())


def test_secrets_are_masked_in_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-my-own")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://ann:pass%20word!@host")
    connection = Connection.from_environment()
    text = "xa-key-of-my-ownx, pass word!, sk-other-12345678, a-key, ftp://me:too@proxy"
    assert connection.masked(text) == "x[key]x, [key], [key], a-key, ftp://[key]@proxy"
