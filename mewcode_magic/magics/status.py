"""`%context` and `%mewcode`: what the agent would be sent, and how things stand."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace

from IPython.core.magic import line_magic, magics_class, no_var_expand

from mewcode_magic.errors import CommandError
from mewcode_magic.magics.mew_magics import MewMagics
from mewcode_magic.magics.options import option, takes_words

__all__ = ["StatusMagics"]


@magics_class
class StatusMagics(MewMagics):
    """Looking at the agent from outside."""

    @no_var_expand
    @line_magic
    @takes_words(
        option(
            "part",
            nargs="*",
            metavar="PART",
            help="The part whose text is printed; without: all, as a table.",
        )
    )
    def context(self, _options: Namespace, words: list[str]) -> None:
        """Show what the next request would contain, part by part, with token counts and what was left out."""
        from mewcode_magic.render import context_table

        report = self.mew.context()
        if not words:
            self.screen.show_table(context_table(report))
            return
        wanted = " ".join(words)
        text = {part.name: part.text or part.note for part in report.parts}.get(wanted)
        if text is None:
            names = ", ".join(part.name for part in report.parts)
            raise CommandError(f"%context has no part {wanted!r}; the parts are: {names}")
        self.screen.say(text)

    @no_var_expand
    @line_magic
    @takes_words()
    def mewcode(self, _options: Namespace, words: list[str]) -> None:
        """Show how things stand: version, model, project, session and usage."""
        from mewcode_magic.model import OFFLINE, describe_connection
        from mewcode_magic.model.connection import HOW_TO_CONNECT
        from mewcode_magic.render import status_table

        if words:
            raise CommandError(
                f"%mewcode takes no words, so not {' '.join(words)!r}; %mewcode --help says more"
            )
        status = self.mew.status()
        offline = status.model == OFFLINE
        note = (
            f"To connect a model, {HOW_TO_CONNECT}." if offline else f"Connection: {describe_connection()}."
        )
        self.screen.show_table(replace(status_table(status), notes=[note]))
