import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.files import shown
from mewcode_magic.memory import Memory, MemoryStore
from mewcode_magic.messages import Usage
from mewcode_magic.model import Scripted, ScriptedReply
from mewcode_magic.render import context_table, found_table, memories_table, sessions_table, status_table
from mewcode_magic.sessions import Found, SessionInfo

NOW = datetime.now(UTC)


def session(number: int, **changes) -> SessionInfo:
    values = {
        "id": f"20261129-10101{number}-abcd",
        "path": Path("x.jsonl"),
        "title": f"question {number}",
        "summary": "",
        "created": datetime(2026, 11, 29, 10, 10, tzinfo=UTC),
        "last_active": datetime(2026, 11, 30, 23, 30, tzinfo=UTC),
        "messages": 4,
        "tokens": 12_345,
        "notebook": "sales.ipynb",
        "dialect": "role",
    }
    return SessionInfo(**{**values, **changes})


def test_sessions_are_numbered_and_the_open_one_is_marked() -> None:
    infos = [session(1), session(2, messages=None, tokens=None, notebook=None, created=None)]
    lines = sessions_table(infos, current_id=infos[1].id).text(140).split("\n")
    assert lines[0].split()[:2] == ["#", "Title"]
    assert lines[2].startswith("1  question 1")
    assert "12,345" in lines[2]
    assert lines[3].startswith("2  (open here) question 2")


def test_sessions_show_their_tokens_in_parts_where_these_are_known() -> None:
    infos = [
        session(1, usage=Usage(1_200, 310, 6_040, 1_234_567)),
        session(2, usage=Usage(12, 3)),
        session(3),
        session(4, tokens=0, usage=Usage()),
    ]
    lines = sessions_table(infos).text(160).split("\n")
    assert "1.24M in (1.23M from cache, 6.04k written to it) · 310 out" in lines[2]
    assert "12 in · 3 out" in lines[3]
    assert "12,345" in lines[4]
    html = sessions_table(infos).html()
    assert "1,241,807 tokens in (1,234,567 from cache, 6,040 written to it) · 310 out" in html


def test_times_are_local(monkeypatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        table = sessions_table([session(1)])
        assert "2026-11-30 18:30" in table.text()
        assert '<span title="2026-11-30 18:30:00-05:00">2026-11-30 18:30</span>' in table.html()
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_narrow_terminal_keeps_number_title_last_activity_and_id() -> None:
    text = sessions_table([session(1, title="a rather long title of a session")]).text(80)
    assert all(len(line) <= 80 for line in text.split("\n"))
    assert "2026-11-29 " not in text.split("\n")[2]
    assert "20261129-101011-abcd" in text


def test_no_sessions_is_a_sentence() -> None:
    assert sessions_table([]).text() == "No sessions yet. Begin one: %agent hello"


def test_found_sessions_show_their_passage_with_the_hits_marked() -> None:
    found = [Found(session(1), "tool_result", "…the <i>churn</i> model", ((8, 13), (18, 23)), 12)]
    table = found_table(found, "churn model")
    assert "…the <i>»churn«</i> »model«" in table.text(140)
    assert "&lt;i&gt;»churn«&lt;/i&gt;" in table.html()
    narrow = table.text(80).split("\n")
    assert all(len(line) <= 80 for line in narrow)
    assert "»churn«" in narrow[2]


def test_nothing_found_is_a_sentence_in_one_line() -> None:
    assert (
        found_table([], "a\nb\x1b").text()
        == "No session holds 'a b␛', nor any of its words; %sessions lists all"
    )


def test_memories_are_marked_where_the_agent_does_not_see_them_as_they_are(project, home) -> None:
    store = MemoryStore(project, home)
    store.save(Memory("polars", "for <dataframes>", "user", "use polars", expires=NOW + timedelta(days=9)))
    store.save(
        Memory("deadline", "when asked for dates", "project", "Friday", expires=NOW + timedelta(days=1))
    )
    table = memories_table(store, now=NOW + timedelta(days=2))
    states = {row[0].text: row[4].text for row in table.rows}
    assert states == {"polars": "stale", "deadline": "expired, stale"}
    assert "for &lt;dataframes&gt;" in table.html()
    folders = [shown(store.folder(place)) for place in ("user", "project")]
    assert table.text().endswith(f"1 in {folders[0]} · 1 in {folders[1]}")


def test_memories_beyond_the_index_are_marked(project, home) -> None:
    store = MemoryStore(project, home)
    store.settings.index_max_lines = 2
    for number in range(4):
        store.save(Memory(f"note {number}", f"when {number}", "project", f"body {number}"))
    table = memories_table(store, now=NOW)
    assert [row[4].text for row in table.rows].count("not indexed") == 3


def test_context_lists_the_parts_with_their_tokens_and_what_was_left_out(project, home) -> None:
    (project / "MEWCODE.md").write_text("Use <tabs>.\n@include gone.md\n")
    mew = Mew(project, home, model="offline")
    report = mew.context()
    table = context_table(report)
    words = [line.split() for line in table.text().split("\n")]
    assert ["all", "together", f"{report.total:,}", "estimated"] in words
    assert "Use &lt;tabs&gt;." in table.html()
    assert "gone.md" in table.text().split("\n")[-1]


def test_status_names_model_session_and_usage(project, home) -> None:
    mew = Mew(project, home, model="offline")
    text = status_table(mew.status()).text()
    assert "Model       offline" in text
    assert "0 in this kernel" in text
    assert list(mew.ask("hello"))
    assert "1 in this kernel, no tokens" in status_table(mew.status()).text()
    mew.close()


def test_status_tells_the_tokens_of_the_session_in_earlier_kernels_too(project, home) -> None:
    settings = MewCode(extract="off", recall=False)
    usage = Usage(10, 5, 100, 1_000)
    replies = [ScriptedReply(["ok"], usage=usage)] * 2
    mew = Mew(project, home, model=Scripted(replies), settings=settings)
    list(mew.ask("hello"))
    session_id = mew.session.id
    mew.close()
    mew = Mew(project, home, model=Scripted(replies), settings=settings)
    mew.resume(session_id)
    list(mew.ask("again"))
    text = status_table(mew.status()).text(160)
    assert "Its tokens  2,220 tokens in (2,000 from cache, 200 written to it) · 10 out" in text
    assert "1 in this kernel, 1,110 tokens in (1,000 from cache, 100 written to it) · 5 out" in text
    mew.close()


def test_status_shows_long_paths_whole(project, home) -> None:
    deep = project / ("deep" * 30)
    deep.mkdir()
    mew = Mew(deep, home, model="offline")
    assert shown(deep) in status_table(mew.status()).text(80)
    mew.close()
