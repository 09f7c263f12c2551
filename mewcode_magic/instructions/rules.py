"""The rules of a project, `.mewcode/rules/*.md`: for the whole project, or for the files that `paths:` names.

::

    ---
    paths: ["*.sql", "src/**/*.{py,pyi}"]
    ---
    Write keywords in capitals.

Patterns are those of `.gitignore`, with braces for alternatives, relative to the project. `paths` may also be
one string, with commas between several. Other keys are nobody's business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mewcode_magic.errors import InvalidArgument
from mewcode_magic.instructions.including import LeftOut, Place, Reader, check_inside, stands
from mewcode_magic.patterns import alternatives

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["RULES", "Rule", "read_rules", "rule_header"]

RULES = (".mewcode", "rules")
"""The folder, as parts of a path in the project."""

_COMMA = re.compile(r",(?![^{}]*\})")
"""Between patterns, not inside the braces of one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for some files of the project; its text is read when it joins."""

    path: Path
    patterns: tuple[str, ...]
    spec: GitIgnoreSpec

    def matches(self, path: str) -> bool:
        """Whether it is about a file, given its path in the project; a folder's ends with `/`."""
        return self.spec.match_file(path)


def read_rules(project: Path, reader: Reader) -> tuple[list[str], list[Rule]]:
    """Return the texts of the rules that hold for all of a project, and the others; both by name."""
    folder = project.joinpath(*RULES)
    if not stands(folder):
        return [], []
    try:
        check_inside(folder, project)
        paths = sorted(path for path in folder.iterdir() if _is_rule(path.name))
    except LeftOut as reason:
        reader.note(folder, reason)
        return [], []
    except NotADirectoryError:  # a file of that name is none of ours
        return [], []
    except OSError as error:
        reader.note(folder, LeftOut("folder cannot be read", error.strerror or ""))
        return [], []
    texts, scoped = [], []
    for path in paths:
        place = Place(path, project)
        raw = reader.look(place)
        if raw is None:
            continue
        try:
            patterns, lines = rule_header(raw.text)
            if patterns:
                scoped.append(Rule(path, tuple(patterns), _spec(patterns)))
                continue
        except LeftOut as reason:
            reader.note(path, reason)
            continue
        texts.append(reader.take(raw, place, skip_lines=lines))
    return texts, scoped


def rule_header(text: str) -> tuple[list[str], int]:
    """Return the patterns of a rule's frontmatter and how many lines it takes; none without frontmatter.

    Raises:
        LeftOut: it cannot be told what the rule is for.
    """
    if not text.startswith("---"):  # nearly always; what reads YAML need not be loaded then
        return [], 0
    from frontmatter.default_handlers import YAMLHandler

    handler = YAMLHandler()
    if not handler.detect(text):
        return [], 0
    try:
        header, body = handler.split(text)
    except ValueError as error:
        raise LeftOut("its frontmatter does not end", "put --- on a line below it") from error
    try:
        keys = handler.load(header)
    except Exception as error:
        # YAML's constructors raise nearly anything, from KeyError to RecursionError.
        raise LeftOut(
            "its frontmatter is not valid YAML", 'patterns stand in quotes, as in paths: ["*.py"]'
        ) from error
    if keys is not None and not isinstance(keys, dict):
        raise LeftOut("its frontmatter has no keys", 'write for instance paths: ["*.py"]')
    # What remains begins at the end of the line that closes the frontmatter.
    return _patterns((keys or {}).get("paths")), text.count("\n") - body.count("\n") + 1


def _is_rule(name: str) -> bool:
    return name.lower().endswith(".md") and not name.startswith(".")


def _patterns(paths: Any) -> list[str]:
    """Return the patterns that the value of `paths` holds."""
    found = _COMMA.split(paths) if isinstance(paths, str) else [] if paths is None else paths
    if not isinstance(found, list) or not all(isinstance(pattern, str) for pattern in found):
        raise LeftOut("its paths are no list of patterns", 'write for instance paths: ["*.py"]')
    patterns = [pattern.strip().removeprefix("./") for pattern in found if pattern.strip()]
    if any(".." in pattern.split("/") for pattern in patterns):
        raise LeftOut("its paths lead out of the project", "patterns are relative to the project's folder")
    return patterns


def _spec(patterns: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(one for pattern in patterns for one in alternatives(pattern))
    except (ValueError, InvalidArgument) as error:
        raise LeftOut("its paths are no patterns as in .gitignore") from error
