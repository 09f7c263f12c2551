"""`%agent` and `%%agent`: one turn of the agent, streamed into the cell's output."""

from __future__ import annotations

import keyword
from argparse import Namespace
from typing import TYPE_CHECKING

from IPython.core.magic import line_cell_magic, magics_class, no_var_expand

from mewcode_magic.errors import CommandError
from mewcode_magic.kernel import can_ask
from mewcode_magic.magics.mew_magics import MewMagics
from mewcode_magic.magics.options import joined, option, takes_text
from mewcode_magic.magics.upkeep import fill_counts

if TYPE_CHECKING:
    from mewcode_magic.sessions import Turn

__all__ = ["AgentMagics"]

FIX = "Why did this fail, and what mends it?"
"""What is asked where `--fix` stands alone."""


@magics_class
class AgentMagics(MewMagics):
    """The conversation itself."""

    @no_var_expand
    @line_cell_magic
    @takes_text(
        option("--model", metavar="NAME", help="Let this model answer, this once; 'offline' needs no key."),
        option("--new", action="store_true", help="Begin a new session first."),
        option("--fix", action="store_true", help="Attach the last cell that failed, and its traceback."),
        option("--fresh", action="store_true", help="Ask again where a recorded answer would be shown."),
        option("-o", dest="output", metavar="NAME", help="Put the final answer, a str, into this variable."),
        option(
            "prompt", nargs="*", help="The text, taken as it stands; behind '--' it can begin with dashes."
        ),
    )
    def agent(self, options: Namespace, text: str, cell: str | None) -> None:
        """Ask the agent: one turn, answered into the cell.

        The prompt is the text of the line and of the cell below it. A cell that an earlier kernel ran in the
        session shows the answer that is recorded. The answer is displayed, not returned; -o NAME is how to
        have it as a value.
        """
        from mewcode_magic.render import show_turn

        prompt = joined(text, cell) or (FIX if options.fix else "")
        if not prompt:
            raise CommandError("%agent needs a prompt: behind the name, or in the cell below %%agent")
        output = options.output
        if output and (not output.isidentifier() or keyword.iskeyword(output)):
            raise CommandError(f"%agent: -o is {output!r}, which cannot be a variable's name")
        recorded = self.mew.recorded(prompt, model=options.model, fix=options.fix, new=options.new)
        if recorded is not None and not options.fresh and self._shows(recorded):
            events = self.mew.replay(recorded)
        else:
            if options.new:
                self.mew.new()
            events = self.mew.ask(prompt, model=options.model, fix=options.fix)
        ended = show_turn(events, shell=self.shell)
        self.screen.tell_late(ended)
        if output:
            self.shell.user_ns[output] = ended.text
        fill_counts(self.mew.sessions)

    def _shows(self, recorded: Turn) -> bool:
        """Whether a recorded turn is shown rather than asked again."""
        from mewcode_magic.render import prefers_recorded

        rerun = self.mew.settings.rerun
        if rerun == "ask" and can_ask(self.shell):
            return prefers_recorded(recorded)
        return rerun != "fresh"
