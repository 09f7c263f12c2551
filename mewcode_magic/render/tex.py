r"""Formulas in Markdown: which text is one, as rules for markdown-it, and in which form it is passed on.

Front ends find formulas in different ways: before they read the Markdown (JupyterLab), while they do (VS
Code, GitHub, nbconvert), in the finished page (MathJax), or not at all. So a formula is passed on only if
each of them can do no harm with it, and all of them see the same one: `$…$` or `$$…$$` on a single line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

__all__ = ["ADDRESS", "PLACE", "add_math", "without_formulas"]

_FORBIDDEN = re.compile(
    r"""
      \\(?: href | url | class | style | cssId | data | bbox | mmlToken | unicode | includegraphics | html\w*
          | require | def | [gex]def | let | futurelet | global | csname | catcode | input
          | (?:re|provide)?new(?:command|environment) | renew\w* | DeclareMathOperator ) (?![A-Za-z])
    | ` | ~~~ | @@
    """,
    re.VERBOSE,
)
"""TeX that makes links and styles, or that renames such TeX; and what ends a formula in some front ends."""

_INLINE = re.compile(
    r"""
      \$\$ (?P<display> (?: \\. | [^\\$] )+ ) \$\$
    | \$ (?![\s$]) (?P<inline> (?: \\. | [^\\$] )+ ) (?<!\s) \$ (?![\d$])   # "$5 and $10" holds no formula
    | \\\( (?P<round> (?: \\[^()] | [^\\$] )+ ) \\\)
    """,
    re.VERBOSE | re.DOTALL,
)

_BLOCK = re.compile(
    r"""
      \$\$ (?P<dollars> (?: \\. | [^\\$] )+ ) \$\$
    | \\\[ (?P<square> (?: \\[^\[\]] | [^\\$] )+ ) \\\]
    | (?P<environment> \\begin\{(?P<name>[a-z]+\*?)\} [^$]+ \\end\{(?P=name)\} )
    """,
    re.VERBOSE | re.DOTALL,
)

_LONGEST = 200
"""Most lines of a formula."""

_BLOCK_START = re.compile(r"(\$\$)|(\\\[)|\\begin(\{[a-z]+\*?\})")

ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)
"""What makes a word a web address, and so, in many front ends, a link."""

PLACE = "@@0@@"
"""What stands in place of a formula while JupyterLab's Markdown parser works."""

_FENCE = re.compile(r"^(?P<fence>`{3,})[^`\n]*\n.*?^(?P=fence)`*$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(^|[^\\])(`+)([^\n]*?[^`\n])\2(?!`)", re.MULTILINE)
_EDGE = re.compile(
    r"(\$\$?|\\(?:begin|end)\{[a-z]*\*?\}|\\[{}$]|[{}]|(?:\n\s*)+|@@\d+@@|\\\\[()\[\]])", re.IGNORECASE
)


def add_math(parser: MarkdownIt) -> None:
    """Let `parser` make `math_inline` and `math_block` tokens; their content is TeX on one line."""
    parser.inline.ruler.before("escape", "math_inline", _math_inline)
    parser.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


def _math_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it calls it so
    if state.src[state.pos] not in "$\\":
        return False
    match = _INLINE.match(state.src, state.pos, state.posMax)
    if not match or _in_address(state.src, state.pos):
        return False
    tex = _one_line(match[match.lastgroup or 0])
    if not tex:
        return False
    if not silent:
        token = state.push("math_inline", "", 0)
        token.content = tex
        token.markup = "$$" if match.lastgroup == "display" else "$"
    state.pos = match.end()
    return True


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - as above
    if state.is_code_block(start):
        return False
    first = state.bMarks[start] + state.tShift[start]
    opening = _BLOCK_START.match(state.src, first)
    if opening is None:
        return False
    closing = "$$" if opening[1] else "\\]" if opening[2] else f"\\end{opening[3]}"
    after = opening.end()
    for last in range(start, min(end, start + _LONGEST)):
        if last > start:
            if state.isEmpty(last) or state.sCount[last] < state.blkIndent:
                return False
            after = state.bMarks[last]
        if state.src[after : state.eMarks[last]].rstrip().endswith(closing):
            break
    else:
        return False
    match = _BLOCK.fullmatch(state.getLines(start, last + 1, state.blkIndent, keepLastLF=False).strip())
    tex = _one_line(match["dollars"] or match["square"] or match["environment"]) if match else ""
    if not tex:
        return False
    if not silent:
        state.line = last + 1
        token = state.push("math_block", "", 0)
        token.content = tex
        token.map = [start, state.line]
    return True


def _in_address(text: str, position: int) -> bool:
    """Whether `position` lies in a web address, which front ends make into a link."""
    begin = max(text.rfind(" ", 0, position), text.rfind("\n", 0, position)) + 1
    return bool(ADDRESS.search(text, begin, position))


def _one_line(tex: str) -> str:
    """Return a formula in the form in which it is passed on; "" if it may not be.

    Spaces do not count in TeX, and are what keeps a front end that knows no formulas from reading a tag, a
    link, an image or a definition.
    """
    tex = " ".join(re.sub(r"(?<!\\)%.*", "", tex).split())
    braces = re.sub(r"\\.", "", tex)
    depth = 0
    for character in braces:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return ""
    if depth or _FORBIDDEN.search(tex):
        return ""
    return re.sub(r"(<)(?=[A-Za-z/!?])|(!)(?=\[)|(\])(?=[(:])", r"\g<0> ", tex)


def without_formulas(markdown: str) -> str:
    """Return what JupyterLab gives its Markdown parser: in place of each formula that it finds, `PLACE`.

    It looks for formulas first, with little regard to code, and puts them into the finished HTML, wherever
    their place has got to.
    """
    for code in (_FENCE, _SPAN):
        markdown = code.sub(lambda match: match.group().replace("$", "\N{REPLACEMENT CHARACTER}"), markdown)
    pieces = _EDGE.split(markdown)
    index, begin, last, depth, end = 1, 0, 0, 0, ""
    while index < len(pieces):
        piece = pieces[index]
        if not begin:
            end = _closing(piece)
            begin, last, depth = (index if end else 0), 0, 0
        elif piece == end and depth:
            last = index  # it will do if no better one comes
        elif piece == end or piece.count("\n") > 1:
            stop = index if piece == end else last
            if stop:
                pieces[begin : stop + 1] = [PLACE, *[""] * (stop - begin)]
                index = stop
            begin = 0
        else:
            depth = max(0, depth + (piece == "{") - (piece == "}"))
        index += 2
    if begin and last:
        pieces[begin : last + 1] = [PLACE]
    return "".join(pieces)


def _closing(opening: str) -> str:
    """Return what ends the formula that `opening` begins; "" if it begins none."""
    if opening.startswith(r"\begin"):
        return r"\end" + opening.removeprefix(r"\begin")
    return {"$": "$", "$$": "$$", r"\\(": r"\\)", r"\\[": r"\\]"}.get(opening, "")
