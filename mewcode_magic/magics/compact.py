"""`%compact`: the conversation is summed up by hand."""

from __future__ import annotations

from argparse import Namespace

from IPython.core.magic import line_cell_magic, magics_class, no_var_expand

from mewcode_magic.errors import NothingToCompact
from mewcode_magic.magics.mew_magics import MewMagics
from mewcode_magic.magics.options import joined, option, takes_text

__all__ = ["CompactMagics"]


@magics_class
class CompactMagics(MewMagics):
    """Making room in the conversation."""

    @no_var_expand
    @line_cell_magic
    @takes_text(option("focus", nargs="*", help="What to keep in mind, taken as it stands; without: all."))
    def compact(self, _options: Namespace, text: str, cell: str | None) -> None:
        """Compact the conversation now: a summary takes the place of all but the latest messages.

        The session's file keeps all that was said. Instructions and memories are read again.
        """
        from mewcode_magic.render import show_compaction

        try:
            show_compaction(self.mew.compact(joined(text, cell)), shell=self.shell)
        except NothingToCompact as declined:
            self.screen.say(f"{str(declined)[0].upper()}{str(declined)[1:]}.")
