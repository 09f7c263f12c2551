from pathlib import Path
from typing import Any

import nbformat
import orjson
import pytest
from api_server import ApiServer
from claude_transcripts import ClaudeTranscript, said, session_with_tools
from session_files import ID, boundary, call, role, write

from mewcode_magic.errors import CommandError, SessionError, SessionNotFound, StorageError
from mewcode_magic.sessions import SessionStore


@pytest.fixture(autouse=True)
def _keep_old_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEWCODE_SESSION_MAX_AGE_DAYS", "0")


@pytest.fixture
def session(project: Path) -> Path:
    """A session of the project, in its file."""
    return write(
        SessionStore(project),
        role("user", "load sales.csv"),
        role("assistant", call("t1", say="Look.")),
        role("tool_result", "month,revenue", tool_use_id="t1"),
        role("assistant", "Done."),
    )


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return session_with_tools().write(tmp_path / "claude" / "5a3c.jsonl")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("", f"{ID}.md"),
        ("--to markdown", f"{ID}.md"),
        ("--to notebook", f"{ID}.ipynb"),
        ("--to role", f"{ID}.jsonl"),
        ("--to=typed", "session_20260618_091500_ab12.jsonl"),
    ],
)
def test_export_writes_into_the_working_directory_and_says_where(
    run: Any, session: Path, project: Path, options: str, name: str
) -> None:
    ran = run(f"%sessions export {options} {ID[:10]}")
    assert ran.error is None
    assert ran.text.rstrip().endswith(f"to {name}")
    assert "load sales.csv" in (project / name).read_text("utf-8")


def test_export_takes_a_number_and_a_file_or_folder_with_blanks(
    run: Any, session: Path, project: Path
) -> None:
    run("%sessions")
    (project / "my notes").mkdir()
    assert run('%sessions export 1 "my notes"').error is None
    assert (project / "my notes" / f"{ID}.md").is_file()
    assert run("%sessions export --to notebook 1 my notes/a b.ipynb").error is None
    nbformat.validate(nbformat.read(project / "my notes" / "a b.ipynb", as_version=4))


def test_export_replaces_nothing_without_force(run: Any, session: Path, project: Path) -> None:
    mine = project / "a.md"
    mine.write_text("mine")
    ran = run(f"%sessions export {ID} a.md")
    assert isinstance(ran.error, StorageError)
    assert "a.md is there already" in ran.text
    assert mine.read_text() == "mine"
    assert run(f"%sessions export --force {ID} a.md").error is None
    assert "load sales.csv" in mine.read_text()


@pytest.mark.parametrize(
    ("command", "failure"),
    [
        ("export", (CommandError, "export ID [PATH]")),
        ("export nothing", (SessionNotFound, "nothing")),
        (f"export --to pdf {ID}", (CommandError, "markdown, notebook, role, typed")),
        (f"export {ID} nowhere/x.md", (StorageError, "nowhere")),
        (f"export --to role {ID} .mewcode/sessions", (CommandError, "--fork")),
        (f"show --to role {ID}", (CommandError, "--to goes with export")),
        ("import", (CommandError, "import PATH")),
        ("import nowhere.jsonl", (StorageError, "nowhere.jsonl")),
        ("import .git", (SessionError, "no .jsonl file")),
        ("--again", (CommandError, "--again goes with import")),
    ],
)
def test_wrong_lines_say_what_to_do_and_write_nothing(
    run: Any, session: Path, project: Path, command: str, failure: tuple[type[Exception], str]
) -> None:
    before = sorted(project.rglob("*"))
    ran = run(f"%sessions {command}")
    assert type(ran.error) is failure[0]
    assert failure[1] in ran.text
    assert sorted(project.rglob("*")) == before


def test_import_says_what_came_and_how_to_go_on(run: Any, transcript: Path, project: Path) -> None:
    ran = run(f"%sessions import {transcript}")
    (info,) = SessionStore(project).list()
    assert f"as {info.id}, 'why does the parser fail?': 4 messages." in ran.text
    assert f"%resume {info.id}" in ran.text
    assert "imported already" in run(f"%sessions import {transcript}").text
    assert len(SessionStore(project).list()) == 1
    assert run(f"%sessions import --again {transcript}").error is None
    assert len(SessionStore(project).list()) == 2
    assert "why does the parser fail?" in run("%sessions").text


def test_import_of_a_folder_counts(run: Any, transcript: Path) -> None:
    t = session_with_tools()
    t.beside(b'{"type":"user","mess')
    t.write(transcript.with_name("b.jsonl"))
    transcript.with_name("c.jsonl").write_text("[]\n")
    text = run(f"%sessions import {transcript.parent}").text
    assert "; 1 line could not be read." in text
    assert "c.jsonl: it holds no conversation" in text
    assert "2 sessions imported from 3 files." in text


def test_imported_session_is_gone_on_with(
    run: Any, server: ApiServer, transcript: Path, project: Path
) -> None:
    run("%config MewCode.recall = False")
    run(f"%sessions import {transcript}")
    (info,) = SessionStore(project).list()
    assert "4 messages" in run(f"%resume {info.id}").text
    server.reply("Give it one.")
    ran = run("%agent what now?")
    assert ran.error is None, ran.text
    sent = server.requests[-1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user", "assistant", "user"]
    assert sent[1]["content"][0] == {"type": "thinking", "thinking": "Look first.", "signature": "seal"}
    assert [b["tool_use_id"] for b in sent[2]["content"]] == ["t1", "t2"]
    last = orjson.loads(info.path.read_bytes().splitlines()[-1])
    assert last["content"] == [said("Give it one.")]


def test_request_after_any_import_obeys_the_api(
    run: Any, server: ApiServer, tmp_path: Path, project: Path
) -> None:
    """The server refuses what the API would refuse."""
    run("%config MewCode.recall = False")
    t = ClaudeTranscript()
    t.reply("a0", said("an answer whose prompt is gone"))
    t.user("u1", [said("<system-reminder>x</system-reminder>")])
    t.user("u2", "go")
    t.reply("a1", {"type": "thinking", "thinking": "x"}, message="m")
    t.reply("a2", {"type": "tool_use", "id": "t.1:x", "name": "mcp.odd tool!", "input": {}}, message="m")
    t.reply("a3", {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"a": "\ud800"}}, message="m")
    t.result("r2", "t2", "", is_error=True)
    t.result("r9", "of no call", "x")
    t.reply("a4", said("  "))
    t.reply("a5", {"type": "thinking", "thinking": "at the end", "signature": "s"})
    run(f"%sessions import {t.write(tmp_path / 'odd.jsonl')}")
    other = SessionStore(tmp_path / "other")
    path = write(
        other, boundary("s", []), role("tool_result", "x", tool_use_id="t9"), role("assistant", call("t8"))
    )
    run(f"%sessions import {path}")
    infos = SessionStore(project).list()
    assert len(infos) == 2
    for info in infos:
        run(f"%resume {info.id}")
        server.reply("fine")
        ran = run("%agent and now?")
        assert ran.error is None, ran.text


def test_what_was_exported_can_be_imported_elsewhere(run: Any, session: Path, tmp_path: Path) -> None:
    run(f"%sessions rename {ID} Sales & more")
    run(f"%sessions export --to typed {ID} {tmp_path}")
    (exported,) = tmp_path.glob("session_*.jsonl")
    text = run(f"%sessions import {exported}").text
    assert "'Sales & more': 4 messages." in text


def test_help_names_what_export_and_import_take(run: Any) -> None:
    text = run("%sessions --help").text
    assert "export ID [PATH] | import PATH" in " ".join(text.split())
    for flag in ("--to FORM", "--force", "--again"):
        assert flag in text
