"""Several processes and sudden ends: one writer, whole records, nothing twice and nothing lost."""

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from session_files import ID, line, records, role, told, write

from mewcode_magic.errors import SessionInUse
from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore

HEAD = """
import sys
from mewcode_magic.messages import Message
from mewcode_magic.sessions import SessionStore
store = SessionStore(sys.argv[1])
"""


def start(project: Path, script: str) -> "subprocess.Popen[str]":
    """Start a process that has a `store` and runs a script."""
    code = HEAD + textwrap.dedent(script)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_session_open_in_another_process_is_read_and_copied_but_not_written(
    store: SessionStore, project: Path
) -> None:
    write(store, role("user", "a"))
    other = start(
        project, f"session = store.resume({ID!r}).session; print('open', flush=True); sys.stdin.read()"
    )
    assert other.stdout is not None
    assert other.stdin is not None
    assert other.stdout.readline() == "open\n"
    assert store.is_open_elsewhere(ID)
    with pytest.raises(SessionInUse, match=f"process {other.pid} on .*--fork"):
        store.resume(ID)
    with pytest.raises(SessionInUse):
        store.delete(ID)
    assert told(store.read(ID).messages) == ["a"]
    fork = store.fork(ID)
    fork.session.append(Message(role="user", content="b"))
    fork.session.close()
    other.communicate()
    assert not store.is_open_elsewhere(ID)
    resumed = store.resume(ID)
    assert told(resumed.messages) == ["a"]
    resumed.session.close()


def test_lock_of_a_process_that_was_killed_is_free(store: SessionStore, project: Path) -> None:
    write(store, role("user", "a"))
    script = f"""
        session = store.resume({ID!r}).session
        session.append(Message(role="user", content="b"))
        print("open", flush=True)
        sys.stdin.read()
    """
    other = start(project, script)
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    other.kill()
    other.communicate()
    resumed = store.resume(ID)
    assert told(resumed.messages) == ["a", "b"]
    resumed.session.close()


def test_process_killed_while_it_appends_leaves_all_but_the_last_record_whole(
    store: SessionStore, project: Path
) -> None:
    script = """
        session = store.create()
        session.append(Message(role="user", content="0"))
        print(session.id, flush=True)
        number = 0
        while True:
            number += 1
            session.append(Message(role="assistant", content=f"{number} " + "x" * 5000))
    """
    other = start(project, script)
    assert other.stdout is not None
    session_id = other.stdout.readline().strip()
    path = store.folder / f"{session_id}.jsonl"
    while path.stat().st_size < 500_000:
        pass
    other.kill()
    other.communicate()
    history = store.read(session_id)
    assert [m.text().split()[0] for m in history.messages] == [str(n) for n in range(len(history.messages))]
    assert history.report.skipped_lines == (not path.read_bytes().endswith(b"\n"))  # a kill can halve a write


def test_programs_that_write_at_once_spoil_no_record(store: SessionStore, project: Path) -> None:
    """The terminal program knows no lock; both append whole lines."""
    session = store.create()
    session.append(Message(role="user", content="mine 0"))
    script = """
        import json, os
        descriptor = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND)
        for number in range(500):
            record = {"role": "user", "content": f"theirs {number} " + "y" * 3000, "ts": 1}
            os.write(descriptor, json.dumps(record).encode() + b"\\n")
    """
    code = HEAD + textwrap.dedent(script)
    with subprocess.Popen([sys.executable, "-c", code, str(project), str(session.path)]) as other:
        number = 0
        while other.poll() is None:
            number += 1
            session.append(Message(role="user", content=f"mine {number} " + "x" * 3000))
    new = session.refresh()
    assert [m.text().split()[1] for m in new] == [str(n) for n in range(500)]
    mine = [m.text().split()[1] for m in session.messages if m.text().startswith("mine")]
    assert mine == [str(n) for n in range(number + 1)]
    session.close()
    assert store.read(session.id).messages == session.messages


def test_interrupts_at_any_moment_leave_file_and_memory_alike(store: SessionStore, project: Path) -> None:
    """The stop button raises wherever the kernel is, also between the write and its bookkeeping."""
    script = """
        import signal
        armed = False

        def press(*_):
            if armed:
                raise KeyboardInterrupt

        session = store.create()
        session.append(Message(role="user", content="start"))
        signal.signal(signal.SIGALRM, press)
        signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
        interrupts = 0
        for number in range(20_000):
            try:
                armed = True
                session.append(Message(role="assistant", content=str(number)))
                armed = False
            except KeyboardInterrupt:
                armed = False
                interrupts += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        session.refresh()
        session.close()
        print(interrupts, session.messages == store.read(session.id).messages)
    """
    interrupts, alike = start(project, script).communicate(timeout=60)[0].split()
    (info,) = store.list()
    written = [record["content"] for record in records(info.path)]
    assert int(interrupts) > 10
    assert alike == "True"
    assert len(set(written)) == len(written) == info.messages


def test_session_appends_while_another_thread_lists_and_counts(store: SessionStore) -> None:
    session = store.create()
    session.append(Message(role="user", content="start"))
    done = threading.Event()
    faults: list[BaseException] = []

    def look() -> None:
        try:
            while not done.is_set():
                store.fill_counts()
                store.read(session.id)
                store.transcript(session.id)
        except BaseException as error:  # noqa: BLE001 - told below
            faults.append(error)

    looker = threading.Thread(target=look)
    looker.start()
    for number in range(2_000):
        session.append(Message(role="assistant", content=f"{number}"))
        if number % 100 == 0:
            session.end_turn()
    done.set()
    looker.join()
    session.close()
    assert faults == []
    assert store.list()[0].messages == 2_001


def test_file_that_grows_while_it_is_read_gives_what_is_whole(store: SessionStore) -> None:
    whole = line(role("user", "a"))
    path = write(store, whole, whole[:-10])
    assert told(store.read(ID).messages) == ["a"]
    with path.open("ab") as file:
        file.write(whole[-10:])
    assert told(store.read(ID).messages) == ["a", "a"]
