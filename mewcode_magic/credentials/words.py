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
KEY_LENGTH = 20
"""The same for what is called a key and nothing more."""
BESIDE_LENGTH = 6
"""The same for a password that just follows the word."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'`<>]{0,100}:([^\s/\"'`<>]{1,200})@[^\s@/]")
_OPTION = re.compile(
    r"(?:(?<!\S)(?:-u|--user)[ =][\"']?[\w.@-]{1,60}:"  # curl
    r"|\b(?:mysql\w*|mariadb)\b[^\n|]{0,100}? -p|\bsshpass -p ?|\bredis-cli\b[^\n|]{0,100}? -a "
    r"|(?:\b(?:login|credentials)|账号|帐号)[ :\uff1a]{0,2}[\w.@-]{1,60} ?/ ?)"
    r"[\"']?([^\s\"'`]{3,200})",
    re.IGNORECASE,
)
_OPTION_HINTS = ("-u", "mysql", "mariadb", "sshpass", "redis-cli", "login", "credentials", "账号", "帐号")
"""In small letters, of which each text that the pattern above fits holds one: most texts hold none."""

_NAME_HINTS = (
    *("pass", "pwd", "pw", "pin", "secret", "token", "key", "bearer", "contraseña"),
    *("密码", "密碼", "口令", "密钥", "秘钥", "密匙", "令牌", "パスワード", "비밀번호"),
)
"""The same for the names below."""
_NAME = re.compile(
    r"(?P<password>pass(?:word|wd|phrase|code)|(?<![a-z])(?:pwd|pw)|(?<![a-z])pass(?=[\s]?[=:])|(?-i:\bPIN)"
    r"|contraseña|mot de passe|passwort|密码|密碼|口令|パスワード|비밀번호)"
    r"|(?P<token>(?:api|access|secret|auth|account|service|client|signing|encryption|master)[ _-]?key"
    r"|(?-i:(?<=[A-Z]_)KEY)|secret|token|bearer|密钥|秘钥|密匙|令牌)"
    r"|(?<![a-z])key",
    re.IGNORECASE,
)
_CLOSED = r"[\"'`\u201d\u2019\u300d\])\uff09]{0,2}"
_WHOSE = r"(?:[ \t](?:for|of|on|to|in|at)[ \t][^\n:=,;\uff1a\uff0c\u3002\uff1b]{1,60}?)?"
_SET = re.compile(rf"{_CLOSED}{_WHOSE}[ \t]{{0,4}}(?::=|=>|->|={{1,3}}|[:\uff1a|])[ \t]{{0,4}}")
_TOLD = re.compile(
    rf"{_CLOSED}{_WHOSE}(?:"
    r"[ \t]{1,4}(?:(?:is|was|has been|est|ist|lautet|es)(?: now| still)?)?(?: ?(?:(?:re)?set |changed )?to)?"
    r"(?<=[a-z])[ \t]{1,4}"
    r"|[ \t]{0,4}(?:已经?)?(?:是|为|即|(?:设|改|换|更新)(?:置)?(?:成|为)了?|は|が)[ \t:\uff1a]{0,4})",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"[ \t]{1,4}|(?<=[^\x00-\x7f])")
_QUOTED = re.compile(
    r"([\"'`])(?P<straight>(?:(?!\1)[^\n]){3,200})\1|[\u201c\u2018\u300c](?P<curly>[^\u201d\u2019\u300d\n]{3,200})"
)
_BARE = re.compile(r"[^\s\x80-\uffff,;<>\"'`]{4,200}")


def find_in_addresses(text: str) -> Iterator[Value]:
    """Return where passwords stand in addresses: `scheme://user:password@host`."""
    if "://" in text and "@" in text:
        for match in _ADDRESS.finditer(text):
            if not is_placeholder(match[1]):
                yield Value(*match.span(1), "password in an address")


def find_in_words(text: str) -> Iterator[Value]:
    """Return where the values stand that a text calls a password, a key or a token, or gives to a command."""
    lowered = text.lower()
    if any(hint in lowered for hint in _OPTION_HINTS):
        for match in _OPTION.finditer(text):
            if _is_mixed(match[1]):
                yield Value(*match.span(1), "password")
    if not any(hint in lowered for hint in _NAME_HINTS):
        return
    done = 0
    for name in _NAME.finditer(text):
        if name.start() >= done and (span := _value_after(text, name)):
            yield Value(*span, "password" if name["password"] else "key or token")
            done = span[1]


def _value_after(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value of a name stands, or None."""
    for way in (_SET, _TOLD, _BESIDE):
        link = way.match(text, name.end())
        if link is None:
            continue
        if quoted := _QUOTED.match(text, link.end()):
            fits = _is_password if name["password"] else _is_token if name["token"] else _is_key
            group = quoted.lastgroup or 0
            return quoted.span(group) if fits(quoted[group]) else None
        if bare := _BARE.match(text, link.end()):
            value = bare[0].rstrip(".:)}]|")
            if name["password"]:
                fits = _is_mixed if way is _BESIDE else _is_bare_password
                if way is _SET and _is_filled_in(text, name.start(), bare.end()):
                    fits = _is_password
            else:
                fits = _is_token if name["token"] else _is_key
            if value and fits(value):
                return bare.start(), bare.start() + len(value)
    return None


def _is_filled_in(text: str, start: int, end: int) -> bool:
    """Return whether a setting takes the rest of its line, and the line before it names a user."""
    before = text[:start].rpartition("\n")[0].rpartition("\n")[2]
    return text[end : end + 1] in ("", "\n") and _USER.match(before) is not None


_USER = re.compile(r"\W*(?:user(?:name)?|login|account|用户名?|账号)\W{0,3}[:=\uff1a]", re.IGNORECASE)
_CODE = re.compile(
    r"[A-Za-z_][\w.]*[(\[{].*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|\$[({].*|![a-z]+|//.*|\\.*", re.DOTALL
)
"""A call, an index, or an attribute: what gets the value from elsewhere."""
_TERM = re.compile(
    r"\d{1,3}(?:[+%]|[a-z]{1,2})?|\d+-[\da-z-]+|v?\d+(?:\.\d+)+\S*"  # counts, spans, dates, versions
    r"|(?:sha-?\d{1,3}|md5|aes-?\d{3}|rsa-?\d{4}|base\d\d|utf-?\d{1,2}\w*|oauth-?\d|argon2\w*|pbkdf2|x\d{2,3}"
    r"|ed\d{3,5}|1password|2fa)(?:-[a-z-]+)?",
    re.IGNORECASE,
)
"""What has digits in it and is no password."""
_IDENTIFIER = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+|v?\d{1,4})(?:[._/-]+(?:[A-Z]?[a-z]+\d?|[A-Z]+|v?\d{1,4}))*")
"""Words and numbers between dots, dashes and the like: a path, a column, a model."""
_TOKEN = re.compile(r"[\w.+/=~!@#$%^&*-]+", re.ASCII)
_SENTENCE = re.compile(
    r"\b(?:a|an|the|is|are|be|must|should|not|no|your|please|enter|to|of|for)\b", re.IGNORECASE
)


def _is_password(value: str) -> bool:
    """Return whether a value in quotes is a password: that may be one of words."""
    return not (is_placeholder(value) or _CODE.fullmatch(value) or _SENTENCE.search(value))


def _is_bare_password(value: str) -> bool:
    """Return whether a value without quotes is one: words and terms may stand there as well."""
    strong = any(c.isdigit() or c in "!@#$%^&*+~?" for c in value)
    return strong and _is_password(value) and not _TERM.fullmatch(value)


def _is_mixed(value: str) -> bool:
    """Return whether a value is one that nothing but a word in front of it makes a password."""
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and len(value) >= BESIDE_LENGTH and "=" not in value and _is_bare_password(value)


def _is_token(value: str) -> bool:
    if len(value) < TOKEN_LENGTH or is_placeholder(value):
        return False
    if not _TOKEN.fullmatch(value) or _IDENTIFIER.fullmatch(value):
        return False
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _is_key(value: str) -> bool:
    """Return whether the value of a mere "key", of which most are no secrets, can be nothing else."""
    letters = value.isalnum() and len(value) >= KEY_LENGTH
    return letters and not (value.islower() or value.isupper()) and _is_token(value)
