import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from mewcode_magic.errors import (
    CommandError,
    MewCodeError,
    SessionAmbiguous,
    SessionInUse,
    SessionNotFound,
)
from mewcode_magic.sessions import SessionStore

DAY = 86_400


@pytest.fixture
def write(project: Path) -> Callable[..., str]:
    """Write a session file as another program would have: prompts and answers, the last of them at `when`."""

    def written(*prompts: str, when: float | None = None, session_id: str = "") -> str:
        folder = project / ".mewcode" / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        when = time.time() if when is None else when
        session_id = session_id or f"20250115-1430{len(list(folder.iterdir())):02}-abcd"
        records = [
            r
            for p in prompts
            for r in ({"role": "user", "content": p}, {"role": "assistant", "content": "ok"})
        ]
        lines = [
            orjson.dumps(record | {"ts": int(when) - len(records) + n}) for n, record in enumerate(records, 1)
        ]
        (folder / f"{session_id}.jsonl").write_bytes(b"\n".join([*lines, b""]))
        return session_id

    return written


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a thread has done its work."""
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within 5 s")


def test_list_has_numbers_titles_and_says_what_to_do(run: Any, write: Any) -> None:
    assert "No sessions yet" in run("%sessions").text
    older = write("load {sales}.csv", when=time.time() - 100)
    newer = write("why is it so?")
    lines = run("%sessions").text.splitlines()
    assert lines[2].startswith("1")
    assert lines[2].endswith(newer)
    assert "why is it so?" in lines[2]
    assert lines[3].endswith(older)
    assert "%resume NUMBER" in lines[4]


def test_list_is_limited_unless_all_are_asked_for(run: Any, write: Any) -> None:
    for number in range(52):
        write("hello", session_id=f"20250115-143000-{number:04x}")
    assert "2 more with %sessions --all" in run("%sessions").text
    assert run("%resume 51").error is not None
    assert "more with" not in run("%sessions --all").text
    assert run("%resume 51").error is None


def test_counts_are_filled_in_behind(run: Any, write: Any, project: Path) -> None:
    write("hello")
    store = SessionStore(project)
    run("%sessions")
    wait_for(lambda: store.list()[0].messages == 2)
    other = write("hello again")
    run("%agent hi")
    wait_for(lambda: {info.id: info.messages for info in store.list()}[other] == 2)


def test_resume_goes_on_and_says_with_what(run: Any, project: Path) -> None:
    run("%agent my name is Bo")
    session_id = SessionStore(project).list()[0].id
    assert f"%resume {session_id} goes back" in run("%sessions new").text
    run("%agent something else")
    ids = [info.id for info in SessionStore(project).list()]
    lengths = range(1, len(session_id))
    unique = next(n for n in lengths if sum(i.startswith(session_id[:n]) for i in ids) == 1)
    ran = run(f"%resume {session_id[:unique]}")
    assert ran.text.startswith(f"Resumed {session_id}, 'my name is Bo': 2 messages, last active 20")
    assert "Your last prompt was: my name is Bo" in ran.text
    run("%agent and now?")
    asked = [m.text() for m in SessionStore(project).transcript(session_id) if m.is_prompt]
    assert asked == ["my name is Bo", "and now?"]


def test_resume_by_number_takes_the_list_last_shown(run: Any, write: Any) -> None:
    first = write("first", when=time.time() - 100)
    second = write("second", when=time.time() - 50)
    run("%sessions")
    write("newest")
    assert run("%resume 2").text.startswith(f"Resumed {first}")
    assert run("%resume 1").text.startswith(f"Resumed {second}")


def test_resume_without_id_takes_the_latest(run: Any, write: Any) -> None:
    write("older", when=time.time() - 100)
    latest = write("latest")
    assert run("%resume").text.startswith(f"Resumed {latest}")


def test_resume_tells_what_is_not_as_it_was(run: Any, write: Any, project: Path) -> None:
    session_id = write("hello", when=time.time() - 3 * DAY)
    path = project / ".mewcode" / "sessions" / f"{session_id}.jsonl"
    damaged = b'{"role": "user", "content": "broken\n' + path.read_bytes()
    path.write_bytes(damaged.replace(b'"ok"', b'"not \xff utf8"'))
    text = run(f"%resume {session_id}").text
    assert "The agent is told how long ago that was" in text
    assert "1 line of its file could not be read." in text
    assert "In 1 line of its file, bytes that are no text were replaced." in text


def test_calls_without_a_result_are_told_of_on_resume(run: Any, write: Any, project: Path) -> None:
    session_id = write("hello")
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    with (project / ".mewcode" / "sessions" / f"{session_id}.jsonl").open("ab") as file:
        file.write(orjson.dumps({"role": "assistant", "content": [call], "ts": 1}) + b"\n")
    assert "Left out, for calls without a result: 1 message." in run(f"%resume {session_id}").text


def test_resume_bears_a_time_beyond_the_calendar(
    run: Any, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        write("hello", when=253_402_300_799)
        assert run("%resume").error is None
        assert run("%sessions").error is None
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ("%resume", SessionNotFound, "no session to resume"),
        ("%resume 1", SessionNotFound, "none was shown yet; %sessions shows it"),
        ("%resume 20990101-000000-abcd", SessionNotFound, "there is no session '20990101-000000-abcd'"),
        ("%resume 12345", SessionNotFound, "there is no session '12345'"),
        ("%resume ../../etc/passwd", SessionNotFound, "there is no session"),
        (f"%resume {'9' * 300}", SessionNotFound, "there is no session"),
        ("%resume a\0b", SessionNotFound, "there is no session"),
        ("%resume one two", CommandError, "takes one id or number"),
        ("%resume --frok x", CommandError, "no option --frok; it has --fork, --here, --help"),
        ("%sessions shwo 1", CommandError, "does not know 'shwo'; it knows search TEXT, new, show ID"),
        ("%sessions search", CommandError, "needs more: %sessions search TEXT"),
        ("%sessions search ''", CommandError, "needs more: %sessions search TEXT"),
        ("%sessions search 😀 ?!", CommandError, "needs a word of letters or digits, not '😀 ?!'"),
        ("%sessions search --all x", CommandError, "--all goes with the list"),
        ("%sessions show", CommandError, "needs more: %sessions show ID"),
        ("%sessions rename x", CommandError, "needs a title"),
        ("%sessions new x", CommandError, "takes nothing more"),
        ("%sessions --days 3", CommandError, "--days goes with clean"),
        ("%sessions clean --days 0", CommandError, "--days is '0', which does not fit"),
        ("%sessions clean --days many", CommandError, "--days is 'many'"),
        ("%sessions new --all", CommandError, "--all goes with the list"),
    ],
)
def test_bad_line_is_one_clear_error(
    run: Any, project: Path, line: str, error: type[MewCodeError], message: str
) -> None:
    ran = run(line)
    assert isinstance(ran.error, error)
    assert message in ran.text
    assert ran.text.count("\n") == 1
    assert not (project / ".mewcode").exists()


def test_number_beyond_the_list_is_an_error(run: Any, write: Any) -> None:
    write("hello")
    run("%sessions")
    assert "has the numbers 1 to 1, not 2" in run("%resume 2").text
    assert "not 0" in run("%resume 0").text


def test_prefix_of_several_is_an_error_that_names_them(run: Any, write: Any) -> None:
    first, second = write("a"), write("b")
    ran = run("%resume 20250115")
    assert isinstance(ran.error, SessionAmbiguous)
    assert first in ran.text
    assert second in ran.text


def test_session_open_elsewhere_is_forked_when_asked(run: Any, write: Any, project: Path) -> None:
    session_id = write("hello")
    elsewhere = SessionStore(project).resume(session_id)
    ran = run(f"%resume {session_id}")
    assert isinstance(ran.error, SessionInUse)
    assert f"process {os.getpid()}" in ran.text
    forked = run(f"%resume {session_id} --fork")
    assert forked.error is None
    assert forked.text.startswith("Resumed a copy, 20")
    assert len(SessionStore(project).list()) == 2
    elsewhere.session.close()


def test_show_prints_the_conversation(run: Any, write: Any) -> None:
    session_id = write("what is <b>this</b>\x1b[31m?", "and that?")
    ran = run(f"%sessions show {session_id}")
    assert ran.error is None
    assert ran.text.index("what is <b>this</b>") < ran.text.index("and that?")
    assert "\x1b" not in ran.text


def test_search_shows_passages_with_numbers_to_go_on_with(run: Any, write: Any) -> None:
    best = write("why did the <b>churn</b>\x1b[31m model change?", when=time.time() - 100)
    write("something else")
    ran = run("%sessions search churn models")
    assert ran.error is None
    lines = ran.text.splitlines()
    assert lines[2].startswith("1")
    assert "the <b>»churn«</b>" in lines[2]
    assert "you" in lines[2]
    assert "\x1b" not in ran.text
    assert "%resume NUMBER" in lines[3]
    assert run("%resume 1").text.startswith(f"Resumed {best}")


def test_search_without_a_hit_says_so_and_keeps_the_list_last_shown(run: Any, write: Any) -> None:
    session_id = write("hello")
    run("%sessions")
    ran = run("%sessions search 'churn model'")
    assert ran.error is None
    assert ran.text == "No session holds 'churn model', nor any of its words; %sessions lists all\n"
    assert run("%resume 1").text.startswith(f"Resumed {session_id}")


def test_search_says_which_words_the_best_is_without(run: Any, write: Any) -> None:
    write("the churn model")
    assert (
        "No session holds all of it; the first is without: polars."
        in run("%sessions search churn model polars").text
    )


def test_search_says_that_its_index_could_not_be_used(run: Any, write: Any, project: Path) -> None:
    write("the churn model")
    (project / ".mewcode" / "sessions" / ".search.sqlite").mkdir()
    ran = run("%sessions search churn")
    assert ran.error is None
    assert "the »churn« model" in ran.text
    assert "could not be used" in ran.text


def test_search_marks_the_session_that_is_open(run: Any) -> None:
    run("%agent what is churn?")
    assert "(open here) what is churn?" in run("%sessions search churn").text


def test_rename_keeps_the_words_of_the_title(run: Any, write: Any, project: Path) -> None:
    session_id = write("hello")
    run("%sessions")
    assert run("%sessions rename 1 Don't panic: {a} 100%").error is None
    assert SessionStore(project).list()[0].title == "Don't panic: {a} 100%"
    assert run(f"%sessions rename {session_id} -- --new-title").error is None
    assert SessionStore(project).list()[0].title == "--new-title"


def test_removal_says_how_to_undo_it(run: Any, write: Any, project: Path) -> None:
    session_id = write("hello")
    ran = run(f"%sessions rm {session_id}")
    assert ran.text == (
        f"Moved session {session_id} to .mewcode/sessions/.trash. "
        "For 30 days, moving its .jsonl back restores it.\n"
    )
    folder = project / ".mewcode" / "sessions"
    assert SessionStore(project).list() == []
    (folder / ".trash" / f"{session_id}.jsonl").rename(folder / f"{session_id}.jsonl")
    assert run(f"%resume {session_id}").error is None


def test_open_session_is_not_removed(run: Any, project: Path) -> None:
    run("%agent hello")
    session_id = SessionStore(project).list()[0].id
    ran = run(f"%sessions rm {session_id}")
    assert isinstance(ran.error, SessionInUse)
    assert "%sessions new leaves it" in ran.text


def test_clean_moves_what_is_older_than_asked(run: Any, write: Any, project: Path) -> None:
    write("old", when=time.time() - 10 * DAY)
    kept = write("new", when=time.time() - 2 * DAY)
    assert (
        run("%sessions clean").text == "No session to move: none was inactive for 30 days, or it is kept.\n"
    )
    ran = run("%sessions clean --days 5")
    assert ran.text.startswith("Moved 1 session without activity for 5 days to .mewcode/sessions/.trash.")
    assert [info.id for info in SessionStore(project).list()] == [kept]


def test_old_sessions_are_cleaned_up_after_the_first_cell(run_bare: Any, write: Any, project: Path) -> None:
    write("old", when=time.time() - 40 * DAY)
    assert run_bare("%load_ext mewcode_magic").text == ""
    assert len(SessionStore(project).list()) == 1
    ran = run_bare("1 + 1")
    assert "Moved 1 session without activity for 30 days" in ran.text
    assert SessionStore(project).list() == []
    write("another", when=time.time() - 40 * DAY)
    assert "Moved" not in run_bare("1 + 1").text


def test_cleanup_that_fails_is_one_line_and_the_cell_succeeds(run_bare: Any, project: Path) -> None:
    (project / ".mewcode").mkdir()
    (project / ".mewcode" / "sessions").write_text("a file where a folder should be")
    run_bare("%load_ext mewcode_magic")
    ran = run_bare("x = 1")
    assert ran.error is None
    assert ran.text.count("\n") == 1
    assert ran.text.startswith(
        "Old sessions could not be cleaned up: cannot read the folder .mewcode/sessions: "
    )
