"""`SearchSessions`: the project's earlier conversations, by what was said in them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from mewcode_magic.clock import local
from mewcode_magic.sessions import Found, SessionStore
from mewcode_magic.tools.masking import masked
from mewcode_magic.tools.permissions import Action
from mewcode_magic.tools.tool import ToolContext, ToolResult, ToolRun, described

__all__ = ["SearchSessions"]

_SAID_BY = {"user": "the user", "assistant": "you", "tool_result": "a tool's result"}


class SearchSessionsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `SearchSessions`."""

    query: Annotated[
        str, msgspec.Meta(min_length=1, description="The words to look for; nothing in them is an operator.")
    ]
    limit: Annotated[int, msgspec.Meta(ge=1, le=50, description="Most sessions to list.")] = 10


class SearchSessions:
    """Finds earlier conversations of the project; needs no question, as they are the project's own."""

    name = "SearchSessions"
    description = (
        "Find earlier conversations of this project by the words that were said in them, the best first: "
        "when each was, its title, and the passage that fits best. Use it when the user refers to something "
        "that was discussed or decided before, and that is neither here nor in the memories."
    )
    Arguments = SearchSessionsArguments
    writes_memory = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as a request describes it."""
        return described(self.name, self.description, SearchSessionsArguments)

    def action(self, arguments: SearchSessionsArguments, context: ToolContext) -> Action:  # noqa: ARG002
        """Return that it reads inside the project."""
        return Action(self.name, "read", "Search the sessions of this project?")

    def run(self, arguments: SearchSessionsArguments, context: ToolContext) -> ToolRun:
        """Return one paragraph a session."""
        yield from ()  # nothing but the result is to be seen
        notes: list[str] = []
        store = SessionStore(context.project, settings=context.settings)
        found = store.search(arguments.query, limit=arguments.limit, tell=notes.append)
        lines = [_told(one, context) for one in found] or ["no session holds any of these words"]
        if found and found[0].missing:
            notes.append(
                f"No session holds all the words; the first is without: {', '.join(found[0].missing)}"
            )
        return ToolResult(masked("\n\n".join([*lines, *(f"({note})" for note in notes)])))


def _told(one: Found, context: ToolContext) -> str:
    info = one.info
    when = f", {local(info.last_active):%Y-%m-%d %H:%M}" if info.last_active else ""
    here = ", this conversation" if info.id == context.session_id else ""
    passage = one.passage
    if one.role == "tool_result" and not context.settings.share_values:
        passage = "(not shown, because MewCode.share_values is off)"
    records = f"{one.hits:,} record{'' if one.hits == 1 else 's'} with a hit"
    head = f"{info.id}{when}{here}: {info.title} ({records})"
    return f"{head}\n{_SAID_BY.get(one.role, one.role)}: {passage}"
