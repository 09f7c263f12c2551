"""Loading and unloading under both names, and the settings."""

import logging
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from mewcode_magic.errors import SettingError
from mewcode_magic.sessions import SessionStore

OURS = {"agent", "compact", "context", "forget", "memory", "mewcode", "remember", "resume", "sessions"}
LONG, SHORT = "mewcode_magic", "mewcode"


def traces(shell: InteractiveShell) -> dict[str, Any]:
    """Return all that an extension could have left in a shell."""
    manager: Any = shell.magics_manager
    manager.load_all_lazy_magics()  # IPython's own, which register themselves when they are first used
    transformers = shell.input_transformer_manager
    return {
        "magics": {kind: dict(functions) for kind, functions in manager.magics.items()},
        "registry": dict(manager.registry),
        "configurables": list(shell.configurables),
        "events": {event: list(functions) for event, functions in shell.events.callbacks.items()},
        "transforms": [*transformers.cleanup_transforms, *transformers.line_transforms],
        "token transforms": list(transformers.token_transformers),
        "meta": dict(shell.meta),
        "loaded": set(shell.extension_manager.loaded),
        "names": {name for name in shell.user_ns if not name.startswith("_")},
    }


def registrations(shell: InteractiveShell) -> dict[str, int]:
    """Return how often each kind of thing of ours is there."""

    def ours(things: Any) -> int:
        return sum("mewcode_magic" in repr(thing) for thing in things)

    transformers = shell.input_transformer_manager
    return {
        "magics": len(OURS & shell.magics_manager.magics["line"].keys()),
        "configurables": ours(shell.configurables),
        "events": ours(f for functions in shell.events.callbacks.values() for f in functions),
        "transforms": ours(transformers.cleanup_transforms),
        "token transforms": ours(transformers.token_transformers),
    }


ONCE = {"magics": 9, "configurables": 6, "events": 4, "transforms": 1, "token transforms": 1}


@pytest.mark.parametrize(
    "commands",
    [
        ["load_ext mewcode"],
        ["load_ext mewcode_magic"],
        ["load_ext mewcode", "load_ext mewcode"],
        ["load_ext mewcode", "load_ext mewcode_magic"],
        ["load_ext mewcode_magic", "load_ext mewcode"],
        ["load_ext mewcode", "reload_ext mewcode"],
        ["load_ext mewcode", "reload_ext mewcode_magic"],
        ["load_ext mewcode_magic", "reload_ext mewcode"],
        ["load_ext mewcode_magic", "load_ext mewcode", "reload_ext mewcode"],
        ["load_ext mewcode_magic", "load_ext mewcode", "reload_ext mewcode_magic"],
        ["reload_ext mewcode"],
        ["load_ext mewcode", "load_ext mewcode_magic", "unload_ext mewcode", "load_ext mewcode_magic"],
        ["load_ext mewcode", "load_ext mewcode_magic", "unload_ext mewcode_magic", "load_ext mewcode"],
        ["load_ext mewcode", "unload_ext mewcode_magic", "load_ext mewcode"],
    ],
)
def test_any_way_of_loading_registers_once(
    shell: InteractiveShell, run_bare: Any, commands: list[str]
) -> None:
    for command in commands:
        assert run_bare(f"%{command}").error is None
    assert registrations(shell) == ONCE
    assert run_bare("%agent what is this?").error is None


@pytest.mark.parametrize("names", [[SHORT], [LONG], [SHORT, LONG], [LONG, SHORT]])
@pytest.mark.parametrize("unloaded", [SHORT, LONG])
def test_unloading_leaves_no_trace(
    shell: InteractiveShell, run_bare: Any, names: list[str], unloaded: str
) -> None:
    before = traces(shell)
    for name in names:
        run_bare(f"%load_ext {name}")
    run_bare("%agent what is this?")
    if unloaded == SHORT and SHORT not in names:
        unloaded = LONG  # IPython unloads only what was loaded under that name
    ran = run_bare(f"%unload_ext {unloaded}")
    assert (ran.text, ran.error) == ("", None)
    assert traces(shell) == before


def test_unloading_closes_the_session(run: Any, project: Path) -> None:
    run("%agent hello")
    store = SessionStore(project)
    session_id = store.list()[0].id
    assert store.is_open_elsewhere(session_id)
    run("%unload_ext mewcode_magic")
    assert not store.is_open_elsewhere(session_id)
    assert store.list()[0].messages == 2


def test_functions_of_others_are_left_alone(shell: InteractiveShell, run: Any) -> None:
    def agent(line: str) -> None:
        """Belong to the user."""

    shell.register_magic_function(agent, "line", "agent")
    run("%unload_ext mewcode_magic")
    assert shell.find_line_magic("agent") is agent


def test_bad_variable_is_one_line_and_nothing_is_loaded(
    shell: InteractiveShell, run_bare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = traces(shell)
    monkeypatch.setenv("MEWCODE_MAX_TOKENS", "many")
    ran = run_bare("%load_ext mewcode_magic")
    assert isinstance(ran.error, SettingError)
    assert ran.text == (
        "SettingError: MEWCODE_MAX_TOKENS is 'many', which does not fit: Most tokens of one reply.\n"
    )
    assert traces(shell) == before
    monkeypatch.setenv("MEWCODE_MAX_TOKENS", "100")
    assert run_bare("%load_ext mewcode_magic").error is None
    assert "100" in run_bare("%config MewCode.max_tokens").text


def test_bad_configuration_is_one_line(configuration: Config, request: pytest.FixtureRequest) -> None:
    configuration.MewCode.max_tokens = "many"
    ran = request.getfixturevalue("run_bare")("%load_ext mewcode_magic")
    assert isinstance(ran.error, SettingError)
    assert ran.text.count("\n") == 1
    assert "max_tokens" in ran.text


def test_project_that_is_no_folder_is_one_line(
    run_bare: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "file").touch()
    monkeypatch.setenv("MEWCODE_PROJECT_DIR", str(project / "file"))
    ran = run_bare("%load_ext mewcode_magic")
    assert isinstance(ran.error, SettingError)
    assert ran.text.count("\n") == 1


def test_settings_are_listed_and_changed(run: Any, project: Path) -> None:
    listed = run("%config MewCode").text
    assert "MewCode.max_tokens=<CInt>" in listed
    assert "Most tokens of one reply." in listed
    assert "MewCode" in run("%config").text
    assert run("%config MewCode.session_dialect = 'typed'").error is None
    run("%agent hello")
    assert SessionStore(project).list()[0].dialect == "typed"


def test_environment_wins_over_the_configuration_file(
    configuration: Config, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    configuration.MewCode.max_tokens = 11
    configuration.MewCode.max_rounds = 12
    monkeypatch.setenv("MEWCODE_MAX_ROUNDS", "13")
    run = request.getfixturevalue("run")
    run("%config MewCode.recall = False")
    assert "11" in run("%config MewCode.max_tokens").text
    assert "13" in run("%config MewCode.max_rounds").text
    run("%config MewCode.max_rounds = 14")
    assert "14" in run("%config MewCode.max_rounds").text


@pytest.mark.parametrize("name", ["home", "project_dir"])
def test_places_are_fixed_once_loaded(
    run: Any, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    run(f"before = %config MewCode.{name}")
    with caplog.at_level(logging.ERROR):
        run(f"%config MewCode.{name} = {str(tmp_path)!r}")
    assert f"MewCode.{name} is fixed when the extension loads; set MEWCODE_{name.upper()}" in caplog.text
    assert run(f"after = %config MewCode.{name}\nassert after == before").error is None


@pytest.mark.parametrize("setting", ["max_tokens = 0", "session_dialect = 'x'", "home = '/elsewhere'"])
def test_setting_that_was_refused_is_not_there_again_after_reloading(run: Any, setting: str) -> None:
    run(f"%config MewCode.{setting}")
    run("%config MewCode.max_rounds = 7")
    name = setting.split(maxsplit=1)[0]
    run(f"before = %config MewCode.{name}")
    assert run("%reload_ext mewcode_magic").error is None
    assert run(f"after = %config MewCode.{name}\nassert after == before").error is None
    assert "7" in run("%config MewCode.max_rounds").text


def test_project_stays_when_the_working_directory_changes(
    run: Any, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("%agent hello").error is None
    assert len(SessionStore(project).list()) == 1
    assert not (tmp_path / ".mewcode").exists()


def test_reloading_reads_the_places_anew(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEWCODE_PROJECT_DIR", str(tmp_path / "other"))
    (tmp_path / "other").mkdir()
    assert run("%reload_ext mewcode_magic").error is None
    run("%agent hello")
    assert len(SessionStore(tmp_path / "other").list()) == 1


def test_each_shell_has_an_agent_of_its_own(run: Any, configuration: Config, project: Path) -> None:
    other = InteractiveShell(config=configuration)
    other.run_line_magic("load_ext", "mewcode_magic")
    run("%agent one")
    other.run_line_magic("agent", "two")
    assert len(SessionStore(project).list()) == 2
    other.run_line_magic("unload_ext", "mewcode_magic")
    assert run("%agent three").error is None
    assert len(SessionStore(project).list()) == 2
