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
