"""The commands of the memory tool, carried out by the memory store.

Answers and errors are worded as the tool's documentation words them, since models are trained on those. The
store writes, so all its rules hold: locks, the check for credentials, the index, and the trash. This module
imports the Anthropic SDK, which reads the commands, and is itself imported when the first one comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import InvalidMemory, MewCodeError, one_line
from mewcode_magic.memory import PLACE_OF, Memory, MemoryStore, Place, Saved, slug_of
from mewcode_magic.memory.document import NO_FRONTMATTER, NO_TYPE, read_document
from mewcode_magic.tools.memory_tree import ROOTS, MemoryTree, canonical, directory_target, file_target

__all__ = ["MemoryCommands"]

MOST_LINES = 999_999
"""Lines of a file that can be shown; the numbers are six characters wide."""
RESULT_CHARS = 50_000
"""Characters of one answer; the rest of a file is read with `view_range`."""
AROUND = 2
"""Lines shown before and behind a change."""


class MemoryCommands(BetaAbstractMemoryTool):
    """The six commands over one store; `session_id` is noted in what they write.

    Raises:
        ToolError: a command cannot be carried out, in the words of the documentation.
        MewCodeError: the store refuses it.
    """

    def __init__(self, store: MemoryStore, session_id: str) -> None:
        super().__init__()
        self._store = store
        self._session_id = session_id

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or the files of a directory; credentials are masked."""
        path, tree = canonical(command.path), MemoryTree(self._store)
        memory = tree.file(path)
        if memory is None and not tree.is_directory(path):
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        if memory is None:
            head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items"
            return _joined(f"{head} and node_modules:", tree.listing(path), "({} more are not shown)")
        lines = _masked_lines(self._store.text(memory))
        if len(lines) > MOST_LINES:
            raise ToolError(f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines.")
        first, last = command.view_range or (1, -1)
        first, last = max(first, 1), len(lines) if last == -1 else last
        if first > last and lines:
            raise ToolError(
                f"Invalid `view_range` parameter: [{first}, {last}]. It should be within the range of lines "
                f"of the file: [1, {len(lines)}]"
            )
        more = "({} more lines follow; read on with a later view_range)"
        return _joined(
            f"Here's the content of {path} with line numbers:",
            _numbered(lines[first - 1 : last], first),
            more,
        )

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new memory; what its frontmatter does not say follows from path and text."""
        path = canonical(command.path)
        if MemoryTree(self._store).exists(path):
            raise ToolError(f"Error: File {path} already exists")
        place, slug = file_target(path)
        draft, faults = read_document(command.file_text, slug, place)
        _refuse_faults(path, [fault for fault in faults if fault not in (NO_FRONTMATTER, NO_TYPE)])
        _refuse_other_place(path, draft, place)
        saved = self._store.save(
            replace(draft, source=self._session_id, file_slug=None, found_in=None), at=slug
        )
        if saved.action != "created":
            raise ToolError(f"Error: {path} was not created: {'; '.join(saved.notes)}")
        told = f"File created successfully at: {path}"
        if faults:
            memory = saved.memory
            told += " " + one_line(
                f"(named {memory.name!r}, of type {memory.type}, described as {memory.description!r}; the "
                "frontmatter says so and can be changed)"
            )
        return _with_notes(told, saved)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands once in a file."""
        path = canonical(command.path)
        memory = self._file(path, "Error: The path {} does not exist. Please provide a valid path.")
        text, old = self._store.text(memory), command.old_str
        found = [start for start in range(len(text)) if text.startswith(old, start)] if old else []
        if not found:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        numbers = [text.count("\n", 0, start) + 1 for start in found]
        if len(found) > 1:
            listed = ", ".join(str(number) for number in dict.fromkeys(numbers))
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {listed}. "
                "Please ensure it is unique"
            )
        after = text[: found[0]] + command.new_str + text[found[0] + len(old) :]
        saved = self._edited(path, memory, text, after)
        now = _masked_lines(self._store.text(saved.memory))
        # Counted from the end: the frontmatter may have got lines.
        changed = max(0, numbers[0] - 1 + len(now) - len(_lines(after)))
        start = max(0, changed - AROUND)
        end = changed + command.new_str.count("\n") + AROUND + 1
        told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        more = "({} more lines of the change are not shown)"
        return _with_notes(_joined(told, _numbered(now[start:end], start + 1), more), saved)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put text behind a line."""
        path = canonical(command.path)
        memory = self._file(path, "Error: The path {} does not exist")
        text = self._store.text(memory)
        lines = _lines(text)
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Error: Invalid `insert_line` parameter: {command.insert_line}. It should be within the "
                f"range of lines of the file: [0, {len(lines)}]"
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        return _with_notes(
            f"The file {path} has been edited.",
            self._edited(path, memory, text, "\n".join(lines) + "\n"),
        )

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Move a file, or all files of a directory, to the trash; the user can restore them."""
        path, tree = canonical(command.path), MemoryTree(self._store)
        if path in ROOTS:
            raise ToolError(f"Error: Cannot delete the {path} directory itself")
        memory = tree.file(path)
        memories = tree.below(path) if memory is None else {path: memory}
        if not memories:
            raise ToolError(f"Error: The path {path} does not exist")
        _each(memories, lambda _, memory: self._store.delete(memory.slug, if_unchanged=memory))
        return f"Successfully deleted {path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Give a file, or all files of a directory, another path; another place changes their types."""
        old, new, tree = canonical(command.old_path), canonical(command.new_path), MemoryTree(self._store)
        if old in ROOTS:
            raise ToolError(f"Error: Cannot rename the {old} directory itself")
        if not tree.exists(old):
            raise ToolError(f"Error: The path {old} does not exist")
        if tree.exists(new):
            raise ToolError(f"Error: The destination {new} already exists")
        told = f"Successfully renamed {old} to {new}"
        if memory := tree.file(old):
            memories, (place, _) = {old: memory}, file_target(new)
        else:
            memories, (place, _) = tree.below(old), directory_target(new)
        _each(memories, lambda file, memory: self._moved(memory, new + file[len(old) :]))
        changed = any(PLACE_OF[memory.type] != place for memory in memories.values())
        return f"{told}; the type is {place} now" if changed else told

    def _file(self, path: str, missing: str) -> Memory:
        memory = MemoryTree(self._store).file(path)
        if memory is None:
            raise ToolError(missing.format(path))
        return memory

    def _edited(self, path: str, memory: Memory, before: str, after: str) -> Saved:
        """Save a memory whose file's text is `after` instead of `before`."""
        place = memory.place
        faults = read_document(before, memory.slug, place)[1]
        draft, found = read_document(after, memory.slug, place, path=memory.path, modified=memory.modified)
        _refuse_faults(path, [fault for fault in found if fault not in faults])
        _refuse_other_place(path, draft, place)
        draft = replace(draft, source=self._session_id)
        saved = self._store.save(draft, at=memory.slug, if_unchanged=memory)
        if saved.path != memory.path:
            raise ToolError(f"Error: {path} was not edited: {'; '.join(saved.notes)}")
        return saved

    def _moved(self, memory: Memory, path: str) -> None:
        """Save a memory at another path; a name that followed from the old one follows from the new one."""
        place, slug = file_target(path)
        old, new = (text.rpartition("/")[2] for text in (memory.slug, slug))
        name = new if slug_of(memory.name) == slug_of(old) else memory.name
        type_ = memory.type if PLACE_OF[memory.type] == place else place
        self._store.save(replace(memory, name=name, type=type_), at=slug, if_unchanged=memory)


def _each(memories: dict[str, Memory], change: Callable[[str, Memory], object]) -> None:
    """Change memories one after the other; an error says how far that came."""
    for done, (path, memory) in enumerate(memories.items()):
        try:
            change(path, memory)
        except MewCodeError as error:
            if not done:
                raise
            raise ToolError(
                f"Error: {done} of {len(memories)} files are done, then {path}: {error}"
            ) from error


def _refuse_faults(path: str, faults: list[str]) -> None:
    """Refuse a text whose frontmatter would not be read as it is meant."""
    if faults:
        raise InvalidMemory(
            f"{path} is not written: {'; '.join(faults)}. A memory begins with a line ---, then name, "
            "description and type, then a line ---"
        )


def _refuse_other_place(path: str, memory: Memory, place: Place) -> None:
    """Refuse a type that belongs to the other place."""
    if (right := PLACE_OF[memory.type]) != place:
        raise InvalidMemory(
            f"{path} is not written: a memory of type {memory.type} stands in /memories/{right}; put it there"
        )


def _with_notes(told: str, saved: Saved) -> str:
    return "\n".join([told, *saved.notes])


def _lines(text: str) -> list[str]:
    """Return a text's lines; the end of the last one makes no further line."""
    return text.removesuffix("\n").split("\n") if text else []


def _masked_lines(text: str) -> list[str]:
    """Return a text's lines with masks for credentials; what stands behind one keeps its number.

    A key of many lines becomes one line and blank ones.
    """
    lines, masked = _lines(text), _lines(mask_credentials(text))
    if missing := len(lines) - len(masked):
        pairs = zip(reversed(lines), reversed(masked), strict=False)
        behind = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        masked[len(masked) - behind : len(masked) - behind] = [""] * missing
    return masked


def _numbered(lines: list[str], first: int) -> list[str]:
    return [f"{number:>6}\t{line}" for number, line in enumerate(lines, first)]


def _joined(head: str, lines: list[str], more: str) -> str:
    """Return the lines below a heading, as many as an answer may hold; `more` tells how many are left out."""
    told, room = [head], RESULT_CHARS
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            cut = line[:RESULT_CHARS] + "…" if number == 0 else ""
            left = len(lines) - number - bool(cut)
            told += [part for part in (cut, more.format(left) if left else "") if part]
            break
        told.append(line)
    return "\n".join(told)
