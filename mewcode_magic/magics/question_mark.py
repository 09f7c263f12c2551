"""Keeps IPython's syntax out of prompts: `%agent what is this?` is a question, not a look-up of `this`.

IPython turns every line that ends in `?` into help, takes prompts such as `>>>` off pasted lines, and refuses
a cell magic without a body. None of that suits a text for the agent, so its lines and cells are turned into
calls before IPython's own rules see them. `%agent?` and `%agent??` stay help, and no other line is touched.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Sequence

from IPython.core.inputtransformer2 import TokenTransformBase, TransformerManager

__all__ = ["guard", "unguard"]

TEXT_MAGICS = ("agent", "compact", "remember")
"""The magics whose line is a text of the user's own."""

_CELL = re.compile(rf"(?:[^\S\n]*\n)*%%({'|'.join(TEXT_MAGICS)})(?!\S)")
_LINE = re.compile(rf"%({'|'.join(TEXT_MAGICS)})[^\S\n]+(?=\S)")


def guard(transformers: TransformerManager) -> None:
    """Install the rules for our magics in front of IPython's."""
    transformers.cleanup_transforms.insert(0, _TextCell())
    transformers.token_transformers.insert(0, _TextLine)


def unguard(transformers: TransformerManager) -> None:
    """Take the rules away again; harmless when they are not there."""
    transformers.cleanup_transforms[:] = [
        t for t in transformers.cleanup_transforms if not isinstance(t, _TextCell)
    ]
    transformers.token_transformers[:] = [t for t in transformers.token_transformers if t is not _TextLine]


class _TextCell:
    """A cell that begins with one of them, such as `%%agent`, with or without a body."""

    # IPython skips such transforms when it asks whether more lines will follow. It has to see the `%%` then,
    # so that a terminal goes on reading until an empty line.
    has_side_effects = True

    def __call__(self, lines: list[str]) -> list[str]:
        cell = "".join(lines)
        match = _CELL.match(cell)
        if not match:
            return lines
        text, _, body = cell[match.end() :].partition("\n")
        body = body or "\n"  # IPython refuses an empty one, also where the text stands behind the name
        return [f"get_ipython().run_cell_magic({match.group(1)!r}, {text.strip()!r}, {body!r})\n"]


class _TextLine(TokenTransformBase):
    """One line `%agent …` or `name = %agent …` with a text behind the name."""

    # Below that of IPython's help, which starts at the same place.
    priority = 1

    def __init__(self, start: tuple[int, int], percent: tuple[int, int]) -> None:
        super().__init__(start)  # type: ignore[no-untyped-call]
        self.row, self.column = percent[0] - 1, percent[1]

    @classmethod
    def find(cls, tokens_by_line: list[list[tokenize.TokenInfo]]) -> _TextLine | None:
        """Return the first such line of a cell."""
        for tokens in tokens_by_line:
            code = [t for t in tokens if t.type not in (tokenize.INDENT, tokenize.DEDENT)]
            percent = _percent(code)
            if percent and _LINE.match(percent.line, percent.start[1]):
                return cls(code[0].start, percent.start)
        return None

    def transform(self, lines: list[str]) -> list[str]:
        """Return the cell with that line, and those that continue it, as a call."""
        end = self.row + 1
        # IPython splits at every line separator of Unicode; a prompt ends at a line feed.
        while end < len(lines) and (not lines[end - 1].endswith("\n") or lines[end - 1].endswith("\\\n")):
            end += 1
        before, line = lines[self.row][: self.column], "".join(lines[self.row : end])[self.column :]
        match = _LINE.match(line)
        if not match:
            raise SyntaxError(line)  # IPython then tries the next transformer
        text = re.sub(r"\\\n(?!$)", " ", line[match.end() :]).strip()
        call = f"get_ipython().run_line_magic({match.group(1)!r}, {text!r})\n"
        return [*lines[: self.row], before + call, *lines[end:]]


def _percent(tokens: Sequence[tokenize.TokenInfo]) -> tokenize.TokenInfo | None:
    """Return the `%` that a line begins with, or that an assignment's right side begins with."""
    depth = 0
    for index, token in enumerate(tokens[:-1]):
        following = tokens[index + 1]
        if index == 0 and token.string == "%":
            return token
        if token.string == "=" and depth == 0:
            return following if following.string == "%" else None
        depth += (token.string in {"(", "[", "{"}) - (token.string in {")", "]", "}"})
    return None
