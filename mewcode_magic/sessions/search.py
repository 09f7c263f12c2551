"""Searching what was said in all sessions: which fit some words best, and a passage of each.

A session fits by the words of the search that it holds: each counts by how rare it is among the sessions, by
where it stands (a title is worth more than a tool's result), a little by how often, and more where others of
them stand in the same record. If some sessions hold all the words, only those are found.
"""

from __future__ import annotations

import contextlib
import sqlite3
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from mewcode_magic.errors import SessionError
from mewcode_magic.files import reason, shown
from mewcode_magic.sessions.facts import one_line
from mewcode_magic.sessions.found import Found
from mewcode_magic.sessions.listing import list_sessions, session_files
from mewcode_magic.sessions.meta import SessionInfo
from mewcode_magic.sessions.passage import passages
from mewcode_magic.sessions.search_index import (
    ROLES,
    Place,
    SearchIndex,
    said,
    said_by,
    start_of,
)
from mewcode_magic.sessions.search_words import TextIndex, Word, beginning_of, words_sought
from mewcode_magic.words import rarity

__all__ = ["search_sessions"]

INDEX = ".search.sqlite"
"""The index's name in the folder of the sessions."""

WORTH = {"title": 1.0, "summary": 0.9, "user": 0.8, "assistant": 0.7, "tool_result": 0.3}
"""What a word is worth by where it stands; the best place counts."""

HEADS = ("title", "summary")

REPEATED = 0.5
"""What a word is worth besides if it stands in very many records."""
HALF_REPEATED = 4.0
"""Records, each counted by its worth, that bring half of that."""

CLOSE = 0.5
"""Least share of the best score where no session holds all the words."""

_RECORDS = tuple(WORTH[role] for role in ROLES)
_DAMAGED = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@dataclass(slots=True)
class _Tally:
    """What a session has of a search.

    `held`: the numbers of the words that it holds; `score`: what these are worth; `hits`: records with one of
    them. `best`: the record that fits best, with its `worth`, and `cover`, how much of the search it holds;
    `heads`: how much of it title and summary hold.
    """

    held: set[int] = field(default_factory=set)
    score: float = 0.0
    hits: int = 0
    best: Place | None = None
    worth: float = 0.0
    cover: float = 0.0
    heads: dict[str, float] = field(default_factory=lambda: dict.fromkeys(HEADS, 0.0))


def search_sessions(
    folder: Path, text: str, *, limit: int, tell: Callable[[str], object] | None = None
) -> list[Found]:
    """Return at most `limit` sessions of a folder that hold words of `text`, the best first.

    Equals are ordered by when they were last active. Nothing in the text is an operator. `tell` is called
    with one line if the index cannot be used: then all files are read.

    Raises:
        StorageError: the folder cannot be read.
        SessionError: this Python's SQLite was built without FTS5.
    """
    words = words_sought(text)
    infos = list_sessions(folder) if words and limit > 0 else []
    if not infos:
        return []
    try:
        with closing(_Heads(infos)) as heads:
            ids, looked_up = _look_up(folder, heads.understood(words), heads, tell)
            tallies = _tallied(ids, looked_up, heads, len(infos))
        chosen = _chosen(infos, tallies, len(looked_up))[:limit]
        return _with_passages(folder, chosen, tallies, [word for word, _ in looked_up])
    except sqlite3.Error as error:  # of a database in memory: the index would have been done without
        raise SessionError(
            f"cannot search the sessions: {error}; use a Python whose SQLite has FTS5"
        ) from error


class _Heads:
    """The titles and summaries of sessions."""

    def __init__(self, infos: Sequence[SessionInfo]) -> None:
        self._ids = [info.id for info in infos]
        self._indexes = {
            "title": TextIndex(info.title for info in infos),
            "summary": TextIndex(info.summary for info in infos),
        }

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()

    def understood(self, words: Sequence[Word]) -> list[Word]:
        """Return the words that FTS5 takes for some."""
        return [word for word in words if self._indexes["title"].understands(word)]

    def holding(self, word: Word) -> list[tuple[str, str]]:
        """Return "title" or "summary", and the session's id, of each that holds a word."""
        return [
            (head, self._ids[number])
            for head, index in self._indexes.items()
            for number in index.holding(word)
        ]


_LookedUp: TypeAlias = list[tuple[Word, list[Place]]]


def _look_up(
    folder: Path, words: Sequence[Word], heads: _Heads, tell: Callable[[str], object] | None
) -> tuple[dict[int, str], _LookedUp]:
    """Return the sessions' ids by their numbers, and where each word stands.

    A word that stands nowhere is taken for the beginning of others.
    """
    told = tell or (lambda _: None)
    path = folder / INDEX
    files = session_files(folder)
    for last in (False, True):
        try:
            with closing(SearchIndex.at(path)) as index:
                index.update(files)
                return _asked(index, words, heads)
        except OSError as error:
            why = reason(error)
        except sqlite3.Error as error:
            why = str(error)
            if not last and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                told(f"The index of the sessions, {shown(path)}, was damaged ({why}); it is built anew.")
                with contextlib.suppress(OSError):
                    path.with_name(f"{INDEX}-journal").unlink(missing_ok=True)
                    path.unlink(missing_ok=True)
                continue
        break
    told(f"The index of the sessions, {shown(path)}, could not be used ({why}); all files were read instead.")
    with closing(SearchIndex.in_memory()) as index:
        index.update(files)
        return _asked(index, words, heads)


def _asked(index: SearchIndex, words: Sequence[Word], heads: _Heads) -> tuple[dict[int, str], _LookedUp]:
    with index.reading():
        looked_up = []
        for word in words:
            places = index.places(word.expression)
            beginning = None if places or heads.holding(word) else beginning_of(word)
            looked_up.append((beginning, index.places(beginning.expression)) if beginning else (word, places))
        return index.sessions(), looked_up


def _tallied(ids: dict[int, str], looked_up: _LookedUp, heads: _Heads, size: int) -> dict[str, _Tally]:
    """Return what each of `size` sessions has of the words, by its id; those without any are left out."""
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    covers: defaultdict[Place, float] = defaultdict(float)
    for number, (word, places) in enumerate(looked_up):
        best: defaultdict[str, float] = defaultdict(float)
        often: defaultdict[str, float] = defaultdict(float)
        # A frequent word has ten thousands of places; what is done for each is what a search costs.
        for (session, role), count in Counter(map(said_by, places)).items():
            if session_id := ids.get(session):
                often[session_id] += count * _RECORDS[role]
                best[session_id] = max(best[session_id], _RECORDS[role])
        in_heads = heads.holding(word)
        for head, session_id in in_heads:
            best[session_id] = max(best[session_id], WORTH[head])
        weight = word.share * rarity(len(best), size)
        for session_id, worth in best.items():
            repeated = REPEATED * often[session_id] / (often[session_id] + HALF_REPEATED)
            tallies[session_id].held.add(number)
            tallies[session_id].score += weight * (worth + repeated)
        for head, session_id in in_heads:
            tallies[session_id].heads[head] += weight
        for place in places:
            covers[place] += weight
    _take_best(tallies, ids, covers)
    return tallies


def _take_best(tallies: dict[str, _Tally], ids: dict[int, str], covers: dict[Place, float]) -> None:
    """Note of each session how many records hold words, and which of them fits best."""
    for place, cover in covers.items():
        session, role = said_by(place)
        if session_id := ids.get(session):
            tally = tallies[session_id]
            tally.hits += 1
            worth = cover * _RECORDS[role]
            if worth > tally.worth:
                tally.best, tally.worth, tally.cover = place, worth, cover


def _chosen(infos: Sequence[SessionInfo], tallies: dict[str, _Tally], words: int) -> list[SessionInfo]:
    """Return the sessions that hold all words, or those that fit about as well as the best; best first."""
    scores = {info: tally.score + tally.worth for info in infos if (tally := tallies.get(info.id))}
    whole = [info for info in scores if len(tallies[info.id].held) == words]
    floor = CLOSE * max(scores.values(), default=0.0)
    found = whole or [info for info, score in scores.items() if score >= floor]
    return sorted(found, key=lambda info: -round(scores[info], 9))  # of equals the latest stays first


def _with_passages(
    folder: Path, chosen: Sequence[SessionInfo], tallies: dict[str, _Tally], words: Sequence[Word]
) -> list[Found]:
    """Return what was found, each with the passage that fits best."""
    texts: list[tuple[str, str]] = []
    for info in chosen:
        tally = tallies[info.id]
        head, cover = max(tally.heads.items(), key=lambda item: item[1])
        role, text = head, info.title if head == "title" else info.summary
        if tally.best is not None and tally.cover >= cover:
            record = ROLES[said_by(tally.best)[1]]
            # Nothing there: the file was replaced a moment ago.
            if there := _text_at(folder / f"{info.id}.jsonl", start_of(tally.best), record):
                role, text = record, there
        text = one_line(text)
        texts.append((role, text if text.isascii() else unicodedata.normalize("NFKC", text)))
    return [
        Found(
            info,
            role,
            passage,
            marks,
            hits=tallies[info.id].hits,
            missing=tuple(word.text for n, word in enumerate(words) if n not in tallies[info.id].held),
        )
        for info, (role, _), (passage, marks) in zip(
            chosen, texts, passages([text for _, text in texts], words), strict=True
        )
    ]


def _text_at(path: Path, start: int, role: str) -> str:
    """Return what a role says on the line that begins at `start`; nothing if that is not there any more."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(start)
        return said(file.readline()).get(role, "")
    return ""
