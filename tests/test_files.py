"""File primitives on a real file system."""

import errno
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mewcode_magic.errors import SettingError, StorageError
from mewcode_magic.files import (
    Lock,
    absolute,
    private_folder,
    read_text,
    reason,
    shown,
    storage_errors,
    write_atomic,
)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_private_folder_makes_missing_parents_private_and_leaves_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = private_folder(tmp_path / "a" / "b")
    assert [mode(f) for f in (tmp_path, folder.parent, folder)] == [0o755, 0o700, 0o700]
    assert private_folder(folder) == folder


def test_file_where_a_folder_should_be_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    for path in (tmp_path / "a", tmp_path / "a" / "b"):
        with pytest.raises(StorageError, match="a file stands where a folder should be; move that file away"):
            private_folder(path)


def test_written_file_is_private_and_keeps_the_permissions_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    write_atomic(path, "one")
    assert mode(path) == 0o600
    path.chmod(0o640)
    write_atomic(path, "two")
    assert (mode(path), path.read_text(encoding="utf-8")) == (0o640, "two")


def test_write_that_fails_leaves_the_old_content_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(StorageError, match="a folder stands where a file should be"):
        write_atomic(path, "text")
    assert {file.name for file in tmp_path.iterdir()} == {"folder", "user"}


def test_write_follows_a_link_and_bears_one_in_a_circle(tmp_path: Path) -> None:
    target, link, circle = tmp_path / "target", tmp_path / "link", tmp_path / "circle"
    target.touch()
    link.symlink_to(target)
    write_atomic(link, "text")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "text"
    circle.symlink_to(circle)
    with pytest.raises(StorageError, match="circle"):
        write_atomic(circle, "text")


def test_half_a_surrogate_pair_is_written_as_a_mark(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a", "half \ud83d")
    assert read_text(tmp_path / "a") == ("half ?", True)


def test_text_is_read_without_mark_and_with_its_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("\ufeffa\r\nb".encode())
    assert read_text(path) == ("a\r\nb", True)
    path.write_bytes(b"a\xffb")
    assert read_text(path) == ("a\ufffdb", False)


@pytest.mark.parametrize(
    "number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.ENOENT, errno.ENAMETOOLONG]
)
def test_error_of_the_system_says_what_failed_where_and_what_to_do(tmp_path: Path, number: int) -> None:
    failure = OSError(number, os.strerror(number))
    with pytest.raises(StorageError) as raised, storage_errors("write", tmp_path / "a"):
        raise failure
    assert str(raised.value) == f"cannot write {tmp_path / 'a'}: {reason(failure)}"
    assert ";" in reason(failure)


def test_error_of_the_system_without_advice_gives_its_own_reason() -> None:
    assert reason(OSError(errno.EIO, "Input/output error")) == "Input/output error"
    assert reason(OSError("by hand")) == "by hand"
    assert reason(TimeoutError()) == "TimeoutError"


def test_path_is_shown_as_people_know_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "user" / "notes"
    notes.mkdir()
    monkeypatch.chdir(notes)
    assert shown(notes / "a" / "b") == "a/b"
    assert shown(notes) == "~/notes"
    assert shown(tmp_path / "user") == "~"
    assert shown(tmp_path / "else") == str(tmp_path / "else")
    notes.rmdir()  # the working directory is gone
    assert shown(notes / "a") == "~/notes/a"


def test_path_becomes_absolute_with_links_left_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    assert absolute("~/a") == tmp_path / "user" / "a"
    assert absolute(Path("x/../link")) == tmp_path / "link"
    with pytest.raises(SettingError, match="~no-such-user"):
        absolute("~no-such-user/a")


def test_lock_excludes_threads_and_other_objects_of_the_process(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "a.lock"), Lock(tmp_path / "a.lock")
    assert first.acquire()
    assert not second.acquire()
    got: list[bool] = []
    thread = threading.Thread(target=lambda: got.append(Lock(tmp_path / "a.lock").acquire()))
    thread.start()
    thread.join()
    assert got == [False]
    assert (first.held, second.held) == (True, False)
    first.release()
    first.release()
    assert second.acquire(timeout=1)
    second.release()


def test_lock_of_another_process_names_it(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from mewcode_magic.files import Lock\n"
        "lock = Lock(Path(sys.argv[1])); assert lock.acquire(); print('held', flush=True); input()"
    )
    path = tmp_path / "a.lock"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        other.stdout.readline()
        lock = Lock(path)
        assert not lock.acquire()
        assert lock.owner() == f"process {other.pid} on {socket.gethostname()}"
        other.kill()
    assert lock.acquire(timeout=5)
    lock.release()


def test_lock_needs_no_room_on_the_disk(tmp_path: Path) -> None:
    program = (
        "import resource, sys; from pathlib import Path; from mewcode_magic.files import Lock\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); lock = Lock(Path(sys.argv[1]))\n"
        "assert lock.acquire(); lock.release(); assert Lock(lock.path).acquire(); print(lock.owner())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "a.lock")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "another process\n"


def test_interrupt_leaves_no_lock_behind(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        if (tmp_path / "a.lock").exists():
            sys.settrace(None)
            raise KeyboardInterrupt

    lock = Lock(tmp_path / "a.lock")
    sys.settrace(lambda *_: interrupt)
    with pytest.raises(KeyboardInterrupt) as kept:  # and with it the frames of what it interrupted
        lock.acquire()
    assert not lock.held
    assert Lock(lock.path).acquire()
    assert kept.traceback


def test_lock_file_of_something_else_names_nobody(tmp_path: Path) -> None:
    (tmp_path / "a.lock").write_text("noise", encoding="utf-8")
    assert Lock(tmp_path / "a.lock").owner() == "another process"
