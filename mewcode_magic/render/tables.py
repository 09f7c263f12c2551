"""The tables of sessions, memories, the next request's parts and the status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from mewcode_magic.app import Status
from mewcode_magic.clock import local
from mewcode_magic.context import ContextReport
from mewcode_magic.doctor import Check
from mewcode_magic.files import shown
from mewcode_magic.memory import PLACES, Memory, MemoryStore
from mewcode_magic.memory.index import parsed
from mewcode_magic.messages import Usage
from mewcode_magic.render.table import Cell, Column, Table
from mewcode_magic.render.text import line
from mewcode_magic.sessions import Found, SessionInfo

__all__ = [
    "checks_table",
    "context_table",
    "found_table",
    "help_table",
    "memories_table",
    "sessions_table",
    "status_table",
]

_SAID_BY = {"user": "you", "assistant": "agent", "tool_result": "a tool"}
"""Who speaks in a passage; titles and summaries go by their own names."""


def sessions_table(infos: Sequence[SessionInfo], *, current_id: str = "", notes: Sequence[str] = ()) -> Table:
    """Return the sessions, numbered from 1 in the order given.

    Times are local and absolute: a saved notebook is read later.
    """
    return Table(
        columns=(
            Column("#", right=True, whole=True),
            Column("Title"),
            Column("Started", whole=True, spare=True),
            Column("Last active", whole=True),
            Column("Messages", right=True, whole=True),
            Column("Tokens", right=True, whole=True, spare=True),
            Column("Notebook", spare=True),
            Column("Id", whole=True),
        ),
        rows=[
            (
                Cell(str(number)),
                Cell(info.title, hover=info.summary, marks=("open here",) if info.id == current_id else ()),
                _time(info.created),
                _time(info.last_active),
                _count(info.messages),
                _tokens(info),
                Cell(info.notebook or ""),
                Cell(info.id),
            )
            for number, info in enumerate(infos, 1)
        ],
        empty="No sessions yet. Begin one: %agent hello",
        notes=notes,
    )


def found_table(
    found: Sequence[Found], text: str, *, current_id: str = "", notes: Sequence[str] = ()
) -> Table:
    """Return what a search for `text` found, numbered from 1, with the hits in each passage marked."""
    return Table(
        columns=(
            Column("#", right=True, whole=True),
            Column("Title"),
            Column("Passage", least=40),
            Column("Said by", whole=True, spare=True),
            Column("Hits", right=True, whole=True),
            Column("Last active", whole=True, spare=True),
            Column("Id", whole=True, spare=True),
        ),
        rows=[
            (
                Cell(str(number)),
                Cell(
                    one.info.title,
                    hover=one.info.summary,
                    marks=("open here",) if one.info.id == current_id else (),
                ),
                Cell(_marked(one.passage, one.marks)),
                Cell(_SAID_BY.get(one.role, one.role)),
                _count(one.hits),
                _time(one.info.last_active),
                Cell(one.info.id),
            )
            for number, one in enumerate(found, 1)
        ],
        empty=f"No session holds {line(text, 80)!r}, nor any of its words; %sessions lists all",
        notes=notes,
    )


def memories_table(store: MemoryStore, *, now: datetime) -> Table:
    """Return all memories of a store, the latest first, marked where the agent does not see them as they are.

    Raises:
        StorageError: a memory folder cannot be read.
    """
    memories = sorted(store.list(), key=_when, reverse=True)
    indexed = {(place, entry.slug) for place in PLACES for entry in parsed(store.index(place))}
    stale = timedelta(days=store.settings.stale_after_days)

    def marks(memory: Memory) -> Iterator[str]:
        if memory.is_expired(now):
            yield "expired"
        elif (memory.place, memory.slug) not in indexed:
            yield "not indexed"
        if memory.age(now) > stale:
            yield "stale"

    places = Counter(memory.place for memory in memories)
    return Table(
        columns=(
            Column("Name"),
            Column("Type", whole=True),
            Column("Description"),
            Column("Updated", whole=True),
            Column("State", whole=True, spare=True),
        ),
        rows=[
            (
                Cell(memory.name or memory.slug, hover=shown(memory.path) if memory.path else ""),
                Cell(memory.type),
                Cell(memory.description),
                _time(memory.when),
                Cell(", ".join(marks(memory))),
            )
            for memory in memories
        ],
        empty="No memories yet. To keep something: %remember I prefer polars over pandas",
        notes=(
            " · ".join(f"{places[place]:,} in {shown(store.folder(place))}" for place in PLACES),
            *store.notices,
        ),
    )


def context_table(report: ContextReport) -> Table:
    """Return the parts of the next request with their tokens; each opens its text."""
    return Table(
        columns=(Column("Part", whole=True), Column("Tokens", right=True, whole=True), Column("")),
        rows=[
            *(
                (Cell(part.name), Cell(f"{part.tokens:,}"), Cell(part.note or "text", detail=part.text))
                for part in report.parts
            ),
            (Cell("all together"), Cell(f"{report.total:,}"), Cell("estimated")),
            (Cell("window"), Cell(f"{report.used:,}"), Cell(_room(report))),
        ],
        notes=report.notices,
    )


def _room(report: ContextReport) -> str:
    """Return how large the window is, and what happens where it ends."""
    room = report.room
    if report.automatic:
        return f"used of {room.window:,}; compacted above {room.compacts_above:,}"
    return f"used of {room.window:,}; above {room.refuses_above:,} no prompt is taken"


def status_table(status: Status) -> Table:
    """Return the state of the shell's agent."""
    session = f"{status.session_id} · {status.session_title}".removesuffix(" · ")
    of_session = status.session_usage
    turns = f"{status.turns:,} in this kernel" + (f", {status.usage.in_words()}" if status.turns else "")
    lines = {
        "Version": status.version,
        "Model": status.model,
        "Project": shown(status.project),
        "Home": shown(status.home),
        "Session": session,
        "Its tokens": of_session.in_words() if of_session and of_session != Usage() else "",
        "Turns": turns,
        "Background": status.background or "nothing done yet",
    }
    return Table(
        columns=(Column("", whole=True), Column("", whole=True)),
        rows=[(Cell(name), Cell(text)) for name, text in lines.items() if text],
    )


def checks_table(checks: Sequence[Check]) -> Table:
    """Return what was looked at and found; below, in full, what is to be done."""
    failed = sum(check.state == "failed" for check in checks)
    told = [
        f"{check.name}: {'; '.join(part for part in (check.found, check.advice) if part)}"
        for check in checks
        if check.state != "ok"
    ]
    summary = f"{failed:,} of {len(checks):,} checks failed." if failed else "Nothing failed."
    return Table(
        columns=(Column("Check", whole=True), Column("State", whole=True), Column("Found")),
        rows=[(Cell(check.name), Cell(check.state), Cell(check.found)) for check in checks],
        notes=[*told, summary],
    )


def help_table(lines: Mapping[str, str], *, notes: Sequence[str]) -> Table:
    """Return the magics with one line on each."""
    return Table(
        columns=(Column("Magic", whole=True), Column("What it does")),
        rows=[(Cell(name), Cell(text)) for name, text in lines.items()],
        notes=notes,
    )


def _marked(passage: str, marks: Sequence[tuple[int, int]]) -> str:
    """Return a passage with »« around each hit: a terminal shows them, and so does a saved notebook."""
    parts, done = [], 0
    for begin, end in marks:
        parts += [passage[done:begin], "»", passage[begin:end], "«"]
        done = end
    return "".join([*parts, passage[done:]])


def _when(memory: Memory) -> datetime:
    return memory.when or datetime.min.replace(tzinfo=UTC)


def _time(moment: datetime | None) -> Cell:
    if moment is None:
        return Cell("")
    moment = local(moment)
    return Cell(f"{moment:%Y-%m-%d %H:%M}", hover=moment.isoformat(sep=" ", timespec="seconds"))


def _tokens(info: SessionInfo) -> Cell:
    """Return what a session took and gave; in parts, where these are known."""
    usage = info.usage
    if not usage or usage == Usage():
        return _count(info.tokens)
    return Cell(usage.in_words(_rounded).replace(" tokens", ""), hover=usage.in_words())


def _rounded(count: int) -> str:
    """Return a count in three digits or fewer."""
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= unit:
            return f"{count / unit:.3g}{letter}"
    return str(count)


def _count(count: int | None) -> Cell:
    return Cell("" if count is None else f"{count:,}")
