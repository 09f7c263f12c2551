"""`%context` and `%mewcode`: what the agent would be sent, and how things stand."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any

from IPython.core.magic import line_magic, magics_class, no_var_expand

from mewcode_magic.errors import CommandError
from mewcode_magic.magics.mew_magics import MewMagics
from mewcode_magic.magics.options import option, sub_word, sub_word_option, takes_words

__all__ = ["StatusMagics"]


SUB_WORDS = {"help": "", "doctor": ""}

READ_ON = (
    "Each has --help, and completion offers what it takes. %config MewCode lists the settings.",
    "%mewcode doctor looks for what is missing. README.md tells of everything, with examples.",
)


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
        """Show the next request part by part, with token counts.

        It also says what was left out and why.
        """
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
    @takes_words(sub_word_option(SUB_WORDS, without="the status"), sub_words=SUB_WORDS)
    def mewcode(self, _options: Namespace, words: list[str]) -> None:
        """Show how things stand: model, project, session, usage.

        help lists all magics; doctor looks whether all is there that MewCode needs, and says what to do
        where it is not. doctor sends the server one empty request, which costs nothing.
        """
        match sub_word("mewcode", words, SUB_WORDS)[0]:
            case "help":
                self._help()
            case "doctor":
                self._doctor()
            case _:
                self._status()

    def _status(self) -> None:
        from mewcode_magic.model import OFFLINE, describe_connection
        from mewcode_magic.model.connection import HOW_TO_CONNECT
        from mewcode_magic.render import status_table

        status = self.mew.status()
        offline = status.model == OFFLINE
        note = (
            f"To connect a model, {HOW_TO_CONNECT}." if offline else f"Connection: {describe_connection()}."
        )
        self.screen.show_table(replace(status_table(status), notes=[note]))

    def _help(self) -> None:
        from mewcode_magic.render import help_table

        self.screen.show_table(help_table(_lines(self.shell), notes=READ_ON))

    def _doctor(self) -> None:
        from mewcode_magic.doctor import examine
        from mewcode_magic.render import checks_table

        self.screen.show_table(checks_table(examine(self.mew.settings, shell=self.shell)))


def _lines(shell: Any) -> dict[str, str]:
    """Return the first line of what each magic's help says, by how the magic is written."""
    magics = shell.magics_manager.magics
    lines: dict[str, str] = {}
    for name, function in sorted((magics["line"] | magics["cell"]).items()):
        if isinstance(getattr(function, "__self__", None), MewMagics):
            written = [
                f"{mark}{name}" for mark, kind in (("%", "line"), ("%%", "cell")) if name in magics[kind]
            ]
            lines[", ".join(written)] = function.parser.description.strip().partition("\n")[0]
    return lines
