"""Tokens that are known by their form alone, and private keys.

Most kinds come from detect-secrets, which is imported when the first text holds something long enough to be
a token. Of its plugins only those are used that know a token by its form: the ones that measure entropy take
every hash for a secret. Their patterns are applied as they stand, without the global settings and filters
around them: those let through what a comment in the text allows, and whatever is an argument of a call.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from mewcode_magic.background import in_background
from mewcode_magic.credentials.value import Value, is_placeholder

__all__ = ["find_private_keys", "find_tokens"]

PIECE = 4_000
"""Characters of a line that are searched at once, so that no pattern gets slow on a line without end."""
OVERLAP = 1_000

LEFT_OUT = {
    "BasicAuthDetector",  # ours takes passwords of any characters
    "IPPublicDetector",  # an IP address is no credential
    "NpmDetector",  # ours takes the token without its registry
    "OpenAIDetector",  # ours takes the newer forms too
    "PrivateKeyDetector",  # ours takes the whole key, not its first line
}
"""Plugins of detect-secrets that are not used; those for entropy and keywords hold no list of patterns."""

OURS = {
    "Anthropic API key": r"sk-ant-[\w-]{20,}",
    "OpenAI API key": r"sk-(?:proj|svcacct|admin)-[\w-]{20,}",
    "OpenRouter API key": r"sk-or-[\w-]{20,}",
    "API key": r"sk-[A-Za-z0-9]{20,}",  # of many: DeepSeek, DashScope, Moonshot, formerly OpenAI
    "Google API key": r"AIza[\w-]{35}",
    "Google OAuth secret": r"GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}",
    "Hugging Face token": r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
    "GitHub token": r"github_pat_\w{22,}",
    "npm token": r"npm_[A-Za-z0-9]{30,}|(?<=_authToken=)[\w-]{20,}",
    "PyPI token": r"pypi-[\w-]{50,}",
    "Slack token": r"xox[a-z]-[\w-]{20,}|xapp-[\w-]{20,}",
    "Stripe key": r"[sr]k_(?:live|test)_\w{16,}|whsec_\w{20,}",
    "Azure client secret": r"[\w.~-]{3}[78]Q~[\w.~-]{30,}",
    "Azure shared access signature": r"(?<=[?&]sig=)[\w%+/=-]{30,}",
    "Alibaba Cloud access key": r"LTAI[A-Za-z0-9]{12,}",
    "Tencent Cloud secret id": r"AKID[A-Za-z0-9]{13,}",
    "Zhipu API key": r"[0-9a-f]{32}\.[A-Za-z0-9]{16}",
    "DigitalOcean token": r"do[opr]_v1_[0-9a-f]{64}",
    "Databricks token": r"dapi[0-9a-f]{32}",
    "Shopify token": r"shp(?:at|ca|pa|ss)_[0-9a-f]{32}",
    "Vault token": r"hv[sbr]\.[\w-]{20,}",
    "Grafana token": r"gl(?:sa|c)_[\w=+/-]{30,}",
    "Groq API key": r"gsk_[A-Za-z0-9]{40,}",
    "xAI API key": r"xai-[A-Za-z0-9]{40,}",
    "Perplexity API key": r"pplx-[A-Za-z0-9]{32,}",
    "Replicate token": r"r8_[A-Za-z0-9]{30,}",
    "Notion token": r"(?:ntn|secret)_[A-Za-z0-9]{40,}",
    "Linear API key": r"lin_api_[A-Za-z0-9]{30,}",
    "Supabase token": r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}",
    "Sentry token": r"sntry[su]_[\w=+/-]{30,}",
    "Mapbox token": r"sk\.eyJ[\w.-]{30,}",
    "Postman API key": r"PMAK-[0-9a-f-]{30,}",
    "Amazon Bedrock API key": r"ABSK[\w+/]{100,}",
    "Atlassian token": r"ATATT3[\w=-]{100,}",
    "Airtable token": r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    "Terraform token": r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}",
    "Doppler token": r"dp\.[a-z]{2,5}\.[A-Za-z0-9]{40,}",
    "PlanetScale token": r"pscale_[a-z]{2,5}_[\w=.-]{32,}",
    "Prefect API key": r"pn[ub]_[A-Za-z0-9]{36}",
    "HTTP basic credentials": r"(?<=(?i:authorization: basic) )[A-Za-z0-9+/]{12,}={0,2}",
    "Kaggle API key": r"\"username\": ?\"[^\"]{1,60}\", ?\"key\": ?\"([0-9a-f]{32})",
    "Weights and Biases API key": r"(?<=wandb login )[0-9a-f]{40}",
    "Pulumi token": r"pul-[0-9a-f]{40}",
}
"""What detect-secrets does not know, or only in part."""

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----)[\s\S])*-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|[\w+/=\s\\:,-]*)"
)
_RUN = re.compile(r"[A-Za-z0-9_.~+/=:%-]{20,}")
"""What every token is or is part of."""
_REST = re.compile(r"(?:[\w+/=~%-]|\.(?=\w))*", re.ASCII)
"""What belongs to a token behind the characters that its pattern counts."""


def find_private_keys(text: str) -> Iterator[Value]:
    """Return where private keys stand, from their first line to their last."""
    if "PRIVATE KEY" in text:
        for match in _PRIVATE_KEY.finditer(text):
            yield Value(*match.span(), "private key")


def find_tokens(text: str) -> Iterator[Value]:
    """Return where tokens stand, those of exact kinds first."""
    for start, piece in _pieces(text):
        for kind, pattern in _patterns():
            done = 0
            for match in pattern.finditer(piece):
                # The last group is the value where a pattern also looks at the name before it.
                first, last = match.span(match.lastindex or 0)
                if first < done or (first and piece[first - 1].isascii() and piece[first - 1].isalnum()):
                    continue  # the middle of something else
                rest = _REST.match(piece, last)
                done = rest.end() if rest else last
                value = piece[first:done]
                if _is_random(value) and not is_placeholder(value):
                    yield Value(start + first, start + done, kind)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Return the lines that can hold a token, with where they start; long ones in pieces that overlap."""
    done = -1
    for run in _RUN.finditer(text):
        if run.start() < done or not _is_random(run[0]):
            continue
        start, end = text.rfind("\n", 0, run.start()) + 1, text.find("\n", run.end())
        done = len(text) if end < 0 else end
        for at in range(start, done, PIECE - OVERLAP):
            yield at, text[at : min(at + PIECE, done)]


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return the kinds of tokens with their patterns."""
    # In a thread, which no interrupt reaches: its modules import one another, and after an import that was
    # stopped half-way they cannot be imported any more.
    known = in_background(_known_patterns, name="patterns").result()
    return [*((kind, re.compile(pattern, re.ASCII)) for kind, pattern in OURS.items()), *known]


def _known_patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return what detect-secrets knows."""
    showing = warnings.showwarning
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    if (
        warnings.showwarning is not showing
    ):  # the package has the process's warnings logged, where none is seen
        logging.captureWarnings(False)
    plugins: Iterable[Any] = get_mapping_from_secret_type_to_class().values()
    return [
        (_named(plugin.secret_type), pattern)
        for plugin in plugins
        if issubclass(plugin, RegexBasedDetector) and plugin.__name__ not in LEFT_OUT
        for pattern in plugin.denylist
    ]


def _named(secret_type: str) -> str:
    """Return a plugin's kind in small letters, but for its first word and abbreviations."""
    first, *rest = secret_type.split(" ")
    return " ".join([first, *(word if word.isupper() else word.lower() for word in rest)])


def _is_random(value: str) -> bool:
    """Return whether a value is more than words."""
    return any(c.isdigit() for c in value) or not (value.islower() or value.isupper())
