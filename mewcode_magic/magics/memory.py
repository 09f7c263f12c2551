"""`%remember`, `%memory` and `%forget`: long-term memory by hand."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from IPython.core.magic import line_cell_magic, line_magic, magics_class, no_var_expand

from mewcode_magic.errors import CommandError, MemoryNotFound
from mewcode_magic.files import absolute, shown
from mewcode_magic.git import seen_by_git
from mewcode_magic.magics.mew_magics import MewMagics
from mewcode_magic.magics.options import (
    check_places,
    joined,
    option,
    sub_word,
    sub_word_option,
    takes_text,
    takes_words,
)
from mewcode_magic.magics.screen import counted, local_time

if TYPE_CHECKING:
    from mewcode_magic.memory import Condensation, Memory, Saved

__all__ = ["MemoryMagics"]


SUB_WORDS = {"show": "NAME", "check": "", "import": "[PATH]", "condense": "", "restore": "NAME"}


@magics_class
class MemoryMagics(MewMagics):
    """What lasts from one conversation to the next."""

    _proposed: Condensation | None = None
    """The merges that were shown last and are not written."""

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
        """Save a text to long-term memory, at once.

        It is the text of the line and of the cell below it, and no model is asked. Without --type the text
        decides: with a link in it, it is a reference; a correction is feedback; what is about you is user;
        all else is about the project.
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
        option("--type", metavar="TYPE", help="With show: which is meant of two memories of one name."),
        option("--fix", action="store_true", help="With check: mend what can be mended with nothing lost."),
        option("--dry-run", action="store_true", help="With import: say what would be done, and do nothing."),
        option("--write", action="store_true", help="With condense: write what it has proposed."),
        sub_word_option(SUB_WORDS, without="the index"),
        sub_words=SUB_WORDS,
    )
    def memory(self, options: Namespace, words: list[str]) -> None:
        """List what is remembered, or look at it closely.

        show prints one memory; check lists what is wrong in the folders; import takes over a folder of
        Markdown, such as Claude Code's memories, or without PATH the older memories.md files; condense
        proposes which memories could become one; restore brings back what %forget deleted or what a save
        replaced. NAME is a name or a file name without .md.
        """
        word, name = sub_word("memory", words, SUB_WORDS)
        places = {"type": "show", "fix": "check", "dry_run": "import", "write": "condense"}
        check_places("memory", options, word, places)
        match word:
            case "show":
                self._show(name, options.type)
            case "check":
                self._check(fix=options.fix)
            case "import":
                self._import(name, dry_run=options.dry_run)
            case "condense":
                self._condense(write=options.write)
            case "restore":
                self._restore(name)
            case _:
                self._list()

    @no_var_expand
    @line_magic
    @takes_words(
        option("--type", metavar="TYPE", help="Where the name stands in both places: which one is meant."),
        option("--purge", action="store_true", help="Delete it for good, with what the trash has of it."),
        option("name", nargs="+", metavar="NAME", help="Its name, or its file name without .md."),
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

    def _check(self, *, fix: bool) -> None:
        from mewcode_magic.magics.housekeeping import check_lines, fix_lines

        store = self.mew.memory
        lines = fix_lines(store.fix(), store.check()) if fix else check_lines(store.check())
        self.screen.say(*lines)

    def _import(self, path: str, *, dry_run: bool) -> None:
        from mewcode_magic.magics.housekeeping import import_lines
        from mewcode_magic.memory import import_memories, import_older_files

        mew, now = self.mew, datetime.now(UTC)
        if path:
            result = import_memories(mew.memory, absolute(path), now=now, dry_run=dry_run)
        else:
            result = import_older_files(mew.memory, mew.project, mew.home, now=now, dry_run=dry_run)
        self.screen.say(*import_lines(result, mew.memory, dry_run=dry_run))

    def _condense(self, *, write: bool) -> None:
        from mewcode_magic.magics.housekeeping import merge_lines, proposal_lines
        from mewcode_magic.memory import write_merges
        from mewcode_magic.model import OFFLINE

        if not write:
            self._proposed = self.mew.condense()
            offline = self._proposed.model == OFFLINE
            self.screen.say(*proposal_lines(self._proposed, offline=offline))
            return
        proposed, self._proposed = self._proposed, None
        if proposed is None or not proposed.merges:
            raise CommandError(
                "%memory condense --write writes what %memory condense has proposed: run that first"
            )
        self.screen.say(*merge_lines(write_merges(self.mew.memory, proposed)))

    def _restore(self, name: str) -> None:
        store = self.mew.memory
        stood = {memory.path for memory in store.list()}
        memory = store.restore(name)
        where = shown(memory.path or store.folder(memory.place))
        # What stood under the name is in the trash now, so that the same command brings it back.
        undo = "%memory restore" if memory.path in stood else "%forget"
        self.screen.say(
            f"Restored: the {memory.type} memory {memory.name!r} in {where}. Undo: {undo} {memory.slug}"
        )


def _facts(memory: Memory) -> list[str]:
    """Return the lines in front of a memory's text."""
    now = datetime.now(UTC)
    lines = [f"{memory.name} ({memory.type})", memory.description]
    if memory.path:
        lines.append(f"File: {shown(memory.path)} ({seen_by_git(memory.path)})")
    if memory.when:
        lines.append(f"Last changed: {local_time(memory.when)}")
    if memory.expires:
        verb = "Expired" if memory.is_expired(now) else "Expires"
        lines.append(f"{verb}: {local_time(memory.expires)}")
    return [*lines, f"From session: {memory.source}"] if memory.source else lines


def _told(saved: Saved) -> list[str]:
    """Return the lines on a save: what, where, who else sees the file, and how to undo it."""
    memory, notes = saved.memory, saved.notes
    if saved.action == "unchanged":  # the first note says which memory says it already
        return [f"Remembered already, in {shown(saved.path)}:", *notes]
    what = f"the {memory.type} memory {memory.name!r} in {shown(saved.path)}"
    from mewcode_magic.render import undo_of

    return [
        f"{saved.action.capitalize()}: {what} ({seen_by_git(saved.path)}).",
        f"Change it there, or undo: {undo_of(saved)}",
        *notes,
    ]
