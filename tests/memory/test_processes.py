"""Several real processes over one memory folder, and one that is killed while it writes."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread

import pytest
from memory_files import POLARS, index_lines, names

from mewcode_magic.errors import MemoryAmbiguous
from mewcode_magic.memory import MemoryStore

SAVING = """
import sys
from mewcode_magic.memory import Memory, MemoryStore
store = MemoryStore(sys.argv[1], sys.argv[2])
for n in range(12):
    store.save(Memory(f"{sys.argv[3]}-{n}", "d", "user", f"{sys.argv[3]} says {n}"))
    store.save(Memory("shared", "d", "user", f"{sys.argv[3]} has it, {n}"))
"""

SAVING_FOR_EVER = """
import itertools, sys
from mewcode_magic.memory import Memory, MemoryStore
store = MemoryStore(sys.argv[1], sys.argv[2])
print("ready", flush=True)
for n in itertools.count():
    store.save(Memory("shared", f"d {n}", "user", f"{n} " * 2000))
    store.save(Memory(f"m{n % 5}", "d", ("user", "project")[n % 2], f"{n} " * 500))
"""


def start(code: str, project: Path, home: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, str(project), str(home), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_that_save_at_once_lose_nothing(store: MemoryStore, project: Path, home: Path) -> None:
    running = [start(SAVING, project, home, name) for name in ("one", "two", "three")]
    assert [process.wait() for process in running] == [0, 0, 0]
    for process in running:
        process.stdout.close()
    saved = {f"{name}-{n}" for name in ("one", "two", "three") for n in range(12)} | {"shared"}
    assert set(names(store)) == saved
    assert len(index_lines(store, "user")) == len(saved)
    assert store.check() == []
    # Of the memory that all of them wrote, every version but the last is in the trash.
    assert len(list((store.folder("user") / ".trash").rglob("shared.md"))) == 35


def test_threads_that_save_at_once_lose_nothing(store: MemoryStore) -> None:
    def save(name: str) -> None:
        for n in range(10):
            store.save(replace(POLARS, name=f"{name}-{n}", body=f"{name} {n}"))

    threads = [Thread(target=save, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.list()) == len(index_lines(store, "user")) == 20


def test_two_processes_that_move_in_opposite_directions_do_not_block_each_other(
    store: MemoryStore, project: Path, home: Path
) -> None:
    moving = (
        "import sys\n"
        "from mewcode_magic.memory import Memory, MemoryStore\n"
        "store = MemoryStore(sys.argv[1], sys.argv[2])\n"
        "for n in range(20):\n"
        "    kind = ('user', 'project')[(n + int(sys.argv[3])) % 2]\n"
        "    store.save(Memory(f'm{sys.argv[3]}', 'd', kind, f'{sys.argv[3]} {n}'))\n"
    )
    running = [start(moving, project, home, name) for name in ("0", "1")]
    assert [process.wait() for process in running] == [0, 0]
    for process in running:
        process.stdout.close()
    assert sorted((memory.name, memory.place) for memory in store.list()) == [
        ("m0", "project"),
        ("m1", "user"),
    ]
    assert store.check() == []


IN_TWO_PLACES = """
import sys
from mewcode_magic.memory import Memory, MemoryStore
store = MemoryStore(sys.argv[1], sys.argv[2])
print("ready", flush=True)
for number in sys.stdin:
    saved = store.save(Memory(f"m{number.strip()}", "d", sys.argv[3], f"{sys.argv[3]} {number}"))
    print(saved.action, *saved.notes, flush=True)
"""


def test_one_name_that_two_processes_save_in_two_places_is_never_there_twice_in_silence(
    store: MemoryStore, project: Path, home: Path
) -> None:
    command = [sys.executable, "-c", IN_TWO_PLACES, str(project), str(home)]
    running = [
        Popen([*command, kind], stdin=PIPE, stdout=PIPE, text=True, bufsize=1) for kind in ("user", "project")
    ]
    assert [process.stdout.readline() for process in running] == ["ready\n", "ready\n"]
    twice = 0
    for number in range(40):
        for process in running:
            process.stdin.write(f"{number}\n")
        told = [process.stdout.readline() for process in running]
        found = [memory for memory in store.list() if memory.name == f"m{number}"]
        if len(found) == 1:  # one came later, and moved it
            assert sorted(line.split()[0] for line in told) == ["created", "moved"]
            continue
        twice += 1
        assert sorted(memory.place for memory in found) == ["project", "user"]
        assert any("has the same name; --type says which one is meant" in line for line in told)
        with pytest.raises(MemoryAmbiguous, match="say which one by its type"):
            store.get(f"m{number}")
    for process in running:
        process.communicate()
    assert [problem.kind for problem in store.check()].count("same name") == twice


def test_a_process_killed_while_saving_leaves_the_old_or_the_new(
    store: MemoryStore, project: Path, home: Path
) -> None:
    for delay in [n * 0.0043 for n in range(10)]:
        process = start(SAVING_FOR_EVER, project, home)
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()

        assert store.notices == []
        for memory in store.list():
            words = memory.body.split()
            assert len(set(words)) == 1, "half of one version and half of another"
            assert len(words) == {"shared": 2000, "after": 1, "ours": 1}.get(memory.name, 500)
        # The next one to take the lock mends what was left.
        store.save(replace(POLARS, name="after", body=f"after-{delay}"))
        store.save(replace(POLARS, name="ours", type="project", body=f"ours-{delay}"))
        kinds = {problem.kind for problem in store.check()}
        # A kill between the two steps of a move leaves both files; texts of one number are alike.
        assert kinds <= {"same name", "same body", "alike"}
