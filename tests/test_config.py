"""The settings: what they take, and what is said of the rest."""

from pathlib import Path

import pytest
from traitlets import Float, TraitError

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SettingError
from mewcode_magic.memory import Memory, MemoryStore
from mewcode_magic.sessions import SessionStore

DAYS = ("session_max_age_days", "trash_days", "stale_after_days", "time_gap_hours")


@pytest.mark.parametrize("name", DAYS)
@pytest.mark.parametrize("value", [1e7, float("inf"), float("nan"), -1])
def test_span_beyond_the_calendar_is_refused(name: str, value: float) -> None:
    settings = MewCode()
    with pytest.raises(TraitError, match=name):
        setattr(settings, name, value)
    assert getattr(settings, name) == getattr(MewCode(), name)


def test_longest_spans_work_everywhere(project: Path, home: Path) -> None:
    settings = MewCode()
    for name in DAYS:
        setattr(settings, name, MewCode.class_traits()[name].max)
    memories = MemoryStore(project, home, settings=settings)
    memories.save(Memory("tea", "when drinks are offered", "user", "Tea."))
    memories.delete("tea")
    memories.restore("tea")
    sessions = SessionStore(project, settings=settings)
    session = sessions.create()
    session.rename("a title")
    session.close()
    assert sessions.cleanup() == []
    assert sessions.read(session.id).report.gap is None


def test_every_setting_says_what_it_is() -> None:
    assert all(trait.help.endswith(".") for trait in MewCode.class_traits(config=True).values())


def test_every_setting_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "permission_mode": "auto",
        "allow": "bash(git diff *); grep",
        "deny": "bash",
        "instruction_fallbacks": "AGENTS.md;notes.md",
        "session_dialect": "typed",
        "extract": "wait",
        "memory_tool": "anthropic",
        "rerun": "ask",
        "recall": "false",
        "auto_compact": "false",
        "bash_output_chars": "2000",
        "result_max_chars": "2000",
        "all_results_max_chars": "2000",
        "share_values": "false",
        "share_activity": "false",
        "recall_seconds": "8.5",
        "index_warn_ratio": "0.5",
    }
    traits = MewCode.class_traits(config=True)
    for name in traits:
        monkeypatch.setenv(f"MEWCODE_{name.upper()}", given.get(name, "101"))
    settings = MewCode()
    assert (settings.allow, settings.deny) == (["bash(git diff *)", "grep"], ["bash"])
    assert settings.instruction_fallbacks == ["AGENTS.md", "notes.md"]
    settings.allow, settings.deny, settings.instruction_fallbacks = [], [], []
    given |= {"allow": "[]", "deny": "[]", "instruction_fallbacks": "[]"}
    assert {name: str(getattr(settings, name)).lower() for name in traits} == {
        name: given.get(name, "101.0" if isinstance(traits[name], Float) else "101") for name in traits
    }


@pytest.mark.parametrize(
    ("variable", "value"),
    [("MEWCODE_TRASH_DAYS", "1000000"), ("MEWCODE_RECALL", "perhaps"), ("MEWCODE_SESSION_DIALECT", "xml")],
)
def test_variable_that_does_not_fit_is_named(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingError, match=f"{variable} is '{value}', which does not fit"):
        MewCode()


def test_home_of_an_unknown_user_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEWCODE_HOME", "~no-such-user/mewcode")
    with pytest.raises(SettingError, match="~no-such-user/mewcode"):
        _ = MewCode().home_path


def test_empty_home_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEWCODE_HOME", "")
    assert MewCode().home_path == Path.home() / ".mewcode"
