"""Passwords and keys that are known by the words around them: in addresses, settings, commands, sentences.

English and Chinese, with the words for a password in a few other languages. Here a value has no form of its
own, so it must not look like a word, a measure, or code that gets it from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mewcode_magic.credentials.value import Value, is_placeholder

__all__ = ["find_in_addresses", "find_in_words"]

TOKEN_LENGTH = 16
"""Characters from which on something is taken for a key or token by its name; passwords can be short."""
BESIDE_LENGTH = 6
"""The same for a password that just follows the word."""

_USER = re.compile(r"(?<!\S)(?:-u|--user)[ =][\"']?[\w.@-]{1,60}:([^\s\"'`]{3,200})")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'`<>]{0,100}:([^\s/\"'`<>]{1,200})@[^\s@/]")

_HINTS = (
    *("pass", "pwd", "pw", "pin", "secret", "token", "key", "bearer", "contraseña"),
    *("密码", "密碼", "口令", "密钥", "秘钥", "密匙", "令牌", "パスワード", "비밀번호"),
)
"""What the names below hold, in small letters: most texts hold none."""
_NAME = re.compile(
    r"(?P<password>pass(?:word|wd|phrase|code)|(?<![a-z])(?:pwd|pw)|(?<![a-z])pass(?=[\s]?[=:])|(?-i:\bPIN)"
    r"|\bsshpass -p|contraseña|mot de passe|passwort|密码|密碼|口令|パスワード|비밀번호)"
    r"|(?:api|access|secret|auth|account|service|client|signing|encryption|master)[ _-]?key"
    r"|secret|token|bearer|密钥|秘钥|密匙|令牌",
    re.IGNORECASE,
)
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u300c\u300d"
_CLOSED = rf"[{_QUOTES}\])\uff09]{{0,2}}"
_WHOSE = r"(?:[ \t](?:for|of|on|to|in|at)[ \t][^\n:=,;\uff1a\uff0c\u3002\uff1b]{1,60}?)?"
_SET = re.compile(rf"{_CLOSED}{_WHOSE}[ \t]{{0,4}}(?::=|=>|->|={{1,3}}|[:\uff1a])[ \t]{{0,4}}")
_TOLD = re.compile(
    rf"{_CLOSED}{_WHOSE}(?:"
    r"[ \t]{1,4}(?:(?:is|was|has been) (?:now |still )?)?(?:(?:re)?set to |changed to )?"
    r"(?<=(?:is|as|to|ow|ll) )"
    r"|[ \t]{0,4}(?:已经?)?(?:是|为|即|(?:设|改|换|更新)(?:置)?(?:成|为)了?|は|が)[ \t:\uff1a]{0,4})",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"[ \t]{1,4}|(?<=[^\x00-\x7f])")
_QUOTED = re.compile(rf"[{_QUOTES}]([^{_QUOTES}\n]{{3,200}})[{_QUOTES}]")
_BARE = re.compile(rf"[^\s\x80-\uffff,;<>{_QUOTES}]{{4,200}}")


def find_in_addresses(text: str) -> Iterator[Value]:
    """Return where passwords stand in addresses: `scheme://user:password@host`."""
    if "://" in text and "@" in text:
        for match in _ADDRESS.finditer(text):
            if not is_placeholder(match[1]):
                yield Value(*match.span(1), "password in an address")
    if " -u" in text or " --user" in text:
        for match in _USER.finditer(text):
            if _is_beside(match[1]):
                yield Value(*match.span(1), "password")


def find_in_words(text: str) -> Iterator[Value]:
    """Return where the values stand that a text calls a password, a key or a token."""
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return
    done = 0
    for name in _NAME.finditer(text):
        is_password = name["password"] is not None
        if name.start() >= done and (span := _value_after(text, name.end(), is_password=is_password)):
            yield Value(*span, "password" if is_password else "key or token")
            done = span[1]


def _value_after(text: str, at: int, *, is_password: bool) -> tuple[int, int] | None:
    """Return where the value stands for a name that ends at `at`, or None."""
    for way in (_SET, _TOLD, _BESIDE):
        link = way.match(text, at)
        if link is None:
            continue
        if quoted := _QUOTED.match(text, link.end()):
            fits = _is_quoted_password if is_password else _is_token
            return quoted.span(1) if fits(quoted[1]) else None
        if bare := _BARE.match(text, link.end()):
            value = bare[0].rstrip(".:)}]")
            fits = (_is_beside if way is _BESIDE else _is_bare_password) if is_password else _is_token
            if fits(value):
                return bare.start(), bare.start() + len(value)
    return None


_CODE = re.compile(r"[A-Za-z_][\w.]*[(\[{].*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
"""A call, an index, or an attribute: what gets the value from elsewhere."""
_TERM = re.compile(
    r"\d{1,3}(?:[+%]|[a-z]{1,2})?|\d+-[\da-z-]+|v?\d+(?:\.\d+)+\S*"  # counts, spans, dates, versions
    r"|(?:sha-?\d{1,3}|md5|aes-?\d{3}|rsa-?\d{4}|base\d\d|utf-?\d{1,2}\w*|oauth-?\d|argon2\w*|pbkdf2|x\d{2,3}"
    r"|ed\d{3,5}|1password|2fa)(?:-[a-z-]+)?",
    re.IGNORECASE,
)
"""What has digits in it and is no password."""
_SENTENCE = re.compile(
    r"\b(?:a|an|the|is|are|be|must|should|not|no|your|please|enter|to|of|for)\b", re.IGNORECASE
)


def _is_bare_password(value: str) -> bool:
    if value[0] == "\\" or is_placeholder(value) or _CODE.fullmatch(value) or _TERM.fullmatch(value):
        return False
    return any(c.isdigit() or c in "!@#$%^&*+~?" for c in value)


def _is_beside(value: str) -> bool:
    """Return whether a value is a password that just follows the word: so many other words may."""
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and len(value) >= BESIDE_LENGTH and "=" not in value and _is_bare_password(value)


def _is_quoted_password(value: str) -> bool:
    return not (is_placeholder(value) or _CODE.fullmatch(value) or _SENTENCE.search(value))


def _is_token(value: str) -> bool:
    if (
        len(value) < TOKEN_LENGTH
        or is_placeholder(value)
        or not re.fullmatch(r"[\w.+/=~-]+", value, re.ASCII)
    ):
        return False
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
