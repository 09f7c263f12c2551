"""Instructions that join later: a subfolder's MEWCODE.md, and rules for some files, once a tool touches them.

They join in front of that tool's result, in a block that is written and read here::

    <system-reminder>
    Instruction files join here: ["src/MEWCODE.md"]. …

    [src/MEWCODE.md, for files in src]
    Write tests first.
    </system-reminder>

So they arrive when they are needed, are recorded with the result, and change nothing of what was sent before.
What was told is read from the results that are still sent: after a resume nothing is told twice, and what a
compaction has taken away is told again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.errors import one_line
from mewcode_magic.instructions.including import LeftOut, Place, Reader, stands
from mewcode_magic.instructions.layers import FILE_NAME, SEPARATOR, Instructions
from mewcode_magic.instructions.rules import Rule, rule_header
from mewcode_magic.messages import escape_tags

__all__ = ["Joined", "ScopedInstructions", "Source", "split_joined"]

_HEAD = (
    "Instruction files join here: {names}. Follow each for the files that it is about; there it goes before "
    "the instructions at the conversation's start, but for managed ones. Where two disagree, the earlier "
    "one holds."
)
_BLOCK = re.compile(
    r"<system-reminder>\nInstruction files join here: (?P<names>\[[^\n]*\])\. [^\n]*\n\n(?P<text>.*?)\n"
    r"</system-reminder>\n\n",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is about a touched path: `scope` says what else it is about."""

    path: Path
    scope: str
    is_rule: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """Files that have joined, as paths in the project, and the block that says what is in them."""

    names: tuple[str, ...]
    block: str


class ScopedInstructions:
    """The instructions of one conversation that wait for a tool to touch what they are about.

    `notices` say what of them was left out, and why.
    """

    def __init__(self, project: Path, settings: MewCode) -> None:
        self.notices: list[str] = []
        self._project = Path(os.path.realpath(project))
        self._settings = settings
        self._rules: Sequence[Rule] = ()
        self._told: list[Path] = []
        self.joined: list[Path] = []
        """The files that have joined."""

    def know(self, instructions: Instructions, joined: Iterable[str]) -> None:
        """Take what stands in front of a conversation, and the names of the files that have joined since."""
        self._rules = instructions.rules
        self.joined = [self._project / name for name in joined if _is_path(name)]
        self._told = [*instructions.files, *self.joined]

    @property
    def waiting(self) -> list[Rule]:
        """The rules that have not joined yet."""
        joined = set(self.joined)
        return [rule for rule in self._rules if self._project / self._name(rule.path) not in joined]

    def has_told(self, path: Path) -> bool:
        """Whether a file with all links resolved instructs the agent, included ones too."""
        return any(str(path) == os.path.realpath(told) for told in self._told)

    def sources(self, touched: Path) -> list[Source]:
        """Return the files that are about a path with all links resolved, the nearest folder's first."""
        if not touched.is_relative_to(self._project) or touched == self._project:
            return []
        is_folder = touched.is_dir()
        path = touched.relative_to(self._project)
        folders = [*([path] if is_folder else []), *path.parents[:-1]]
        # What the agent and git keep for themselves instructs nobody.
        own = any(part.casefold() in (".mewcode", ".git") for part in path.parts)
        found = [
            Source(self._project / folder / FILE_NAME, f"files in {folder.as_posix()}", is_rule=False)
            for folder in ([] if own else folders)
        ]
        name = path.as_posix() + "/" * is_folder
        found += [
            Source(rule.path, f"files that match {', '.join(rule.patterns)}", is_rule=True)
            for rule in self._rules
            if rule.matches(name)
        ]
        return [source for source in found if stands(source.path)]

    def join(self, sources: Sequence[Source]) -> Joined | None:
        """Return what files bring in that have not been told yet, or None; from now on they are told."""
        if not sources:
            return None
        reader = Reader(self._settings, told=self._told)
        texts = [
            f"[{one_line(f'{self._name(source.path)}, for {source.scope}')}]\n{text}"
            for source in sources
            if (text := self._read(source, reader))
        ]
        self.note(*reader.notices)
        if not texts:
            return None
        self._told += reader.files
        names = tuple(self._name(path) for path in reader.files)
        self.joined += (self._project / name for name in names)
        head = _HEAD.format(names=json.dumps(names, ensure_ascii=False))
        body = escape_tags(f"{head}\n\n{SEPARATOR.join(texts)}")
        return Joined(names, f"<system-reminder>\n{body}\n</system-reminder>\n\n")

    def note(self, *notices: str) -> None:
        """Keep notices, each once."""
        self.notices += [notice for notice in dict.fromkeys(notices) if notice not in self.notices]

    def _read(self, source: Source, reader: Reader) -> str:
        place = Place(source.path, self._project)
        raw = reader.look(place)
        if raw is None:
            return ""
        try:
            lines = rule_header(raw.text)[1] if source.is_rule else 0
        except LeftOut as reason:  # it has changed since
            reader.note(source.path, reason)
            return ""
        return reader.take(raw, place, skip_lines=lines)

    def _name(self, path: Path) -> str:
        real = Path(os.path.realpath(path))
        return (real.relative_to(self._project) if real.is_relative_to(self._project) else real).as_posix()


def _is_path(name: str) -> bool:
    """Whether it can name a file at all; what is read from a session may be anything."""
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def split_joined(text: str) -> tuple[list[str], str, str]:
    """Return the names and the text of what joined in front of a result, and the result itself."""
    match = _BLOCK.match(text)
    if match is None:
        return [], "", text
    try:
        names = json.loads(match["names"])
    except ValueError:
        return [], "", text
    return [name for name in names if isinstance(name, str)], match["text"], text[match.end() :]
