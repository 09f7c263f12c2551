"""Whatever happens to a conversation, each request obeys the API's rules and holds what it has to hold.

Histories of turns, calls, interrupts, refusals, compactions, resumes, copies and torn files are carried out
through `Mew`, on real files, with scripted replies. What a request must hold is read from the session's file
by rules of the test's own: the prompts behind the last boundary and those that it keeps, and no other.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from request_rules import broken_rules

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.errors import ContextTooLong, ConversationFull, MewCodeError, Overloaded, SessionNotFound
from mewcode_magic.events import Event
from mewcode_magic.model import Scripted
from mewcode_magic.sessions import repair_chain

WINDOW = 14_000
"""Tokens, of which half are filled; what stands in front of a conversation takes a fifth."""
LENGTHS = {"LONG": "words " * 300, "LONGER": "words " * 1_500}
"""What stands for long texts in a failing case, which is to be read by people."""
MARK = re.compile(r"prompt-\d+-")
"""What each prompt begins with, and nothing else holds."""
SUMMARY = "A summary of what was said."

ODD = st.sampled_from(["yes", "", " ", "LONG", "half \ud83d", "nul \0", "</system-reminder>", "\u2028"])
TEXTS = st.one_of(ODD, st.just("LONGER"))
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


@st.composite
def blocks(draw: st.DrawFn) -> list[Any]:
    """Return the parts of one reply; ids of calls may have occurred before."""
    calls = draw(st.lists(st.tuples(st.sampled_from(["t1", "t2", "a.b"]), st.booleans()), max_size=3))
    parts: list[Any] = [THINKING] if draw(st.booleans()) else []
    parts += [text for text in [draw(TEXTS)] if text]
    for number, (name, found) in enumerate(calls):
        path = "large.txt" if found else "nowhere.txt"
        use = {"type": "tool_use", "id": f"{name}{number}", "name": "ReadFile", "input": {"path": path}}
        parts.append(use)
    if draw(st.integers(0, 5)) == 0:
        parts.insert(draw(st.integers(0, len(parts))), KeyboardInterrupt())
    return parts or ["well"]


REPLIES = st.lists(
    st.one_of(blocks(), blocks(), st.just([ContextTooLong("too long")]), st.just([Overloaded("busy")])),
    max_size=5,
)
SUMMARIES = st.sampled_from(
    [SUMMARY, SUMMARY, "", KeyboardInterrupt(), Overloaded("busy"), ContextTooLong("x")]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), TEXTS, REPLIES),
        st.tuples(st.just("turn"), TEXTS, REPLIES),
        st.tuples(st.just("turn"), st.just("LONGER"), st.just([])),
        st.tuples(st.just("abandon"), TEXTS, st.integers(0, 12)),
        st.tuples(st.just("compact")),
        st.tuples(st.just("compact")),
        st.tuples(st.just("resume")),
        st.tuples(st.just("fork")),
        st.tuples(st.just("tear"), st.integers(1, 400)),
        st.tuples(
            st.just("noise"), st.sampled_from([b'{"role":"user","con', b"\0\0\0", b"\xff\xfe\n", b"{}\n"])
        ),
    ),
    min_size=5,
    max_size=20,
)


class History:
    """One agent, what becomes of its session, and the checks after each step."""

    def __init__(self, folder: Path, dialect: str) -> None:
        self._folder, self._dialect = folder, dialect
        (folder / "project" / ".git").mkdir(parents=True)
        (folder / "project" / "large.txt").write_text("line of a file\n" * 400)
        self._typed: list[str] = []
        """The marks of all prompts, lost ones too."""
        self._owed: set[str] = set()
        """The marks that must be in the session's file."""
        self.mew = self._opened()

    def _opened(self) -> Mew:
        chosen = MewCode(
            context_window=WINDOW,
            session_dialect=self._dialect,
            extract="off",
            recall_seconds=0,
            keep_recent_tokens=500,
            keep_recent_turns=2,
            min_summarize_prefix_tokens=100,
            min_keep_messages=2,
        )
        return Mew(self._folder / "project", self._folder / "home", model=Scripted([]), settings=chosen)

    def _open_again(self, session_id: str) -> None:
        self.mew = self._opened()
        with contextlib.suppress(SessionNotFound):
            self.mew.resume(session_id)

    def turn(self, text: str, replies: list[list[Any]], summary: object) -> None:
        said = [[LENGTHS.get(part, part) if isinstance(part, str) else part for part in r] for r in replies]
        model = Scripted([*said, "done", "done"], answers={"compact": [summary] * 9})
        self.mew.use(model)
        prompt = self._prompt(text)
        try:
            self._take(self.mew.ask(prompt))
        except ConversationFull:
            self._owed -= set(MARK.findall(prompt))
        except (KeyboardInterrupt, MewCodeError):
            pass
        self._check_requests(model)
        if model.requests:
            assert prompt.split()[0] in json.dumps(model.requests[-1].messages)

    def abandon(self, text: str, events: int, summary: object) -> None:
        model = Scripted([["LONG", {"type": "tool_use", "id": "x", "name": "Glob", "input": {}}], "done"] * 2)
        self.mew.use(model)
        prompt = self._prompt(text)
        turn = self.mew.ask(prompt)
        try:
            for _ in zip(range(events + 1), turn, strict=False):
                pass
        except ConversationFull:
            self._owed -= set(MARK.findall(prompt))
        turn.close()
        self._check_requests(model)

    def compact(self, summary: object) -> None:
        self.mew.use(Scripted([], answers={"compact": [summary] * 9}))
        before = list(self.mew.session.messages)
        try:
            self._take(self.mew.compact())
        except (MewCodeError, KeyboardInterrupt):
            assert self.mew.session.messages == before

    def resume(self, summary: object) -> None:
        session_id = self.mew.session.id
        self.mew.close()
        self._open_again(session_id)

    def fork(self, summary: object) -> None:
        if self._file().exists():
            self.mew.resume(self.mew.session.id, fork=True)

    def tear(self, size: int, summary: object) -> None:
        """Cut the file's end off, as a crash does."""
        file = self._file()
        self.mew.close()
        if file.exists():
            with file.open("r+b") as opened:
                opened.truncate(max(0, file.stat().st_size - size))
            self._owed &= set(MARK.findall(file.read_text("utf-8", "replace")))
        self._open_again(file.stem)

    def noise(self, data: bytes, summary: object) -> None:
        """Let another program append something that is no record."""
        file = self._file()
        if file.exists():
            with file.open("ab") as opened:
                opened.write(data)

    def _prompt(self, text: str) -> str:
        mark = f"prompt-{len(self._typed)}-"
        self._typed.append(mark)
        self._owed.add(mark)
        return f"{mark} {LENGTHS.get(text, text)}"

    def _file(self) -> Path:
        return self.mew.session.path

    def _take(self, events: Iterator[Event]) -> None:
        for _ in events:
            pass

    def _check_requests(self, model: Scripted) -> None:
        for request in model.requests:
            body = {"system": request.system, "messages": request.messages, "tools": request.tools}
            assert broken_rules(body) == []
        for query in model.queries:
            made = query.request()
            assert broken_rules({"system": made.system, "messages": made.messages}) == []
        if model.requests:  # the last one was built when all prompts stood in the file
            sent = set(MARK.findall(json.dumps(model.requests[-1].messages)))
            assert sent == set(self._marks())

    def check(self) -> None:
        """Check what holds after each step."""
        if not self._file().exists():
            assert not self._owed
            return
        whole = self._file().read_text("utf-8", "replace")
        assert self._owed <= set(MARK.findall(whole))
        self.mew.session.refresh()
        replayed = repair_chain(self.mew.session.messages)[0]
        assert replayed == self.mew.sessions.read(self.mew.session.id).messages
        said = [mark for m in self.mew.session.messages for mark in MARK.findall(m.text())]
        assert said == self._marks()

    def _marks(self) -> list[str]:
        """Return the marks of the prompts that are replayed, by the file alone."""
        marks: list[str] = []
        for line in self._file().read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            kind = record.get("role") or record.get("type")
            if kind == "compact_boundary":
                marks = [mark for kept in record["content"]["keep"] for mark in _marks_of(kept)]
            elif kind == "user":
                marks += _marks_of(record)
        return marks


def _marks_of(record: dict[str, Any]) -> list[str]:
    user = (record.get("role") or record.get("type")) == "user"
    return MARK.findall(record["content"]) if user else []


@settings(max_examples=25)
@given(STEPS, st.lists(SUMMARIES, min_size=20, max_size=20), st.sampled_from(["role", "typed"]))
def test_any_history_leads_to_requests_that_hold_what_they_must(
    steps: list[tuple[Any, ...]], summaries: list[object], dialect: str
) -> None:
    with TemporaryDirectory() as folder:
        history = History(Path(folder), dialect)
        try:
            for _ in range(3):
                history.turn("LONG", [], SUMMARY)
            for (name, *arguments), summary in zip(steps, summaries, strict=False):
                getattr(history, name)(*arguments, summary)
                history.check()
            history.turn("at last", [], SUMMARY)
            history.check()
        finally:
            history.mew.close()
