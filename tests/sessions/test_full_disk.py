"""A disk that is full: the user is told, nothing is lost, and the next write brings it all in order.

A process with a limit on the size of its files stands in for the disk.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

from session_files import told

from mewcode_magic.sessions import SessionStore


def run(project: Path, script: str) -> str:
    """Run a script in a process of its own, with a session `s` and a way to fill the disk: its output."""
    head = """
    import resource, sys
    from mewcode_magic.errors import StorageError
    from mewcode_magic.messages import Message
    from mewcode_magic.sessions import SessionStore

    store = SessionStore(sys.argv[1])
    s = store.create()

    def room(size):
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size is None else size, hard))

    def say(text):
        try:
            s.append(Message(role="user", content=text))
        except StorageError as error:
            print("failed:", error)

    """
    code = textwrap.dedent(head) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", code, str(project)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_record_that_fits_partly_is_written_again_after_a_newline(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        say("first")
        room(s.path.stat().st_size + 30)
        say("second " + "x" * 100)
        say("third")
        print([m.text()[:6] for m in s.messages])
        room(None)
        say("fourth")
        print([m.text()[:6] for m in s.messages])
        s.close()
        """,
    )
    failed, failed_again, meanwhile, after = out.splitlines()
    assert failed.startswith("failed: cannot write .mewcode/sessions/")
    assert failed_again.startswith("failed: cannot write")
    assert meanwhile == "['first']"
    assert after == "['first', 'second', 'third', 'fourth']"
    (info,) = store.list()
    history = store.read(info.id)
    assert [text[:6] for text in told(history.messages)] == ["first", "second", "third", "fourth"]
    assert history.report.skipped_lines == 1
    assert info.messages == 4


def test_record_that_does_not_fit_at_all_leaves_no_trace(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        say("first")
        room(s.path.stat().st_size)
        say("second")
        room(None)
        say("third")
        s.close()
        """,
    )
    assert out.startswith("failed: cannot write")
    (info,) = store.list()
    history = store.read(info.id)
    assert told(history.messages) == ["first", "second", "third"]
    assert history.report.skipped_lines == 0


def test_results_that_fit_partly_are_completed_in_their_order(store: SessionStore, project: Path) -> None:
    run(
        project,
        """
        say("first")
        calls = [{"type": "tool_use", "id": f"t{n}", "name": "n", "input": {}} for n in range(3)]
        s.append(Message(role="assistant", content=calls))
        room(s.path.stat().st_size + 150)
        results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": "x" * 60} for n in range(3)]
        try:
            s.append(Message(role="user", content=results))
        except StorageError:
            print(len(s.messages))
        room(None)
        say("last")
        s.close()
        """,
    )
    (info,) = store.list()
    history = store.read(info.id)
    assert [len(m.tool_results()) for m in history.messages] == [0, 0, 3, 0]
    assert history.report.dropped_messages == 0


def test_title_and_cache_that_do_not_fit_are_errors_and_cost_nothing(
    store: SessionStore, project: Path
) -> None:
    out = run(
        project,
        """
        say("first")
        room(1)
        for action in (lambda: s.rename("Sales"), s.end_turn):
            try:
                action()
            except StorageError as error:
                print("failed:", error)
        room(None)
        s.close()
        """,
    )
    assert out.count("failed: cannot write") == 2
    (info,) = store.list()
    assert info.title == "Sales"
    assert told(store.read(info.id).messages) == ["first"]


def test_cache_that_alone_does_not_fit_is_no_error(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        say("first")
        s.end_turn()
        say("second")
        room(100)
        s.end_turn()
        print("ended", s.path.with_suffix(".meta").stat().st_size > 100)
        room(None)
        s.close()
        """,
    )
    assert out == "ended True\n"
    (info,) = store.list()
    assert info.messages == 2


def test_file_cannot_even_be_begun(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        room(0)
        say("first")
        say("second")
        room(None)
        say("third")
        s.close()
        """,
    )
    assert out.count("failed: cannot write") == 2
    (info,) = store.list()
    assert told(store.read(info.id).messages) == ["first", "second", "third"]


def test_copy_that_does_not_fit_leaves_no_copy(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        say("x" * 1000)
        s.end_turn()
        room(500)
        try:
            store.fork(s.id)
        except StorageError as error:
            print("failed:", error)
        room(None)
        s.close()
        """,
    )
    assert out.startswith("failed: cannot copy")
    assert len(store.list()) == 1
    assert len(list(store.folder.glob("*.lock"))) == 1


def test_prompt_that_waited_is_kept_by_the_next_compaction(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        say("first")
        say("second")
        room(s.path.stat().st_size)
        say("third")
        room(None)
        s.compact("s", s.messages[-1:])
        s.close()
        """,
    )
    assert out.startswith("failed: cannot write")
    (info,) = store.list()
    assert told(store.read(info.id).messages) == ["summary: s", "second", "third"]


def test_trimming_that_cannot_be_written_changes_nothing(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        say("first")
        call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "whole"}
        s.append(Message(role="assistant", content=[call]))
        s.append(Message(role="user", content=[result]))
        room(s.path.stat().st_size + 30)
        try:
            s.trim({"t1": "less"})
        except StorageError as error:
            print("failed:", error)
        room(None)
        print(s.messages[2].content[0]["content"])
        say("second")
        s.close()
        """,
    )
    assert out.splitlines()[0].startswith("failed: cannot write ")
    assert out.splitlines()[1:] == ["whole"]
    (info,) = store.list()
    last = store.read(info.id).messages
    assert [m.content for m in last][-1] == "second"
    assert last[2].tool_results()[0]["content"] == "whole"


def test_copy_that_cannot_be_written_leaves_no_results_of_its_own(store: SessionStore, project: Path) -> None:
    out = run(
        project,
        """
        say("first " + "x" * 100)
        s.store_result("t1", "kept")
        s.end_turn()
        room(50)
        try:
            store.fork(s.id)
        except StorageError as error:
            print("failed:", error)
        room(None)
        s.close()
        """,
    )
    assert out.startswith("failed: cannot copy ")
    (info,) = store.list()
    assert [path.name for path in (project / ".mewcode/session/tool-results").iterdir()] == [info.id]
