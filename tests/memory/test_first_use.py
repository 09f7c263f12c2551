"""Whether a project is used for the first time: true once, whatever the file's state."""

import json
import threading
from pathlib import Path

import pytest

from mewcode_magic.files import Lock
from mewcode_magic.memory import first_use


def test_first_use_of_a_project_is_true_exactly_once(home: Path, project: Path, tmp_path: Path) -> None:
    assert [first_use(home, project) for _ in range(3)] == [True, False, False]
    other = tmp_path / "other 项目"
    other.mkdir()
    assert [first_use(home, other), first_use(home, project), first_use(home, other)] == [True, False, False]
    assert set(json.loads((home / "projects.json").read_text(encoding="utf-8"))) == {str(project), str(other)}


def test_project_is_the_same_through_a_link(home: Path, project: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(project)
    assert [first_use(home, tmp_path / "alias"), first_use(home, project)] == [True, False]


def test_file_and_folder_are_private_and_the_project_stays_untouched(home: Path, project: Path) -> None:
    first_use(home, project)
    assert (home.stat().st_mode & 0o777, (home / "projects.json").stat().st_mode & 0o777) == (0o700, 0o600)
    assert [path.name for path in project.iterdir()] == [".git"]


def test_threads_that_ask_at_once_hear_true_once(home: Path, project: Path) -> None:
    answers: list[bool] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        answers.append(first_use(home, project))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 7 + [True]


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b"null", b"\xff\xfe\x00", b"[" * 100_000])
def test_broken_file_is_replaced(home: Path, project: Path, content: bytes) -> None:
    home.mkdir()
    (home / "projects.json").write_bytes(content)
    assert [first_use(home, project), first_use(home, project)] == [True, False]


def test_what_the_file_holds_besides_is_kept(home: Path, project: Path) -> None:
    home.mkdir()
    (home / "projects.json").write_text('{"/elsewhere": "2026-01-01T00:00:00+00:00"}')
    first_use(home, project)
    assert "/elsewhere" in json.loads((home / "projects.json").read_text())


@pytest.mark.parametrize("kind", ["home is a file", "file is a folder", "lock is a folder"])
def test_home_that_cannot_be_written_is_true_without_an_error(home: Path, project: Path, kind: str) -> None:
    if kind == "home is a file":
        home.write_text("")
    else:
        (home / ("projects.json" if kind == "file is a folder" else "projects.lock")).mkdir(parents=True)
    assert first_use(home, project)


def test_lock_held_elsewhere_does_not_keep_the_prompt_waiting(home: Path, project: Path) -> None:
    home.mkdir()
    lock = Lock(home / "projects.lock")
    assert lock.acquire()
    assert first_use(home, project)
    lock.release()
    assert first_use(home, project)
    assert not first_use(home, project)
