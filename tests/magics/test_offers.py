"""What completion offers, in a shell; `test_kernel` asks a kernel for the same."""

import sys
from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from session_files import ID, TYPED_ID, role, write

from mewcode_magic.magics.exchange import FORMS
from mewcode_magic.magics.offers import PARTS
from mewcode_magic.model import DEFAULT_MODEL, OFFLINE
from mewcode_magic.sessions import SessionStore


@pytest.fixture
def offered(run: Any, shell: Any) -> Any:
    """Return what the line, or the cell, would become with each completion at its end."""

    def texts(code: str) -> list[str]:
        with provisionalcompleter():
            return [code[: one.start] + one.text for one in shell.Completer.completions(code, len(code))]

    return texts


@pytest.fixture
def sessions(project: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two sessions, the one that was written last first."""
    monkeypatch.setenv("MEWCODE_SESSION_MAX_AGE_DAYS", "0")
    store = SessionStore(project)
    write(store, role("user", "a"))
    write(store, role("user", "b"), name=TYPED_ID)
    return [TYPED_ID, ID]


def test_names_of_magics_are_offered(offered: Any) -> None:
    assert "%sessions" in offered("%sess")
    assert "%mewcode" in offered("%mew")
    assert "%%remember" in offered("%%reme")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%sessions ex", ["%sessions export"]),
        ("%sessions re", ["%sessions rename"]),
        ("%memory con", ["%memory condense"]),
        ("%memory show --ty", ["%memory show --type"]),
        ("%sessions --a", ["%sessions --all", "%sessions --again"]),
        ("%%agent --mo", ["%%agent --model"]),
        ("%agent --new --fi", ["%agent --new --fix"]),
        ("%remember --type fe", ["%remember --type feedback"]),
        ("%remember --type=us", ["%remember --type=user"]),
        ("%agent --model off", [f"%agent --model {OFFLINE}"]),
        ("%sessions export --to ty", ["%sessions export --to typed"]),
        ("%context inst", ["%context instructions"]),
        ("    %mewcode --he", ["    %mewcode --help"]),
    ],
)
def test_options_values_and_sub_words_are_offered(offered: Any, line: str, expected: list[str]) -> None:
    assert offered(line) == expected


def test_all_that_a_place_can_hold_is_offered_before_anything_is_typed(offered: Any) -> None:
    assert offered("%sessions export --to ") == [f"%sessions export --to {form}" for form in FORMS]
    assert f"%agent --model {DEFAULT_MODEL}" in offered("%agent --model ")
    words = [line.split()[-1] for line in offered("%sessions ")]
    assert words == ["search", "new", "show", "rename", "rm", "clean", "export", "import"]


@pytest.mark.parametrize(
    "line", ["%resume ", "%resume --fork ", "%sessions show ", "%sessions export --to role "]
)
def test_sessions_are_offered_where_one_is_meant(offered: Any, sessions: list[str], line: str) -> None:
    assert offered(line) == [f"{line}{name}" for name in sessions]
    assert offered(f"{line}2026") == [f"{line}{ID}"]
    assert offered(f"{line}{ID[:14]}") == [f"{line}{ID}"]


@pytest.mark.parametrize("line", ["%resume 1 ", "%sessions rename 1 ", "%sessions search ", "%sessions new "])
def test_sessions_are_not_offered_elsewhere(offered: Any, sessions: list[str], line: str) -> None:
    assert not any(ID in text for text in offered(line))


def test_no_session_is_read_for_its_id(offered: Any, sessions: list[str]) -> None:
    opened: list[str] = []
    watching = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open":
            opened.append(str(arguments[0]))

    sys.addaudithook(hook)  # there is no way to take one away again
    assert len(offered("%resume ")) == 2
    watching = False
    assert [name for name in opened if name.endswith((".jsonl", ".meta"))] == []


def test_memories_are_offered_by_a_name_of_one_word(run: Any, offered: Any) -> None:
    run("%remember --name prefers-polars I prefer polars over pandas")
    run("%remember --name 'commit message 前缀' --type project commits begin with a verb")
    for line in ("%memory show ", "%forget ", "%forget --purge ", "%remember --name "):
        assert set(offered(line)) == {f"{line}prefers-polars", f"{line}commit-message-071596ac"}
    assert offered("%forget pre") == ["%forget prefers-polars"]
    assert offered("%forget commit-me") == ["%forget commit-message-071596ac"]
    run("%forget prefers-polars")
    assert offered("%memory restore p") == ["%memory restore prefers-polars"]
    assert offered("%forget pre") != ["%forget prefers-polars"]
    assert offered("%remember restore p") != ["%remember restore prefers-polars"]


def test_name_that_the_shell_takes_for_several_words_is_completed_once(run: Any, offered: Any) -> None:
    run("%remember --name deploy:prod,eu --type project we deploy on Tuesdays")
    assert offered("%forget deploy:pr") == ["%forget deploy:prod,eu"]
    assert offered("%forget deploy:prod,") == ["%forget deploy:prod,eu"]


def test_files_are_offered_to_import(offered: Any, project: Path) -> None:
    (project / "old").mkdir()
    (project / "old" / "talk.jsonl").touch()
    assert "%sessions import old/" in offered("%sessions import ol")
    assert offered("%sessions import old/ta") == ["%sessions import old/talk.jsonl"]
    assert offered("%memory import old/ta") == ["%memory import old/talk.jsonl"]


@pytest.mark.parametrize(
    "code",
    [
        "%agent why --mo",
        "%%agent\n--mo",
        "%%agent --fix\n%resume 2026",
        "x = 1 # %resume 2026",
        "%timeit --mo",
    ],
)
def test_nothing_is_offered_inside_a_text(offered: Any, sessions: list[str], code: str) -> None:
    assert not any("--model" in text or ID in text for text in offered(code))


def test_prompt_keeps_the_shells_own_completions(run: Any, offered: Any) -> None:
    run("revenue_by_month = 1")
    assert "%agent plot @revenue_by_month" in offered("%agent plot @revenue_by")


def test_what_cannot_be_completed_raises_nothing(
    run: Any, offered: Any, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".mewcode").write_text("a file where a folder should be")
    for line in (
        "%resume ",
        "%forget ",
        "%memory restore ",
        "%sessions import \0",
        "%agent --model= ",
        "%sessions rm '",
    ):
        offered(line)
    assert capsys.readouterr().err == ""


def test_completing_changes_no_file(offered: Any, project: Path, home: Path) -> None:
    for line in ("%resume ", "%forget ", "%memory restore ", "%agent --model "):
        offered(line)
    assert not (project / ".mewcode").exists()
    assert not home.exists()


def test_unloading_takes_completion_away(run: Any, offered: Any, shell: Any, sessions: list[str]) -> None:
    before = len(shell.Completer.custom_matchers)
    run("%unload_ext mewcode_magic")
    assert len(shell.Completer.custom_matchers) == before - 2
    assert not any(ID in text for text in offered("%resume "))


def test_parts_are_those_that_context_knows(run: Any, shell: Any, project: Path) -> None:
    (project / "MEWCODE.md").write_text("Use polars.\n")
    run("%remember I prefer polars")
    run("%agent hello")
    run("%remember I prefer tea")
    names = [part.name for part in shell.meta["mewcode_magic"].mew.context().parts]
    assert tuple(names) == PARTS
