"""Parsed Markdown written out again, in forms that every front end reads in the same way.

Only what is built here reaches a front end: text is escaped with entities (never with backslashes, which
some readers take for TeX), code stands in fences and spans that nothing in it can close, addresses hold no
character that means anything, images are links, and there are no definitions, titles or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import quote

from mewcode_magic.render.tex import ADDRESS
from mewcode_magic.render.text import clean, line

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

__all__ = ["code_span", "fenced", "print_markdown"]

BREAK = "*\N{WORD JOINER}*"
"""An invisible element. MathJax looks for formulas in the finished page, but not across elements."""

_ADDRESS_LIMIT = 80
"""Characters of an address that are shown."""

_SPECIAL = re.compile(
    r"""
      [\\$`*~|]
    | (?<![^\W_]) _ | _ (?![^\W_])       # snake_case is no emphasis anywhere
    | < (?![\s\d=-]) | & (?=\#?\w+;) | @ (?=@)
    | ! (?=\[|$) | \] (?=[\[(:]|$) | \# (?=\#*$)
    """,
    re.VERBOSE,
)
_BRACKET = re.compile(r"[\[\]]")
_TEX_START = re.compile(r"\\(?:[\\$(\[]|begin|end|ref|eqref|$)")
_LINE_START = re.compile(r"^(?:([-+#>=:])|(\d+)([.)])(?=\s|$))", re.MULTILINE)

_MATH_EDGE_IN_SPAN = re.compile(r"\$\$|\\(?:begin|end)\b|\\\\[()\[\]]")
_MATH_EDGE_IN_FENCE = re.compile(r"\$|\\begin\b|\\\\[(\[]")
"""What a front end that looks for formulas before it knows what is code takes for the edge of one."""

_LANGUAGE = re.compile(r"[\w+#.-]{1,40}", re.ASCII)
_NAMES_A_PICTURE = re.compile(r"//|[\\&#<]|https?:|data:", re.IGNORECASE)
"""What a diagram cannot do without that names a picture elsewhere, in whatever spelling."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a piece of text stands."""

    may_link: Callable[[str], bool]
    one_line: bool = False
    in_cell: bool = False
    in_link: bool = False
    dollars: bool = False
    """Whether the block has several, so that two of them could be taken for a formula."""


def print_markdown(root: SyntaxTreeNode, *, may_link: Callable[[str], bool]) -> str:
    """Return the Markdown of a parsed text; `may_link` says which addresses stay links."""
    return _join(_block(child, _Place(may_link)) for child in root.children)


def fenced(code: str, language: str = "") -> str:
    """Return `code` as a fenced block that none of its lines can close."""
    code = code.removesuffix("\n")
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", code))])
    return "\n".join([fence + language, *([code] if code else []), fence])


def code_span(code: str) -> str:
    """Return `code`, one line that is not empty, as a code span."""
    runs = {len(run) for run in re.findall("`+", code)}
    fence = "`" * next(length for length in count(1) if length not in runs)
    needs_room = code.startswith("`") or code.endswith("`") or (code[0] == code[-1] == " " and code.strip())
    return f"{fence} {code} {fence}" if needs_room else f"{fence}{code}{fence}"


def _join(blocks: Iterable[str], separator: str = "\n\n") -> str:
    return separator.join(block for block in blocks if block)


def _block(node: SyntaxTreeNode, place: _Place) -> str:
    match node.type:
        case "paragraph":
            return _leaf(node.children[0], place)
        case "heading":
            text = _leaf(node.children[0], replace(place, one_line=True))
            return f"{'#' * int(node.tag[1])} {text}".rstrip()
        case "fence" | "code_block":
            return fenced(node.content, _language(node))
        case "math_block":
            return f"$$ {node.content} $$"
        case "hr":
            return "___"  # the other forms can be read as items of a list
        case "blockquote":
            quoted = _join(_block(child, place) for child in node.children)
            return _indented(quoted, "> ", "> ", blank=">")
        case "bullet_list" | "ordered_list":
            return _list(node, place)
        case "table":
            return _table(node, place)
        case unknown:
            raise ValueError(f"no form for a {unknown} block")


def _language(node: SyntaxTreeNode) -> str:
    match = _LANGUAGE.match(node.info.strip())
    language = match.group() if match else ""
    if language.lower().startswith("mermaid") and _NAMES_A_PICTURE.search(node.content):
        return ""  # the front ends that draw diagrams would load it
    return language


def _list(node: SyntaxTreeNode, place: _Place) -> str:
    # A formula ends at an empty line, so with those around it a nested fence keeps its edges.
    loose = any(_is_loose(child) for item in node.children for child in item.children) or any(
        child.type in ("fence", "code_block") and _MATH_EDGE_IN_FENCE.search(child.content)
        for child in node.walk()
    )
    separator = "\n\n" if loose else "\n"
    items = []
    for item in node.children:
        marker = f"{item.info}{item.markup} "
        content = _join((_block(child, place) for child in item.children), separator)
        items.append(_indented(content, marker, " " * len(marker)))
    return separator.join(items)


def _is_loose(child: SyntaxTreeNode) -> bool:
    if child.type == "paragraph":
        return not child.hidden
    return child.type not in ("bullet_list", "ordered_list", "fence")


def _indented(text: str, first: str, rest: str, *, blank: str = "") -> str:
    head, *others = text.split("\n")
    return "\n".join([(first + head).rstrip(), *(rest + other if other else blank for other in others)])


def _table(node: SyntaxTreeNode, place: _Place) -> str:
    place = replace(place, one_line=True, in_cell=True)
    head, *body = [row for part in node.children for row in part.children]
    rules = {"text-align:left": ":---", "text-align:center": ":---:", "text-align:right": "---:"}
    lines = [
        [_leaf(cell.children[0], place) for cell in head.children],
        [rules.get(str(cell.attrs.get("style")), "---") for cell in head.children],
        *([_leaf(cell.children[0], place) for cell in row.children] for row in body),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _leaf(node: SyntaxTreeNode, place: _Place) -> str:
    """Return the text of a paragraph, a heading or a cell."""
    text = _spans(node, replace(place, dollars=node.content.count("$") > 1))
    stripped = "\n".join(part.strip() for part in text.split("\n"))
    return _LINE_START.sub(lambda match: (match[2] or "") + _entity(match[1] or match[3]), stripped)


def _spans(node: SyntaxTreeNode, place: _Place) -> str:
    parts, word = [], ""
    for child in node.children:
        if child.type != "text" and ADDRESS.search(word):
            parts.append(" ")  # some make a link of the address first, with all that clings to it
            word = ""
        parts.append(_span(child, place))
        word = (word + _words(child)).rpartition(" ")[2]
    return "".join(parts)


def _words(node: SyntaxTreeNode) -> str:
    """Return what of a part of a line is printed as text."""
    if node.type in ("softbreak", "hardbreak"):
        return " "
    if node.type == "text" or (node.type == "code_inline" and not _stays_code(node)):
        return node.content
    return "".join(_words(child) for child in node.children)


def _stays_code(node: SyntaxTreeNode) -> bool:
    return not _MATH_EDGE_IN_SPAN.search(node.content)


def _span(node: SyntaxTreeNode, place: _Place) -> str:
    match node.type:
        case "text":
            return _text(node.content, place)
        case "softbreak":
            return " " if place.one_line else "\n"
        case "hardbreak":
            return " " if place.one_line else "\\\n"
        case "code_inline":
            return _code(node, place)
        case "math_inline":
            tex = node.content.replace("|", "\\vert{}") if place.in_cell else node.content
            return f"{node.markup}{tex}{node.markup}"
        case "em" | "strong" | "s":
            return f"{node.markup}{_spans(node, place)}{node.markup}"
        case "link":
            return _link(node, str(node.attrs["href"]), place)
        case "image":
            return _image(node, str(node.attrs["src"]), place)
        case unknown:
            raise ValueError(f"no form for {unknown} in a line")


def _text(text: str, place: _Place) -> str:
    text = clean(text).replace("\n", " ").replace("\t", " ")  # entities can stand for any character

    def escaped(match: re.Match[str]) -> str:
        entity = _entity(match.group())
        if _TEX_START.match(text, match.start()) or (match.group() == "$" and place.dollars):
            entity += BREAK
        return entity

    printed = _SPECIAL.sub(escaped, text)
    return _BRACKET.sub(lambda match: _entity(match.group()), printed) if place.in_link else printed


def _entity(character: str) -> str:
    return f"&#{ord(character)};"


def _code(node: SyntaxTreeNode, place: _Place) -> str:
    code = node.content
    if not _stays_code(node):
        return _text(f"{node.markup}{code}{node.markup}", place)
    return code_span(code.replace("|", "\\|") if place.in_cell else code)


def _link(node: SyntaxTreeNode, address: str, place: _Place) -> str:
    inner = replace(place, in_link=True)
    text = _spans(node, inner)
    if not place.may_link(address):
        shown = _text(line(address, _ADDRESS_LIMIT), inner)
        return f"{text} ({shown})" if text != shown else text
    return f"[{text or _text(line(address, _ADDRESS_LIMIT), inner)}]({_destination(address)})"


def _image(node: SyntaxTreeNode, address: str, place: _Place) -> str:
    words = ["image:", line(node.content), f"({line(address, _ADDRESS_LIMIT)})"]
    text = _text(" ".join(word for word in words if word), replace(place, in_link=True))
    if place.in_link or not place.may_link(address):
        return text
    return f"[{text}]({_destination(address)})"


def _destination(address: str) -> str:
    return quote(address, safe="-._~:/?#@!&+,=%").replace("@@", "%40%40")
