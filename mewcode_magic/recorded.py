"""Turns that an earlier kernel recorded: which of them a cell shows when it is run again, and showing it.

A recorded turn is a cell's if notebook, cell id and text are the same. Of several runs of a cell the last one
counts. Where the front end gives no ids, the turns of one text are taken in their order. Each is shown once;
one that was stopped, or failed, never. What was asked anew before it makes no difference, but is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from mewcode_magic.events import (
    Event,
    Replayed,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    VariablesMissing,
)
from mewcode_magic.kernel import can_ask, is_kernel, missing_names
from mewcode_magic.kernel.place import Place
from mewcode_magic.kernel.proposing import can_insert, insert_below, waiting
from mewcode_magic.messages import Block, Message, Usage
from mewcode_magic.sessions import Resumed, SessionStore, Turn, turns_of
from mewcode_magic.sessions.records import text_of
from mewcode_magic.sessions.replay import collection_paused

__all__ = ["RecordedTurns", "can_run_again", "replay"]

NOTEBOOK_BYTES = 20_000_000
"""Bytes of a notebook that is looked through for a cell."""

_RUN = "RunPython"

_Key: TypeAlias = tuple[str | None, str]
"""A cell's id, where it is known, and the prompt's text."""


def can_run_again(shell: Any, place: Place) -> bool:
    """Whether what runs at a place can be a cell that an earlier kernel ran.

    At a prompt, in a terminal or a console, people type the same words anew, and want them asked.
    """
    return is_kernel(shell) and bool(place.notebook or place.cell or not can_ask(shell))


class RecordedTurns:
    """Those of one session. They are kept only while it is open; what this kernel has come past, always.

    `asked` counts the turns of this kernel, which are not among them.
    """

    def __init__(self, sessions: SessionStore) -> None:
        self.asked = 0
        self._sessions = sessions
        self._resumed: Resumed | None = None
        self._asked_before = 0
        """Turns of this kernel in what was resumed."""
        self._groups: dict[_Key, list[Turn]] | None = None
        """The turns of each cell, in the order of the cells; None: not looked for yet."""
        self._taken: Counter[_Key] = Counter()
        self._ran: dict[_Key, str | None] = {}
        """The first run, in this kernel, of each cell that has an id."""

    def open(self, resumed: Resumed) -> None:
        """Take note of what the session was resumed with; it is looked through when a cell first asks."""
        self._resumed, self._asked_before = resumed, self.asked

    def copy(self) -> RecordedTurns:
        """Return what goes for a copy of the session from now on, whose turns are its own."""
        copied = RecordedTurns(self._sessions)
        copied.asked, copied._taken, copied._ran = self.asked, self._taken.copy(), self._ran.copy()
        return copied

    def close(self) -> None:
        """Forget the turns."""
        self._resumed = self._groups = None

    def take(self, text: str, place: Place) -> Turn | None:
        """Return, once, the turn that an earlier kernel recorded for the prompt `text` at `place`.

        A cell that ran in this kernel already has none.

        Raises:
            StorageError: the session cannot be read.
        """
        if self._groups is None:
            with collection_paused():
                self._groups = _groups(self._read(), place.notebook)
            self._resumed = None
        groups = self._groups
        if place.cell is None:
            keys = [key for key in groups if key[1] == text]
        else:
            keys = [(place.cell, text), (None, text)]
            if self._ran.setdefault(keys[0], place.run) != place.run:
                return None
        for key in keys:
            if (number := self._taken[key]) < len(groups.get(key, ())):
                self._taken[key] += 1
                return groups[key][number]
        return None

    def _read(self) -> list[Turn]:
        """Return the turns before this kernel; those before a compaction stand in the file alone."""
        if self._resumed is None:
            return []
        if self._resumed.report.boundary:
            turns = turns_of(self._sessions.transcript(self._resumed.session.id))
            return turns[: len(turns) - self.asked]
        turns = turns_of(self._resumed.messages)
        return turns[: len(turns) - self._asked_before]


def _groups(turns: list[Turn], notebook: str | None) -> dict[_Key, list[Turn]]:
    """Return the turns of each cell, those of its last run if it has an id."""
    groups: dict[_Key, list[Turn]] = {}
    for turn in turns:
        prompt = turn.prompt
        if prompt.notebook != notebook or not turn.is_done:
            continue
        group = groups.setdefault((prompt.cell, prompt.text()), [])
        if prompt.cell is not None and group and group[-1].prompt.run != prompt.run:
            group.clear()
        group.append(turn)
    return groups


def replay(turn: Turn, *, asked: int, shell: Any, notebook: Path | None) -> Generator[Event]:
    """Yield the events of a recorded turn, `Replayed` first and `TurnEnded` last; no call is run.

    `asked` is how many turns this kernel asked before. The code that made variables which the kernel lacks is
    proposed as a cell, unless `notebook`, as it was saved, has one with it already.
    """
    yield Replayed(turn.prompt.ts, turn.model, asked)
    results = turn.results()
    for message in turn.answers:
        if message.role == "assistant":
            yield from _said(message, results)
    variables = turn.variables()
    if missing := missing_names(shell, [name for names in variables.values() for name in names]):
        yield _propose(missing, _codes(turn), shell=shell, notebook=notebook)
    rounds = sum(message.role == "assistant" for message in turn.answers)
    yield TurnEnded(turn.text, turn.model, Usage(), 0.0, rounds, "done")


def _said(message: Message, results: dict[str, Block]) -> Iterator[Event]:
    """Yield a reply's text, then its calls with their results."""
    for block in message.blocks():
        if block.get("type") == "text":
            yield TextDelta(str(block.get("text") or ""))
    for call in message.tool_uses():
        call_id, name, arguments = str(call.get("id")), str(call.get("name")), call.get("input")
        result = results.get(call_id, {})
        yield ToolStarted(call_id, name, arguments if isinstance(arguments, dict) else {})
        yield ToolEnded(
            call_id,
            name,
            text_of(result.get("content")),
            result.get("is_error") is True,
            0.0,
            detail=_code(call),
            language="python",
            images=tuple(_figures(result)) if name == _RUN else (),
        )


def _code(call: Block) -> str:
    """Return the code that a call was given, "" for none."""
    arguments = call.get("input")
    code = arguments.get("code") if isinstance(arguments, dict) else None
    return code if isinstance(code, str) else ""


def _figures(result: Block) -> Iterator[Block]:
    content = result.get("content")
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "image":
            yield block


def _codes(turn: Turn) -> list[str]:
    """Return the code of the turn's calls that did something: those that succeeded, or bound a name."""
    results, variables = turn.results(), turn.variables()
    codes: list[str] = []
    for call in (call for message in turn.answers for call in message.tool_uses()):
        code, call_id = _code(call).strip("\n"), str(call.get("id"))
        if call.get("name") != _RUN or not code:
            continue
        if results.get(call_id, {}).get("is_error") is not True:
            codes.append(code)
        elif variables.get(call_id):
            codes.append(f"# This did not run to its end:\n{code}")
    return codes


def _propose(missing: list[str], codes: list[str], *, shell: Any, notebook: Path | None) -> VariablesMissing:
    code = "\n\n".join(codes)
    if code and notebook is not None and _stands_in(notebook, code):
        return VariablesMissing(tuple(missing), code, "notebook")
    if not code or not can_insert(shell) or not _is_one_cell([*codes, waiting(shell)]):
        return VariablesMissing(tuple(missing), code, "nowhere")
    insert_below(shell, code)
    return VariablesMissing(tuple(missing), code, "below")


def _is_one_cell(codes: list[str]) -> bool:
    """Whether pieces of code can stand in one cell: a magic for a whole cell stands alone."""
    pieces = [code for code in codes if code]
    return len(pieces) == 1 or not any(code.startswith("%%") for code in pieces)


def _stands_in(notebook: Path, code: str) -> bool:
    """Whether a cell of the notebook, as it was saved last, has the lines of the code."""
    try:
        with notebook.open("rb") as file:
            cells = orjson.loads(file.read(NOTEBOOK_BYTES))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        return any(f"\n{code}\n" in f"\n{source}\n" for source in sources)
    except (OSError, ValueError, TypeError, LookupError):  # it is elsewhere, or is no notebook
        return False
