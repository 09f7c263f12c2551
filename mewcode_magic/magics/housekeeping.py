"""What `%memory check`, `import` and `condense` say: one line an item, each change with its undo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mewcode_magic.errors import one_line
from mewcode_magic.files import shown
from mewcode_magic.git import seen_by_git
from mewcode_magic.magics.screen import counted

if TYPE_CHECKING:
    from mewcode_magic.memory import Condensation, Imported, MemoryStore, Mended, Merge, Problem, Saved

__all__ = ["check_lines", "fix_lines", "import_lines", "merge_lines", "proposal_lines"]

IN_ORDER = "All memories and their indexes are in order."


def check_lines(problems: Sequence[Problem]) -> list[str]:
    """Return what is wrong, and how what can be mended is."""
    from mewcode_magic.memory import MENDED_KINDS

    if not problems:
        return [IN_ORDER]
    mendable = any(problem.kind in MENDED_KINDS for problem in problems)
    advice = "%memory check --fix mends what can be mended with nothing lost."
    return [*map(_item, problems), *([advice] if mendable else [])]


def fix_lines(done: Sequence[Mended], problems: Sequence[Problem]) -> list[str]:
    """Return what was mended, and what is left for the user."""
    mended = [f"Mended: {_item(item)}" for item in done]
    left = [f"Left to you: {_item(problem)}" for problem in problems]
    return [*mended, *(left or [IN_ORDER])]


def import_lines(result: Imported, store: MemoryStore, *, dry_run: bool) -> Iterator[str]:
    """Yield what was imported and where, what stood already, and what was left out and why."""
    if not (result.saved or result.there or result.left_out):
        yield "Nothing to import; %memory import PATH takes over a folder of Markdown files, or one file."
        return
    verb = "Would import" if dry_run else "Imported"
    places = Counter(memory.place for memory in result.saved)
    folders = [
        f"{count:,} into {shown(store.folder(place))} ({seen_by_git(store.folder(place) / 'x.md')})"
        for place, count in places.items()
    ]
    yield f"{verb} {': '.join([_memories(len(result.saved)), *([', '.join(folders)] if folders else [])])}."
    for memory in result.saved:
        undo = "" if dry_run else f"; undo: %forget {memory.slug}"
        description = memory.description.removesuffix(".")
        yield one_line(f"- the {memory.type} memory {memory.name!r}: {description}{undo}")
    if result.there:
        names = dict.fromkeys(repr(memory.name) for memory in result.there)
        yield one_line(f"{len(names):,} there already, left as they are: {', '.join(names)}")
    if result.left_out:
        yield f"Left out: {counted(len(result.left_out), 'item')}."
        yield from (one_line(f"- {line}") for line in result.left_out)
    for path in result.renamed:
        yield one_line(f"The older file is now {shown(path)} ({seen_by_git(path)}).")
    if dry_run:
        yield "Nothing was written; without --dry-run it is."


def proposal_lines(proposed: Condensation, *, offline: bool) -> Iterator[str]:
    """Yield which memories would become which, with the text before and after, and what was refused."""
    by = "by rule, without a language model: texts that are nearly the same" if offline else proposed.model
    looked = f"of {_memories(proposed.shown)} ({by})"
    if more := proposed.left_out:
        looked += f", {more:,} more {'was' if more == 1 else 'were'} not looked at"
    if not proposed.merges:
        yield f"O{looked[1:]}: none need to become one."
    for number, merge in enumerate(proposed.merges, 1):
        yield from ("" if number > 1 else f"Proposed {looked}:", *_before_and_after(number, merge))
    if proposed.refused:
        yield f"Left out, {counted(len(proposed.refused), 'proposal')} that would lose something:"
        yield from (one_line(f"- {line}") for line in proposed.refused)
    if proposed.merges:
        yield "Nothing is written yet. To write exactly this: %memory condense --write"


def merge_lines(done: Sequence[tuple[Merge, Saved | str]]) -> Iterator[str]:
    """Yield what became of each merge, and how to undo it."""
    for merge, saved in done:
        sources = " and ".join(repr(source.name) for source in merge.sources)
        if isinstance(saved, str):
            yield one_line(f"Not merged: {sources}: {saved}")
            continue
        result = saved.memory
        undo = [f"%memory restore {source.slug}" for source in merge.sources]
        if result.slug not in {source.slug for source in merge.sources}:
            undo.insert(0, f"%forget --type {result.type} {result.slug}")
        what = f"the {result.type} memory {result.name!r} in {shown(saved.path)}"
        yield one_line(f"Merged: {sources} into {what}; undo: {', then '.join(undo)}")
        yield from saved.notes


def _before_and_after(number: int, merge: Merge) -> Iterator[str]:
    result = merge.result
    names = " and ".join(f"the {m.type} memory {m.name!r}" for m in merge.sources)
    moved = {source.place for source in merge.sources} != {result.place}
    where = f", which stands in the {result.place} folder" if moved else ""
    yield one_line(f"{number}. {names} become the {result.type} memory {result.name!r}{where}")
    for source in merge.sources:
        yield f"   --- {one_line(f'{source.name}: {source.description}')}"
        yield from (f"   - {line}".rstrip() for line in source.body.splitlines())
    yield f"   +++ {one_line(f'{result.name}: {result.description}')}"
    yield from (f"   + {line}".rstrip() for line in result.body.splitlines())


def _item(item: Problem | Mended) -> str:
    return one_line(f"{shown(item.path)} ({item.kind}): {item.text}")


def _memories(number: int) -> str:
    return "1 memory" if number == 1 else f"{number:,} memories"
