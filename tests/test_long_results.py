"""A tool's long result in a whole turn: a file and a preview, which the agent reads back with `ReadFile`."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from histories import blocks_of
from session_files import records

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.events import PermissionAsked, ToolEnded
from mewcode_magic.model import Scripted


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def printing(code: str) -> dict[str, Any]:
    """Return a call whose result is what a Python program prints."""
    return call(1, "Bash", command=f"python3 -c {json.dumps(code)}")


class Agent:
    """A Mew with a script, whose commands may run and print much."""

    def __init__(self, project: Path, home: Path, *replies: Any, **changes: Any) -> None:
        self.model = Scripted(replies)
        self.settings = MewCode(
            extract="off", recall=False, allow=["Bash"], **{"bash_output_chars": 1_000_000, **changes}
        )
        self.project = project
        self.mew = Mew(project, home, model=self.model, settings=self.settings)

    def ask(self, prompt: str = "go") -> list[Any]:
        events = list(self.mew.ask(prompt))
        assert not [e for e in events if isinstance(e, PermissionAsked)]
        return [e for e in events if isinstance(e, ToolEnded)]

    def sent(self) -> list[str]:
        """Return the results in the last request."""
        blocks = [b for m in self.model.requests[-1].messages for b in m["content"]]
        return [str(b["content"]) for b in blocks if b["type"] == "tool_result"]

    def file(self) -> Path:
        """Return the file that the first result's preview names."""
        found = re.search(r"characters: (\S+)\. ReadFile", self.sent()[0])
        assert found
        return self.project / found[1]


LINES = "print('\\n'.join(f'line {n} of many' for n in range(5000)))"


def test_long_result_moves_to_a_file_that_the_preview_and_the_record_name(project: Path, home: Path) -> None:
    agent = Agent(project, home, [printing(LINES)], "done")
    (ended,) = agent.ask()
    (preview,) = agent.sent()
    assert ended.result == preview
    assert len(preview) < 2_048
    assert preview.startswith("(Moved to a file, for its ")
    assert "line 0 of many\n" in preview
    assert "line 4999 of many" in preview
    assert agent.file().read_text().startswith("line 0 of many\nline 1 of many\n")
    assert agent.file().parent.name == agent.mew.session.id
    recorded = [r["content"] for r in records(agent.mew.session.path) if r["role"] == "tool_result"]
    assert recorded == [preview]
    agent.mew.close()


def test_result_of_just_the_limit_stays(project: Path, home: Path) -> None:
    reply = [printing("print('x' * 50000, end='')")]
    agent = Agent(project, home, reply, "done", [printing("print('x' * 50001, end='')")], "done")
    agent.ask()
    assert agent.sent()[0].count("x") == 50_000
    agent.ask()
    assert agent.sent()[1].startswith("(Moved to a file, for its 50,001 characters")
    agent.mew.close()


@pytest.mark.parametrize("limit", [50_000, 2_000])
def test_reading_the_file_back_asks_nothing_and_moves_nothing(project: Path, home: Path, limit: int) -> None:
    agent = Agent(project, home, [printing(LINES)], "done", result_max_chars=limit)
    agent.ask()
    path = agent.file()
    read = [
        call(2, "ReadFile", path=str(path.relative_to(project))),
        call(3, "ReadFile", path=str(path), offset=4_000, limit=2),
    ]
    agent.mew.use(Scripted([read, "done"]))
    whole, part = agent.ask()
    assert "     1\tline 0 of many\n" in whole.result
    assert "read on with offset=" in whole.result
    assert part.result.startswith("  4000\tline 3999 of many\n  4001\tline 4000 of many\n")
    assert list(path.parent.iterdir()) == [path]
    agent.mew.close()


def test_one_long_line_is_broken_so_that_all_of_it_can_be_read(project: Path, home: Path) -> None:
    agent = Agent(project, home, [printing("print('0123456789' * 6000)")], "done")
    agent.ask()
    path = agent.file()
    assert "Lines are broken after 2,000 characters." in agent.sent()[0]
    agent.mew.use(Scripted([[call(2, "ReadFile", path=str(path), offset=30)], "done"]))
    (ended,) = agent.ask()
    assert ended.result.splitlines()[0] == "    30\t" + "0123456789" * 200
    agent.mew.close()


def test_what_a_stopped_call_returned_moves_too(project: Path, home: Path) -> None:
    code = LINES + "; import os, signal; os.kill(os.getppid(), signal.SIGINT)"
    agent = Agent(project, home, [call(1, "Bash", command=f"exec python3 -c {json.dumps(code)}; sleep 9")])
    with pytest.raises(KeyboardInterrupt):
        agent.ask()
    (result,) = agent.mew.session.messages[-1].tool_results()
    assert result["is_error"]
    assert result["content"].startswith("(Moved to a file")
    agent.mew.close()


def test_result_that_cannot_be_kept_is_cut_and_the_turn_goes_on(project: Path, home: Path) -> None:
    agent = Agent(project, home, [printing(LINES)], "done")
    (project / ".mewcode").mkdir()
    (project / ".mewcode/session").write_text("")
    agent.ask()
    assert agent.sent()[0].startswith("(Cut from ")
    assert "a file stands where a folder should be" in agent.sent()[0]
    agent.mew.close()


def test_context_tells_what_was_trimmed_and_why(project: Path, home: Path) -> None:
    replies: list[Any] = [[printing(LINES)], "done"]
    for number in range(2, 24):
        replies += [[call(number, "Bash", command="seq 2000")], "done"]
    agent = Agent(project, home, *replies)
    for _ in range(len(replies) // 2):
        agent.ask()
    (part,) = [part for part in agent.mew.context().parts if part.name == "trimmed"]
    assert part.note == "results and images not sent whole: moved to a file: 1, shortened as old: 9"
    lines = part.text.splitlines()
    assert re.fullmatch(r"Bash toolu_1: [\d,]+ characters to \S+/toolu_1\.txt \(moved to a file\)", lines[0])
    assert re.fullmatch(r"Bash toolu_2: [\d,]+ characters \(shortened as old\)", lines[1])
    session_id = agent.mew.session.id
    before = blocks_of(agent.model.requests[-1])
    agent.mew.close()

    again = Agent(project, home, "done")
    again.mew.resume(session_id)
    again.ask()
    assert blocks_of(again.model.requests[-1])[: len(before)] == before
    again.mew.close()


def test_prompt_is_kept_when_the_disk_is_full_as_results_are_to_be_trimmed(project: Path, home: Path) -> None:
    code = """
    import resource, sys
    from mewcode_magic.app import Mew
    from mewcode_magic.config import MewCode
    from mewcode_magic.errors import StorageError
    from mewcode_magic.model import Scripted

    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "seq 2000"}}
    settings = MewCode(extract="off", recall=False, allow=["Bash"], trim_after_turns=1)
    mew = Mew(sys.argv[1], sys.argv[2], model=Scripted([[call], "one", "two", "four"]), settings=settings)
    list(mew.ask("first"))
    list(mew.ask("second"))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (mew.session.path.stat().st_size, hard))
    try:
        list(mew.ask("third"))
    except StorageError as error:
        print("failed:", error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    list(mew.ask("fourth"))
    mew.close()
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(project), str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.startswith("failed: cannot write ")
    (path,) = (project / ".mewcode/sessions").glob("*.jsonl")
    kinds = [r["content"] if r["role"] in ("user", "trimmed") else r["role"] for r in records(path)]
    assert [k for k in kinds if k in ("first", "second", "third", "fourth")] == [
        "first",
        "second",
        "third",
        "fourth",
    ]
    assert [kind.keys() for kind in kinds if isinstance(kind, dict)] == [{"t1"}]


def test_context_has_no_such_part_while_all_is_sent(project: Path, home: Path) -> None:
    agent = Agent(project, home, "done")
    agent.ask()
    assert "trimmed" not in [part.name for part in agent.mew.context().parts]
    agent.mew.close()
