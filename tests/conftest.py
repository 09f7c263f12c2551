"""What every test stands on: folders of its own, no key, no network, and a real shell."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer
from hypothesis import settings
from isolation import isolate, isolate_run

settings.register_profile("mewcode", deadline=None)  # a slow machine proves nothing wrong
settings.load_profile("mewcode")


def pytest_configure(config: pytest.Config) -> None:
    """Leave the home of the person who runs the tests alone, and their key."""
    isolate_run(config)


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the real home, a real key, or settings of the person who runs it."""
    isolate(monkeypatch, tmp_path)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The MewCode folder, not made yet."""
    monkeypatch.setenv("MEWCODE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder, which is the working directory too."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """A local server that speaks the Messages API, which the environment names, with its key."""
    with ApiServer(key="sk-test") as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
        yield running
