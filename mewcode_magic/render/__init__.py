"""What is displayed: turns, tables and transcripts, in notebooks, in runs with nobody there, in terminals."""

from mewcode_magic.render.display import output_for
from mewcode_magic.render.lines import quiet_line, told, undo_of
from mewcode_magic.render.markdown import safe_markdown
from mewcode_magic.render.question import Stopped, prefers_recorded
from mewcode_magic.render.table import Cell, Column, Table
from mewcode_magic.render.tables import (
    checks_table,
    context_table,
    found_table,
    help_table,
    memories_table,
    sessions_table,
    status_table,
)
from mewcode_magic.render.transcript import transcript_text, transcript_view
from mewcode_magic.render.turn import outcome_of, show_compaction, show_turn
from mewcode_magic.render.view import Handle, Output, View

__all__ = [
    "Cell",
    "Column",
    "Handle",
    "Output",
    "Stopped",
    "Table",
    "View",
    "checks_table",
    "context_table",
    "found_table",
    "help_table",
    "memories_table",
    "outcome_of",
    "output_for",
    "prefers_recorded",
    "quiet_line",
    "safe_markdown",
    "sessions_table",
    "show_compaction",
    "show_turn",
    "status_table",
    "told",
    "transcript_text",
    "transcript_view",
    "undo_of",
]
