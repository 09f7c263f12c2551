"""`%remember`, `%memory` and `%forget`: long-term memory by hand."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.magic import line_cell_magic, line_magic, magics_class, no_var_expand

from mewcode_magic.errors import CommandError, MemoryNotFound
from mewcode_magic.files import shown
from mewcode_magic.magics.mew_magics import MewMagics
from mewcode_magic.magics.options import joined, option, sub_word, takes_text, takes_words
from mewcode_magic.magics.screen import counted, local_time

if TYPE_CHECKING:
    from mewcode_magic.memory import Memory, Saved

__all__ = ["MemoryMagics"]

GIT_SECONDS = 2.0
"""Time that git is given to say whether it ignores a file."""


@magics_class
class MemoryMagics(MewMagics):
    """What lasts from one conversation to the next."""

    @no_var_expand
    @line_cell_magic
    @takes_text(
        option("--type", metavar="TYPE", help="user, feedback, project or reference."),
        option("--name", metavar="NAME", help="Its name; the memory that has that name is updated."),
        option("--description", metavar="TEXT", help="When it is of use; else the first sentence."),
        option("--expires", metavar="WHEN", help="A span such as 30d, or a date such as 2027-01-31."),
        option("--force", action="store_true", help="Save it also if it seems to hold a credential."),
        option(
            "text", nargs="*", help="What to remember, taken as it stands; '--' lets it begin with dashes."
        ),
    )
    def remember(self, options: Namespace, text: str, cell: str | None) -> None:
        """Save the text of the line and the cell to long-term memory, at once and without a model.

        Without --type the text decides: with a link in it, it is a reference; a correction is feedback; what
        is about you is user; all else is about the project.
        """
        body = joined(text, cell)
        if not body:
            raise CommandError("%remember needs a text: behind the name, or in the cell below %%remember")
        saved = self.mew.remember(
            body,
            type=options.type,
            name=options.name,
            description=options.description,
            expires=options.expires,
            force=options.force,
        )
        self.screen.say(*_told(saved))

    @no_var_expand
    @line_magic
    @takes_words(
        option("--type", metavar="TYPE", help="Where a name stands in both places: which one is meant."),
        option("what", nargs="*", help="show NAME | check | restore NAME; without: the index."),
    )
    def memory(self, options: Namespace, words: list[str]) -> None:
        """List what is remembered, or look at it closely.

        show prints one memory; check lists what is wrong in the folders; restore brings back what %forget
        deleted or what a save replaced. NAME is a name or a file name without .md.
        """
        word, name = sub_word("memory", words, {"show": "NAME", "check": "", "restore": "NAME"})
        if options.type and word != "show":
            raise CommandError("%memory: --type goes with show: %memory show --type TYPE NAME")
        match word:
            case "show":
                self._show(name, options.type)
            case "check":
                self._check()
            case "restore":
                self._restore(name)
            case _:
                self._list()

    @no_var_expand
    @line_magic
    @takes_words(
        option("--type", metavar="TYPE", help="Where the name stands in both places: which one is meant."),
        option("--purge", action="store_true", help="Delete it for good, with what the trash has of it."),
        option("name", nargs="+", help="Its name, or its file name without .md."),
    )
    def forget(self, options: Namespace, words: list[str]) -> None:
        """Delete a memory; %memory restore NAME brings it back."""
        name = " ".join(words)
        if not name:
            raise CommandError("%forget needs the name of a memory; %memory lists them")
        memory = self.mew.memory.delete(name, type=options.type, purge=options.purge)
        what = f"the {memory.type} memory {memory.name!r}"
        if options.purge:
            self.screen.say(f"Deleted for good: {what}.")
            return
        days = self.mew.settings.trash_days
        self.screen.say(
            f"Deleted: {what}. For {counted(days, 'day')}, %memory restore {memory.slug} brings it back."
        )

    def _list(self) -> None:
        from mewcode_magic.render import memories_table
        from mewcode_magic.widgets import memory_index

        store = self.mew.memory
        table = memories_table(store, now=datetime.now(UTC))
        self.screen.show_list(table, lambda hides: memory_index(store, hides=hides))

    def _show(self, name: str, type_: str | None) -> None:
        memory = self.mew.memory.get(name, type=type_)
        if memory is None:
            raise MemoryNotFound(f"no memory has the name or slug {name!r}; %memory lists them")
        self.screen.say(*_facts(memory), "", memory.body)

    def _check(self) -> None:
        problems = [f"{shown(p.path)} ({p.kind}): {p.text}" for p in self.mew.memory.check()]
        self.screen.say(*(problems or ["All memories and their indexes are in order."]))

    def _restore(self, name: str) -> None:
        memory = self.mew.memory.restore(name)
        where = shown(memory.path or self.mew.memory.folder(memory.place))
        self.screen.say(
            f"Restored: the {memory.type} memory {memory.name!r} in {where}. Undo: %forget {memory.slug}"
        )


def _facts(memory: Memory) -> list[str]:
    """Return the lines in front of a memory's text."""
    now = datetime.now(UTC)
    lines = [f"{memory.name} ({memory.type})", memory.description]
    if memory.path:
        lines.append(f"File: {shown(memory.path)} ({_seen_by_git(memory.path)})")
    if memory.when:
        lines.append(f"Last changed: {local_time(memory.when)}")
    if memory.expires:
        verb = "Expired" if memory.is_expired(now) else "Expires"
        lines.append(f"{verb}: {local_time(memory.expires)}")
    return [*lines, f"From session: {memory.source}"] if memory.source else lines


def _told(saved: Saved) -> list[str]:
    """Return the lines on a save: what, where, who else sees the file, and how to undo it."""
    memory, notes = saved.memory, saved.notes
    what = f"the {memory.type} memory {memory.name!r} in {shown(saved.path)}"
    if saved.action == "unchanged":
        return [f"Remembered already: {what}.", *notes]
    from mewcode_magic.render import undo_of

    return [
        f"{saved.action.capitalize()}: {what} ({seen_by_git(saved.path)}).",
        f"Change it there, or undo: {undo_of(saved)}",
        *notes,
    ]


def _seen_by_git(path: Path) -> str:
    """Return in a few words whether a file would be committed."""
    import subprocess

    root = next((folder for folder in path.parents if (folder / ".git").exists()), None)
    if root is None:
        return "not in a git repository"
    command = ["git", "-C", str(path.parent), "check-ignore", "--quiet", path.name]
    try:
        status = subprocess.run(  # noqa: S603 - a fixed command; the path is one argument of it
            command, check=False, capture_output=True, timeout=GIT_SECONDS
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        status = -1
    said = {0: "git ignores it", 1: "git tracks this folder, so it can be committed"}
    return said.get(status, f"inside the git repository {shown(root)}")
