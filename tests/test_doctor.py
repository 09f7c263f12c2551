"""The checks, on what can really be wrong: servers, folders, packages and locks."""

import socket
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from api_server import ApiServer

from mewcode_magic.config import MewCode
from mewcode_magic.doctor import Check, _folder, _locks, _made, _packages, _search_in, examine
from mewcode_magic.errors import StorageError
from mewcode_magic.files import Lock


def checks(project: Path, *, seconds: float = 2.0) -> dict[str, Check]:
    settings = MewCode(project_dir=str(project))
    return {check.name: check for check in examine(settings, seconds=seconds)}


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def test_sound_place_passes_offline_and_nothing_is_left_behind(
    project: Path, home: Path, tmp_path: Path
) -> None:
    before = files_in(tmp_path)
    made = checks(project)
    assert {name for name, check in made.items() if check.state == "failed"} == set()
    assert list(made) == [
        "Version",
        "Front end",
        "Packages",
        "Key",
        "Server",
        "Home",
        "Sessions",
        "Memory",
        "Locks",
        "Search",
    ]
    assert (made["Key"].state, "ANTHROPIC_API_KEY" in made["Key"].advice) == ("note", True)
    assert "anthropic" in made["Packages"].found
    assert files_in(tmp_path) == before


class Page(BaseHTTPRequestHandler):
    """Answers whatever it is asked with the same page, as the login of a network does."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>hello</html>")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


# -- the server ----------------------------------------------------------------------------------------


def server_check(project: Path) -> Check:
    return checks(project)["Server"]


def test_server_that_takes_the_key_passes_at_no_cost(server: ApiServer, project: Path, home: Path) -> None:
    made = checks(project)
    assert (made["Server"].state, made["Key"].state) == ("ok", "ok")
    assert "key from ANTHROPIC_API_KEY" in made["Key"].found
    (seen,) = server.requests
    assert seen.body == {}


def test_server_without_a_key_is_not_said_to_take_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ApiServer() as open_server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", open_server.url)
        assert checks(project)["Server"].found == "it answers"


def test_key_stands_in_no_check(server: ApiServer, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("sk-test", "sk-ant-very-secret-1234567890"):
        monkeypatch.setenv("ANTHROPIC_API_KEY", key)
        assert key not in repr(checks(project))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("{url}/v1", ("no Messages API", "without /v1")),
        ("http://127.0.0.1:{unused}", ("nothing listens", "start the server")),
        (f"http://{'x' * 64}.invalid", ("no connection to", "start the server")),
        ("{tls}", ("no secure connection", "SSL_CERT_FILE")),
        ("no address", ("not the address of a server", "http://localhost")),
    ],
)
def test_server_that_cannot_be_asked_says_why_and_what_to_do(
    server: ApiServer, project: Path, monkeypatch: pytest.MonkeyPatch, address: str, told: tuple[str, str]
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    tls = server.url.replace("http:", "https:")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address.format(url=server.url, unused=port, tls=tls))
    check = server_check(project)
    assert check.state == "failed"
    assert told[0] in check.found
    assert told[1] in check.advice


def test_wrong_key_says_where_it_comes_from(
    server: ApiServer, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong")
    check = server_check(project)
    assert (check.state, "the key in ANTHROPIC_API_KEY" in check.found) == ("failed", True)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk wrong")
    assert server_check(project).state == "failed"


def test_silent_server_is_waited_for_no_longer_than_allowed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{mute.getsockname()[1]}")
        check = checks(project, seconds=0.05)["Server"]
    assert (check.state, "did not answer in time" in check.found) == ("failed", True)


def test_server_that_takes_anything_is_no_messages_api(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HTTPServer(("127.0.0.1", 0), Page) as pages:
        threading.Thread(target=pages.handle_request, daemon=True).start()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{pages.server_port}")
        check = server_check(project)
    assert (check.state, "not as the Messages API does" in check.found) == ("failed", True)


# -- the machine ---------------------------------------------------------------------------------------


def test_folder_that_cannot_be_written_is_named(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".mewcode").write_text("a file")
    monkeypatch.setenv("MEWCODE_HOME", "/proc/mewcode")
    made = checks(project)
    failed = {name: check for name, check in made.items() if check.state == "failed"}
    assert set(failed) == {"Home", "Sessions", "Memory", "Locks"}
    assert "/proc" in failed["Home"].found
    assert ".mewcode is no folder" in failed["Sessions"].found
    assert "move that file away" in failed["Sessions"].advice


def test_folder_that_is_there_is_written_itself(project: Path) -> None:
    (project / "memory").mkdir()
    assert _folder(project / "memory").found == "memory can be written"
    assert "is made with the first file" in _folder(project / "sessions").found
    (project / "link").symlink_to("nowhere")
    with pytest.raises(StorageError):
        _folder(project / "link" / "sessions")


def test_file_system_that_lets_everybody_in_fails(project: Path) -> None:
    class Open(Lock):
        def acquire(self, timeout: float = 0) -> bool:
            return True

    check = _locks(project / ".mewcode", Open)
    assert (check.state, "does not keep them" in check.found) == ("failed", True)
    assert _locks(project / ".mewcode").state == "ok"
    assert files_in(project) == [project / ".git"]


def test_sqlite_without_full_text_search_fails() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.set_authorizer(
            lambda action, *_: (
                sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_CREATE_VTABLE else sqlite3.SQLITE_OK
            )
        )
        check = _search_in(database)
    assert (check.state, "without FTS5" in check.found) == ("failed", True)
    assert "%sessions search" in check.advice


def test_packages_that_are_missing_or_too_old_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "site" / "wanting-1.0.dist-info"
    info.mkdir(parents=True)
    wants = ["orjson>=3.0", "msgspec >= 999.1", "no-such-package", "pytest>=999; extra == 'test'"]
    lines = [
        "Metadata-Version: 2.1",
        "Name: wanting",
        "Version: 1.0",
        *(f"Requires-Dist: {w}" for w in wants),
    ]
    (info / "METADATA").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    check = _packages("wanting")
    assert check.state == "failed"
    assert "msgspec" in check.found
    assert "no-such-package is missing" in check.found
    assert "orjson" not in check.found
    assert check.advice == 'run: pip install --upgrade "msgspec >= 999.1" "no-such-package"'
    assert _packages("not-installed-at-all").state == "note"


def test_check_that_breaks_is_a_failure_of_its_own(project: Path) -> None:
    settings = MewCode(project_dir=str(project))
    settings.home = "~nobody-of-this-name/mewcode"
    made = {check.name: check for check in examine(settings)}
    assert (made["Home"].state, "write the folder in full" in made["Home"].advice) == ("failed", True)
    check = _made("Search", lambda: Check("", str(1 / 0)))
    assert (check.name, check.state) == ("Search", "failed")
    assert "could not be looked at: ZeroDivisionError" in check.found
