"""Which files instruct from the start of a conversation, and in which order: the highest first.

The machine's managed file, `<project>/MEWCODE.md`, `<project>/.mewcode/MEWCODE.md`,
`<project>/MEWCODE.local.md`, the rules that hold for the whole project, the `MEWCODE.md` of the folders above
the project, the nearest first, and `<home>/MEWCODE.md`; joined by a line `---`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mewcode_magic.config import MewCode
from mewcode_magic.git import is_ignored
from mewcode_magic.instructions.including import Place, Reader, stands
from mewcode_magic.instructions.rules import RULES, Rule, read_rules

__all__ = [
    "FILE_NAME",
    "LOCAL_NAME",
    "SEPARATOR",
    "Instructions",
    "is_instruction_file",
    "load_instructions",
    "managed_path",
]

FILE_NAME = "MEWCODE.md"
LOCAL_NAME = "MEWCODE.local.md"
SEPARATOR = "\n---\n"
MANAGED_VARIABLE = "MEWCODE_MANAGED_FILE"
"""Names one more managed file: for containers and hubs, whose users cannot be given a file in `/etc`."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the instruction files say.

    `text` is as written, to be escaped by whoever wraps it. `files` are those that stand in it, the included
    ones too, in the order of their first line. `notices` say in one line each what was left out, and why.
    `managed` is the beginning of `text` that whoever runs the machine has set. `rules` wait for a tool that
    touches a file which they are about.
    """

    text: str
    files: list[Path]
    notices: list[str]
    managed: str = ""
    rules: tuple[Rule, ...] = ()

    @property
    def unmanaged(self) -> str:
        """The text without its managed beginning."""
        return self.text.removeprefix(self.managed).removeprefix(SEPARATOR)


def load_instructions(
    project_dir: Path | str, home: Path | str, *, settings: MewCode | None = None
) -> Instructions:
    """Read the instruction files of a project, of `home`, the user's MewCode folder, and of the machine.

    Whatever cannot be read is left out with a notice; it never raises.
    """
    project, home = Path(project_dir), Path(home)
    settings = settings or MewCode()
    reader = Reader(settings)
    managed = _joined([reader.read(place) for place in _managed(reader)])
    texts = [
        managed,
        reader.read(Place(_main_file(project, settings, reader), project)),
        reader.read(Place(project / ".mewcode" / FILE_NAME, project)),
        _read_local(project, reader),
    ]
    general, scoped = read_rules(project, reader)
    texts += general
    texts += [reader.read(place) for place in _above(project, home)]
    texts.append(reader.read(Place(home / FILE_NAME, home, may_lead_out=True)))
    return Instructions(_joined(texts), reader.files, reader.notices, managed, tuple(scoped))


def managed_path(platform: str = sys.platform) -> Path:
    """Return where the file lies that whoever runs the machine instructs all agents by."""
    if platform == "win32":
        return Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData"), "MewCode", FILE_NAME)
    if platform == "darwin":
        return Path("/Library/Application Support/MewCode", FILE_NAME)
    return Path("/etc/mewcode", FILE_NAME)


def is_instruction_file(path: Path, settings: MewCode) -> bool:
    """Whether what is written into a file would instruct the agent, wherever its folder is."""
    names = {FILE_NAME, LOCAL_NAME, *(Path(name).name for name in settings.instruction_fallbacks)}
    if path.name.casefold() in {name.casefold() for name in names}:
        return True
    folder = tuple(part.casefold() for part in path.parent.parts[-len(RULES) :])
    return folder == RULES and path.suffix.casefold() == ".md"


def _joined(texts: list[str]) -> str:
    return SEPARATOR.join(text for text in texts if text)


def _managed(reader: Reader) -> Iterator[Place]:
    """Yield the machine's files; the variable adds one, for it must not be able to take one away."""
    paths = [managed_path()]
    if named := os.environ.get(MANAGED_VARIABLE):
        if Path(named).is_absolute():
            paths.append(Path(named))
        else:  # else the working directory, and so a project, would decide
            reader.note(Path(named), f"was left out: {MANAGED_VARIABLE} takes an absolute path only")
    for path in paths:
        yield Place(path, path.parent, may_lead_out=True, is_managed=True)


def _main_file(project: Path, settings: MewCode, reader: Reader) -> Path:
    """Return the project's MEWCODE.md, or where it has none another agent's file that takes its place."""
    path = project / FILE_NAME
    if stands(path):
        return path
    for name in settings.instruction_fallbacks:
        other = project / name
        if stands(other):
            reader.note(
                other, f"is used, as the project has no {FILE_NAME}; MewCode.instruction_fallbacks says so"
            )
            return other
    return path


def _read_local(project: Path, reader: Reader) -> str:
    path = project / LOCAL_NAME
    text = reader.read(Place(path, project))
    if text and is_ignored(path) is False:
        reader.note(path, f"is meant to be private, but git sees it; add {LOCAL_NAME} to .gitignore")
    return text


def _above(project: Path, home: Path) -> Iterator[Place]:
    """Yield the files of the folders above a project, up to the user's home, or to the top.

    Outside the user's home others may write there, as in `/tmp`.
    """
    top = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - Path.home raises where there is none
    start = Path(os.path.realpath(project))
    if start == top:
        return
    for folder in start.parents:
        if folder != Path(os.path.realpath(home)):  # its file comes last
            yield Place(folder / FILE_NAME, folder, own_only=not folder.is_relative_to(top))
        if folder == top:
            return
