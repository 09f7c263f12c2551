"""`Grep` answers the same with ripgrep and without it, and nothing in files or expressions makes it hang."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from credential_samples import UPPER, made
from tool_calls import run_tool

from mewcode_magic.tools import Grep, ToolContext, ToolResult
from mewcode_magic.tools.searching import search_lines


def grep(context: ToolContext, pattern: str, /, **arguments: object) -> ToolResult:
    answer = arguments.pop("answer", None)
    assert answer is None or isinstance(answer, str)
    return run_tool(Grep(), context, answer=answer, pattern=pattern, **arguments)


def make(project: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = project / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(params=["as installed", "without ripgrep"])
def _engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where `rg` is installed it is used, and then a path without it."""
    if request.param == "without ripgrep":
        monkeypatch.setenv("PATH", "")


engines = pytest.mark.usefixtures("_engine")


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """Put a program in the place of `rg`."""
    folder.mkdir()
    (folder / "rg").write_text(f"#!{sys.executable}\n{textwrap.dedent(script)}")
    (folder / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@engines
def test_matching_lines_come_by_path_and_number(context: ToolContext, project: Path) -> None:
    make(project, b_py="x = 1\ny = 2\nxy = 3\n", a_py="none\n", sub__c_py="  x\n")
    assert grep(context, r"^\s*x").text == "b.py:1:x = 1\nb.py:3:xy = 3\nsub/c.py:1:  x"
    assert grep(context, "absent").text == "no line matches"


@engines
def test_lines_around_come_once_with_a_mark_between_parts(context: ToolContext, project: Path) -> None:
    make(project, a_txt="".join(f"{n}\n" for n in range(1, 21)), b_txt="2\n")
    assert grep(context, "^(2|4|15)$", context=1).text == (
        "a.txt-1-1\na.txt:2:2\na.txt-3-3\na.txt:4:4\na.txt-5-5\n--\n"
        "a.txt-14-14\na.txt:15:15\na.txt-16-16\n--\nb.txt:1:2"
    )


@engines
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("^two$", [2]),
        (r"\btwo\b", [2]),
        (r"(?<=t)wo", [2, 4]),
        (r"(.)\1", [3]),
        (r"^[^o]+$", [3, 5]),
        (r"\Atwo\Z", [2]),
        (r"(?i)TWO", [2, 4]),
        ("ünï", [5]),
        (r"\w{5,}", [3, 4]),
        (r"w.*o.", [4]),
        (r"one\ntwo", []),
        (r"e\s", []),
        (r"\x6fne", [1]),
        ("[[:alpha:]]", []),
        (r"a{,2}three", [3]),
        ("-three", []),
        ("--help", []),
        ("th(?P<n>r)e", [3]),
        ("\0", []),
    ],
)
def test_expression_is_one_of_pythons_on_each_line_alone(
    context: ToolContext, project: Path, pattern: str, found: list[int]
) -> None:
    make(project, a_txt="one\r\ntwo\r\nthree\r\ntwofold\r\nünï\r\n")
    text = grep(context, pattern).text
    assert [int(line.split(":")[1]) for line in text.splitlines() if ":" in line] == found


@engines
def test_case_glob_and_path_choose(context: ToolContext, project: Path) -> None:
    make(project, a_py="Word\n", a_md="word\n", src__b_py="word\n", src__c_txt="word\n")
    assert grep(context, "word").text == "a.md:1:word\nsrc/b.py:1:word\nsrc/c.txt:1:word"
    assert grep(context, "word", ignore_case=True, glob="*.py").text == "a.py:1:Word\nsrc/b.py:1:word"
    assert grep(context, "word", glob="*.{md,txt}").text == "a.md:1:word\nsrc/c.txt:1:word"
    assert grep(context, "word", glob="!*.py", path="src").text == "src/c.txt:1:word"
    assert grep(context, "word", path="src/b.py").text == "src/b.py:1:word"


@engines
def test_limit_counts_matching_lines_and_says_that_more_match(context: ToolContext, project: Path) -> None:
    make(project, a_txt="x\n" * 5, b_txt="x\n" * 5)
    lines = grep(context, "x", limit=7).text.splitlines()
    assert lines[6:] == ["b.txt:2:x", "(more lines match; narrow the search to see them)"]
    assert "more lines" not in grep(context, "x", limit=10).text


@engines
def test_ignored_recorded_binary_and_linked_files_are_not_searched(
    context: ToolContext, project: Path, tmp_path: Path
) -> None:
    make(
        project,
        _gitignore="*.log\nbuild/\n",
        a_log="word\n",
        build__b_txt="word\n",
        c_bin=b"word\0\n",
        d_txt="word\n",
        _git__config="word\n",
        _mewcode__sessions__a_jsonl="word\n",
        _hidden__e_txt="word\n",
        sub___gitignore="!f.log\ng.txt\n",
        sub__f_log="word\n",
        sub__g_txt="word\n",
    )
    make(tmp_path, secret_txt="word\n")
    (project / "link.txt").symlink_to(tmp_path / "secret.txt")
    (project / "circle").symlink_to(".")
    os.mkfifo(project / "fifo")
    assert grep(context, "word").text == ".hidden/e.txt:1:word\nd.txt:1:word\nsub/f.log:1:word"
    # Who names what is ignored means it.
    assert grep(context, "word", path="a.log").text == "a.log:1:word"
    assert grep(context, "word", path="build").text == "build/b.txt:1:word"


@engines
def test_gitignore_holds_where_there_is_no_repository(context: ToolContext, project: Path) -> None:
    (project / ".git").rmdir()
    make(project, _gitignore="*.log\n", a_log="word\n", sub__a_log="word\n", sub__b_txt="word\n")
    for path in (".", "sub"):
        assert grep(context, "word", path=path).text == "sub/b.txt:1:word"


@engines
def test_long_line_is_cut_around_the_match(context: ToolContext, project: Path) -> None:
    make(project, a_txt="x" * 900_000 + "needle" + "y" * 900_000 + "\nneedle\n", b_txt="needle" + "z" * 1_000)
    first, second, third = grep(context, "needle").text.splitlines()
    assert first == f"a.txt:1:…{'x' * 100}needle{'y' * 294}…"
    assert second == "a.txt:2:needle"
    assert third == f"b.txt:1:needle{'z' * 394}…"


@engines
def test_result_is_short_enough_to_stay_in_the_conversation(context: ToolContext, project: Path) -> None:
    make(project, a_txt=("x" * 300 + "\n") * 1_000)
    text = grep(context, "x", limit=1_000).text
    assert 40_000 < len(text) < 50_000
    assert "more lines match" in text


@pytest.mark.parametrize("pattern", ["(", "*", "[z-a]", "(?P<a", "a{5,2}", r"\8", "x" * 10_001, ""])
def test_expression_that_is_none_is_one_line_that_says_so(context: ToolContext, pattern: str) -> None:
    result = grep(context, pattern)
    assert result.is_error
    assert "\n" not in result.text


@pytest.mark.parametrize("path", ["missing", "x" * 300, "a\0b"])
def test_path_that_leads_nowhere_is_one_line_that_says_so(context: ToolContext, path: str) -> None:
    result = grep(context, "x", path=path)
    assert result.is_error
    assert "\n" not in result.text


@pytest.mark.parametrize("path", ["fifo", "loop", "/dev/zero", "a.bin"])
def test_what_holds_no_lines_has_none_that_match(context: ToolContext, project: Path, path: str) -> None:
    os.mkfifo(project / "fifo")
    (project / "loop").symlink_to("loop")
    make(project, a_bin=b"\0word\n")
    assert grep(context, "word", path=path, answer="yes").text == "no line matches"


def test_names_cannot_forge_lines(context: ToolContext, project: Path) -> None:
    (project / "a:1:x\nforged.py:1:evil").write_text("word\n")
    (project / os.fsdecode(b"caf\xe9.txt")).write_text("word\n")
    lines = grep(context, "word").text.splitlines()
    assert len(lines) == 2
    assert all(line.endswith(":1:word") for line in lines)


@engines
def test_other_folders_are_asked_for(context: ToolContext, project: Path, tmp_path: Path) -> None:
    make(tmp_path, out__a_txt="word\n")
    (project / "link").symlink_to(tmp_path / "out")
    for path in ("../out", "link", "/"):
        assert grep(context, "word", path=path).text.startswith("not allowed")
    assert grep(context, "word", path="link", answer="yes").text == f"{tmp_path}/out/a.txt:1:word"


@engines
@pytest.mark.parametrize("rule", ["ReadFile(.env)", "Grep(.env)", "ReadFile(/**/.env)"])
def test_what_a_rule_keeps_from_reading_is_not_found_by_searching(
    context: ToolContext, project: Path, rule: str
) -> None:
    make(project, _env="KEY=word\n", sub___env="KEY=word\n", a_txt="word\n")
    context.settings.permission_mode = "auto"
    context.settings.deny = [rule]
    text = grep(context, "word").text
    assert text.splitlines()[0] == "a.txt:1:word"
    assert "KEY" not in text
    assert "MewCode.deny" in text
    assert "forbids it" in grep(context, "word", path=".env").text
    context.settings.deny = ["ReadFile"]
    assert "forbids it" in grep(context, "word").text


@engines
def test_values_are_not_found_while_they_are_not_shared(context: ToolContext, project: Path) -> None:
    make(project, a_csv="name,4711\n", a_ipynb='{"4711": 1}\n', a_py="x = 4711\n")
    context.settings.share_values = False
    lines = grep(context, "4711").text.splitlines()
    assert lines[0] == "a.py:1:x = 4711"
    assert len(lines) == 2
    assert "MewCode.share_values is off" in lines[1]
    assert grep(context, "4711", path="a.csv").text.startswith("no line matches")


def test_credential_in_a_memory_is_masked(context: ToolContext, home: Path) -> None:
    key = "AKIA" + made(UPPER, 16)
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "aws.md").write_text(f"one\nThe key is {key}.\n", encoding="utf-8")
    text = grep(context, "key", path=str(home / "memory"), context=1).text
    assert "aws.md:2:The key is [credential: AWS access key]." in text
    assert key not in text


def test_expression_that_takes_for_ever_is_stopped(project: Path) -> None:
    make(project, a_txt="word\n", b_txt="a" * 60 + "!\n")
    files = [project / "a.txt", project / "b.txt"]
    started = time.monotonic()
    found = search_lines("word|(a+)+$", files, ignore_case=False, context=0, limit=9, deadline=started + 0.5)
    assert found.is_late
    # What was found by then counts.
    assert found.rows == [(files[0], [(1, True, "word")])]


@pytest.mark.parametrize("engine", ["ripgrep", "python"])
def test_interrupt_stops_a_search_and_its_processes(project: Path, home: Path, engine: str) -> None:
    make(project, b_txt="a" * 60 + "!\n")
    folder = project.parent / "bin"
    folder.mkdir()
    if engine == "ripgrep":
        (folder / "rg").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
        (folder / "rg").chmod(0o755)
    script = """
    import os, signal, sys
    from pathlib import Path
    from tool_calls import run_tool
    from mewcode_magic.config import MewCode
    from mewcode_magic.memory import MemoryStore
    from mewcode_magic.tools import Grep, Permissions, ToolContext

    settings = MewCode()
    project = Path(sys.argv[1])
    store = MemoryStore(project, Path(sys.argv[2]))
    context = ToolContext("s", project, store, settings, Permissions(settings))
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    try:
        run_tool(Grep(), context, pattern="(a+)+$")
    except KeyboardInterrupt:
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("interrupted, and no process is left")
    """
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(project), str(home)],
        env={**os.environ, "PATH": str(folder), "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "interrupted, and no process is left\n"
    assert time.monotonic() - started < 15


def test_ripgrep_is_given_no_shell_and_no_option_by_an_expression(
    context: ToolContext, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project, a_txt="--files; touch x\n")
    stand_in(
        monkeypatch,
        tmp_path / "bin",
        """
        import json, os, sys
        open(os.path.join(os.path.dirname(__file__), "given"), "w").write(json.dumps(sys.argv[1:]))
        sys.stdout.write("./a.txt" + chr(0))
        """,
    )
    assert grep(context, "-files; touch x").text == "a.txt:1:--files; touch x"
    given_options = (tmp_path / "bin" / "given").read_text()
    assert '"--regexp=-files; touch x", "--", "."]' in given_options
    assert '"--no-config"' in given_options


@pytest.mark.parametrize(
    "script",
    ["raise SystemExit(2)", "import os; os.kill(os.getpid(), 9)", "print('x' * 70_000); raise SystemExit(2)"],
)
def test_search_goes_on_where_ripgrep_fails(
    context: ToolContext, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    make(project, a_txt="word\n")
    stand_in(monkeypatch, tmp_path / "bin", script)
    assert grep(context, "word").text == "a.txt:1:word"


def test_file_that_is_gone_when_its_lines_are_read_is_passed_over(
    context: ToolContext, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project, a_txt="word\n")
    stand_in(monkeypatch, tmp_path / "bin", 'print("./gone.txt\\0./a.txt\\0", end="")')
    assert grep(context, "word").text == "a.txt:1:word"


def test_search_cannot_be_led_astray_by_files_beside_it(
    context: ToolContext, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(project, json_py="raise SystemExit(1)\n", re_py="raise SystemExit(1)\n", a_txt="word\n")
    monkeypatch.setenv("PYTHONPATH", str(project))
    monkeypatch.setenv("PATH", "")
    assert grep(context, "word").text == "a.txt:1:word"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
