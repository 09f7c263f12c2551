"""`%sessions` and `%resume`: the project's conversations."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from IPython.core.magic import line_magic, magics_class, no_var_expand

from mewcode_magic.errors import CommandError, SessionNotFound
from mewcode_magic.files import absolute, shown
from mewcode_magic.kernel import is_kernel
from mewcode_magic.magics.exchange import FORMS, export_session, import_lines
from mewcode_magic.magics.mew_magics import MewMagics
from mewcode_magic.magics.options import check_places, option, sub_word, sub_word_option, takes_words
from mewcode_magic.magics.resumed import told_of_none, told_of_resume
from mewcode_magic.magics.screen import counted
from mewcode_magic.magics.upkeep import clean_up, fill_counts

if TYPE_CHECKING:
    from mewcode_magic.widgets.sessions import SessionList

__all__ = ["SessionMagics"]

LISTED = 50
"""Sessions that the table has; the widget pages through all of them, and each has its number."""

NUMBER_DIGITS = 4
"""Up to so many digits are a number of the list; an id is longer, it begins with a date."""


def _days(text: str) -> int:
    days = int(text)
    if days < 1:
        raise ValueError(text)
    return days


SUB_WORDS = {
    "search": "TEXT",
    "new": "",
    "show": "ID",
    "rename": "ID TITLE",
    "rm": "ID",
    "clean": "",
    "export": "ID [PATH]",
    "import": "PATH",
}


@magics_class
class SessionMagics(MewMagics):
    """Conversations as files: list them, look into them, go on with them."""

    _listed: Sequence[str] = ()
    """Ids of the list last shown, in its order."""

    @no_var_expand
    @line_magic
    @takes_words(
        option("--all", action="store_true", help=f"List all of them, not only the {LISTED} latest."),
        option("--days", type=_days, metavar="N", help="For clean: days without activity, 1 or more."),
        option("--to", metavar="FORM", help=f"For export: {', '.join(FORMS)}; else markdown."),
        option("--force", action="store_true", help="For export: replace what stands there."),
        option("--again", action="store_true", help="For import: also what was imported already."),
        sub_word_option(SUB_WORDS, without="the list"),
        sub_words=SUB_WORDS,
    )
    def sessions(self, options: Namespace, words: list[str]) -> None:
        """List this project's sessions, or do something with one.

        search finds sessions by what was said in them; new closes the open session and begins another; show
        prints one; rename gives one a title; rm moves one to the trash; clean moves those there that were
        inactive for long; export writes one to a file, to read it, as a notebook, or for another program;
        import takes over a transcript of Claude Code or a session file, or all in a folder. ID is an id, the
        beginning of one, or a number of the list last shown; PATH is a file or a folder, for export the
        working directory where it is left out.
        """
        word, rest = sub_word("sessions", words, SUB_WORDS)
        places = {"days": "clean", "all": "", "to": "export", "force": "export", "again": "import"}
        check_places("sessions", options, word, places)
        match word:
            case "search":
                self._search(rest)
            case "new":
                self._new()
            case "show":
                self._show(rest)
            case "rename":
                self._rename(rest)
            case "rm":
                self._remove(rest)
            case "clean":
                self._clean(options.days)
            case "export":
                self._export(rest, options.to or FORMS[0], force=options.force)
            case "import":
                self._import(rest, again=options.again)
            case _:
                self._list(most=None if options.all else LISTED)

    @no_var_expand
    @line_magic
    @takes_words(
        option("--fork", action="store_true", help="Go on with a copy; the session itself stays as it is."),
        option("--here", action="store_true", help="This notebook's latest; if it has none, a new one."),
        option(
            "id",
            nargs="?",
            metavar="ID",
            help="An id, the beginning of one, or a number of the list last shown.",
        ),
    )
    def resume(self, options: Namespace, words: list[str]) -> None:
        """Go on with an earlier session.

        Without ID: this notebook's latest, else the project's latest, that is not open elsewhere.
        """
        if len(words) > 1:
            raise CommandError(f"%resume takes one id or number, not {' '.join(words)!r}")
        if options.here:
            if words or options.fork:
                raise CommandError(
                    "%resume --here takes neither an id nor --fork: it is this notebook's latest"
                )
            self._resume_here()
            return
        session_id = self._id(words[0]) if words else None
        resumed = self.mew.resume(session_id, fork=options.fork)
        self.screen.say(*told_of_resume(resumed, forked=options.fork))

    def _resume_here(self) -> None:
        resumed = self.mew.resume_here()
        if resumed is not None:
            lines = told_of_resume(resumed)
            if self.mew.settings.rerun != "fresh":
                lines.append("Cells that ran in it show their recorded answers; %%agent --fresh asks again.")
            self.screen.say(*lines)
        else:
            self.screen.say(told_of_none(self.mew, in_kernel=is_kernel(self.shell)))

    def _list(self, *, most: int | None) -> None:
        from mewcode_magic.render import sessions_table

        every = self.mew.sessions.list()
        infos = every[:most]
        notes = ["Go on with one: %resume NUMBER; look into one: %sessions show NUMBER"] if infos else []
        if len(infos) < len(every):
            notes.append(f"{len(every) - len(infos):,} more with %sessions --all")
        table = sessions_table(infos, current_id=self.mew.session.id, notes=notes)
        ids = [info.id for info in every]
        widget = self.screen.show_list(table, lambda hides: self._widget(ids, hides))
        self._listed = ids if widget else ids[:most]
        if any(info.messages is None for info in every):
            fill_counts(self.mew.sessions, then=widget.refresh if widget else None)

    def _search(self, text: str) -> None:
        from mewcode_magic.render import found_table

        if not any(character.isalnum() for character in text):
            raise CommandError(f"%sessions search needs a word of letters or digits, not {text!r}")
        notes: list[str] = []
        found = self.mew.sessions.search(text, limit=LISTED, tell=notes.append)
        if found:
            self._listed = [one.info.id for one in found]
            notes.append("Go on with one: %resume NUMBER; look into one: %sessions show NUMBER")
        if missing := [word for one in found[:1] for word in one.missing]:
            words = ", ".join(missing)
            notes.append(f"No session holds all of it; the first is without: {words}.")
        if len(found) == LISTED:
            notes.append(f"These are the {LISTED} that fit best; more words narrow it down.")
        self.screen.show_table(found_table(found, text, current_id=self.mew.session.id, notes=notes))

    def _widget(self, numbered: Sequence[str], hides: str) -> SessionList:
        from mewcode_magic.render import transcript_text
        from mewcode_magic.widgets import session_list

        return session_list(
            self.mew.sessions,
            current=lambda: self.mew.session.id,
            resume=lambda session_id: " ".join(told_of_resume(self.mew.resume(session_id))),
            preview=lambda session_id: transcript_text(self.mew.sessions.transcript(session_id)),
            numbered=numbered,
            hides=hides,
        )

    def _new(self) -> None:
        left = self.mew.session
        self.mew.new()
        back = f" %resume {left.id} goes back to the one before." if left.messages else ""
        self.screen.say(f"New session; its file is made with the first prompt.{back}")

    def _show(self, text: str) -> None:
        from mewcode_magic.render import transcript_view

        session_id = self._id(text)
        messages = self.mew.sessions.transcript(session_id)
        if messages:
            self.screen.show(transcript_view(messages))
        else:
            self.screen.say(f"Nothing was said in session {session_id}.")

    def _rename(self, text: str) -> None:
        from mewcode_magic.render.text import line

        given, _, title = text.partition(" ")
        if not title:
            raise CommandError("%sessions rename needs a title: %sessions rename ID TITLE")
        session_id = self._id(given)
        self.mew.sessions.rename(session_id, title)
        self.screen.say(f"Renamed session {session_id} to {line(title, 200)!r}.")

    def _remove(self, text: str) -> None:
        session_id = self._id(text)
        self.mew.sessions.delete(session_id)
        trash = shown(self.mew.sessions.folder / ".trash")
        days = counted(self.mew.settings.trash_days, "day")
        self.screen.say(
            f"Moved session {session_id} to {trash}. For {days}, moving its .jsonl back restores it."
        )

    def _clean(self, days: int | None) -> None:
        limit = days or self.mew.settings.session_max_age_days
        told = clean_up(self.mew.sessions, self.mew.settings, days=days)
        self.screen.say(
            told or f"No session to move: none was inactive for {counted(limit, 'day')}, or it is kept."
        )

    def _export(self, text: str, form: str, *, force: bool) -> None:
        given, _, path = text.partition(" ")
        lines = export_session(self.mew.sessions, self._id(given), path.strip(), form=form, force=force)
        self.screen.say(*lines)

    def _import(self, path: str, *, again: bool) -> None:
        from mewcode_magic.sessions.importing import import_sessions

        self.screen.say(*import_lines(import_sessions(self.mew.sessions, absolute(path), again=again)))

    def _id(self, text: str) -> str:
        """Return the id that a word means: a number of the list last shown, an id, or its beginning."""
        if not (text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS):
            return self.mew.sessions.find(text)
        if not self._listed:
            raise SessionNotFound(f"{text} is a number of a list, and none was shown yet; %sessions shows it")
        if not 1 <= int(text) <= len(self._listed):
            raise SessionNotFound(f"the list last shown has the numbers 1 to {len(self._listed)}, not {text}")
        return self._listed[int(text) - 1]
