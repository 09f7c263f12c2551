from pathlib import Path
from typing import Any

import pytest

from mewcode_magic.errors import CommandError


def test_status_shows_how_things_stand(run: Any, project: Path, home: Path) -> None:
    text = run("%mewcode").text
    for name in ("Version", "Model", "Project", "Home", "Session", "Turns"):
        assert any(line.startswith(name) for line in text.splitlines())
    assert str(project) in text
    assert str(home) in text
    assert "offline" in text
    assert "To connect a model, set ANTHROPIC_API_KEY" in text
    run("%agent what is this?")
    assert "what is this?" in run("%mewcode").text
    assert isinstance(run("%mewcode x").error, CommandError)


def test_status_names_the_connection_but_never_the_key(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret-1234567890")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://user:password@127.0.0.1:9")
    text = run("%mewcode").text
    assert "key from ANTHROPIC_API_KEY, server http://127.0.0.1:9" in text
    assert "secret" not in text
    assert "password" not in text


def test_context_shows_parts_and_what_was_left_out(run: Any, project: Path) -> None:
    (project / "MEWCODE.md").write_text("Use polars.\n@include ../outside.md\n")
    text = run("%context").text
    assert "MEWCODE.md" in text
    assert "outside project" in text
    assert not (project / ".mewcode").exists()


def test_context_prints_the_text_of_a_part(run: Any, project: Path) -> None:
    (project / "MEWCODE.md").write_text("Use polars.\n")
    assert "Use polars." in run("%context instructions").text
    assert run("%context memory index").error is None
    ran = run("%context nothing")
    assert isinstance(ran.error, CommandError)
    assert "the parts are: system prompt, tools, instructions" in ran.text


def test_help_is_one_screen_with_a_line_for_each_magic(run: Any, shell: Any) -> None:
    lines = run("%mewcode help").text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines[:-2])) <= 80
    known = shell.magics_manager.magics
    own = {
        name
        for kind in known
        for name, function in known[kind].items()
        if type(getattr(function, "__self__", None)).__module__.startswith("mewcode_magic.")
    }
    told = {line.split()[0].strip(",").removeprefix("%") for line in lines[2:-2]}
    assert told == own
    assert "%agent, %%agent" in "\n".join(lines)


def test_doctor_tells_what_it_found_and_what_to_do(
    run: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret-1234567890")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://{'x' * 64}.invalid")
    ran = run("%mewcode doctor")
    assert ran.error is None
    assert any(line.split()[:2] == ["Server", "failed"] for line in ran.text.splitlines())
    assert "start the server, or correct ANTHROPIC_BASE_URL" in ran.text
    assert "1 of 10 checks failed." in ran.text
    assert "very-secret" not in ran.text
    assert not (project / ".mewcode").exists()


def test_doctor_without_a_key_fails_nothing_and_says_how_to_connect(run: Any) -> None:
    text = run("%mewcode doctor").text
    assert "Nothing failed." in text
    assert "set ANTHROPIC_API_KEY" in text
