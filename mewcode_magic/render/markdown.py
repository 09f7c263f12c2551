"""`safe_markdown`: a model's Markdown in a form that does nothing but look well wherever it is displayed.

Outputs of a cell that has just run are trusted: JupyterLab runs scripts in them and loads their images. So
what a model wrote is parsed and printed again from its parts. What comes out is then read once more, as
JupyterLab would and as others would; if either still found something live, all of it is shown as source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mewcode_magic.render.markdown_printer import fenced, print_markdown
from mewcode_magic.render.tex import PLACE, add_math, without_formulas
from mewcode_magic.render.text import clean, line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["plain_markdown", "safe_markdown"]

_NESTING = 40
"""Most levels of lists and quotes; a text with more of them is shown as its source."""

_SCHEME = re.compile(r"[^/?#]*:")
_ALLOWED_SCHEME = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_FORMULA_IN_ADDRESS = re.compile(rf"(?:://|www\.)\S*{PLACE}", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_PLAIN = re.compile(r"[^\W_](?:[^\W_]|[ ·:,-])*")
"""Names and times, which a document has by the thousand: nobody reads markup in them."""
_PLAIN_LANGUAGE = re.compile(r"[\w+#.-]*", re.ASCII)


def safe_markdown(text: str) -> str:
    r"""Return Markdown for `text` in which nothing is HTML, loads anything, or runs when clicked.

    Any cut of a text will do, so that it can be shown while it arrives. Tags are shown as they are written,
    images are links that show description and address, links lead only to http, https, mailto and relative
    addresses, code keeps each character, `$…$` and `$$…$$` (also written `\(…\)`, `\[…\]`) stay formulas.
    """
    from markdown_it.tree import SyntaxTreeNode

    text = clean(text)
    parser = _parser(html=False)
    add_math(parser)
    tokens = parser.parse(text)
    if any(token.level >= _NESTING for token in tokens):
        return fenced(text)
    printed = print_markdown(SyntaxTreeNode(tokens), may_link=_may_link)
    readings = {printed, without_formulas(printed)}
    return printed if all(_is_harmless(reading) for reading in readings) else fenced(text)


def plain_markdown(text: str, *, heading: int = 0) -> str:
    """Return Markdown for one line in which nothing is markup, as a heading of a level or as a paragraph."""
    text, mark = line(text), f"{'#' * heading} ".lstrip()
    if _PLAIN.fullmatch(text):
        return mark + text
    escaped = _PUNCTUATION.sub(lambda match: f"&#{ord(match.group())};", text)
    return safe_markdown(mark + escaped)


def _parser(*, html: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": html, "maxNesting": _NESTING + 1})
    parser.enable(["table", "strikethrough"])
    # Which links may stay is decided on the result; what is no link here could be one elsewhere.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parser


def _may_link(address: str) -> bool:
    return bool(_ALLOWED_SCHEME.match(address)) or not _SCHEME.match(address)


def _is_harmless(markdown: str) -> bool:
    return not any(_is_live(token) for token in _all(_parser(html=True).parse(markdown)))


def _all(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or ())


def _is_live(token: Token) -> bool:
    if token.type == "link_open":
        address = str(token.attrs["href"])
        return not _may_link(address) or PLACE in address
    if token.type == "fence":
        return not _PLAIN_LANGUAGE.fullmatch(token.info.strip())
    if token.type == "text":
        return bool(_FORMULA_IN_ADDRESS.search(token.content))
    return token.type in ("html_block", "html_inline", "image")
