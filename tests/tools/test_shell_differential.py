"""What real bash runs is what rules have looked at.

Texts are built of dangerous fragments around a command that a rule allows. Real bash runs them where every
command is a stub that only writes down its name and arguments. Whatever it then ran, that no rule covers,
must have kept the text from being covered; and a deny rule for it must have met the text.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.tools import Bash, Permissions, ToolContext

BASH = shutil.which("bash") or "bash"
ALLOW = ["Bash(git diff *)", "Bash(ls *)"]
DANGERS = ("evil", "rm")
LONGEST = 2.0
"""Seconds that a text may run; some are loops."""

STUB = """#!{bash}
printf '%s\\0' "${{0##*/}} $1" >>"$LOG"
"""
RUNNER = """#!{bash}
printf '%s\\0' "${{0##*/}}" >>"$LOG"
while [[ $1 == -* || $1 == *=* ]]; do shift; done
[[ $# == 0 ]] || "$@"
"""
SHELL = """#!{bash}
printf '%s\\0' "sh" >>"$LOG"
exec {bash} "$@"
"""

FRAGMENTS = [
    "git diff", "git", "diff", "ls", "-la", "a.txt", "evil", "rm", "x", "HEAD^", "--stat",
    " ", "  ", "\t", "\n", "\r", "\u00a0", "\u3000", "\u2028", "\v", "\f",
    ";", ";;", "&", "&&", "|", "||", "|&", "(", ")", "((", "))", "{", "}", "{ ", "; }", "!",
    "$(", "`", "$((", "${x:-", "${", "$x", "$", "$'", '$"', "$[", "]", "${x@P}",
    "<(", ">(", "<", ">", ">>", "2>", "2>&1", ">&", "&>", "<<E\n", "<<'E'\n", "<<-E\n", "\nE\n", "<<<", "E",
    "/dev/null", ">/dev/null", "2>&1 ", "<&-",
    "'", '"', "\\", "\\\n", "#", " #", "~", "*", "?", "[ab]", "{a,b}", "{evil,x}", "{}", "\\;",
    "x=1 ", "x=evil ", "PAGER=evil ", "x+=1 ", "x[0]=1 ", "x=(", "eval ", "eval evil", "exec ", "command -p ",
    "builtin ", "env ", "env x=1 ", "sudo ", "xargs ", "nohup ", "sh -c ", "sh ", "time ", "time -p ",
    "trap 'evil x' EXIT", "alias ls=evil\n", "shopt -s expand_aliases\n", "shopt -s extglob\n",
    "if ", "then ", "fi", "while ", "do ", "done", "for f in x; do ", "for f do ", "case x in x) ", "esac",
    "in ", "select f in x; do ", "f() ", "f() { ", "function f ", "coproc ", "[[ ", " ]]", "=~ ", "@(", "!(",
    "set -- evil\n", "g\\it", '"git"', "'git' ", "ev'i'l", 'e"v"il', "e\\vil", "ev\\\nil", "./evil", "é",
    "$(evil x)", "`evil x`", "<(evil x)", "${x:-$(evil x)}", "$((x[$(evil x)]))",
    "&evil x;", "|evil x|", ";evil x;",
    "\nevil x\n", "\\\nevil x", "(evil x)", "{ evil x; }",
    "&& evil x #", "'evil x'", '"$(evil x)"', "eval 'evil x' ",
]  # fmt: skip

scripts = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=9).map("".join).filter(str.strip)
around = st.tuples(scripts, st.sampled_from(["git diff", "ls -la", "evil x", "rm x"]), scripts).map("".join)
PLAIN = [
    "git diff",
    "ls -la",
    "ls 'evil x'",
    'git diff "rm x"',
    "ls 2>&1",
    "git diff >/dev/null",
    "ls \\\n evil",
]
joined = st.lists(st.sampled_from(PLAIN), min_size=1, max_size=4).flatmap(
    lambda commands: st.sampled_from([";", "&&", " || ", " | ", "\n"]).map(lambda joint: joint.join(commands))
)
printable = st.characters(codec="utf-8", exclude_characters="\0")


@st.composite
def changed(draw: st.DrawFn) -> str:
    """Return a text that a rule allows, with something put into it."""
    script = draw(joined)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(script)))
        script = script[:at] + draw(st.one_of(st.sampled_from(FRAGMENTS), printable)) + script[at:]
    return script


class Bench:
    """An empty world with stubs, in which texts are run."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.log = folder / "log"
        self.bin.mkdir()
        for names, text in (
            (("git", "ls", "x", "diff", "a.txt", "E", *DANGERS), STUB),
            (("env", "sudo", "xargs", "nohup"), RUNNER),
            (("sh",), SHELL),
        ):
            for name in names:
                (self.bin / name).write_text(text.format(bash=BASH), encoding="utf-8")
                (self.bin / name).chmod(0o700)

    def ran(self, script: str) -> list[str]:
        """Return name and first argument of each stub that real bash ran."""
        with tempfile.TemporaryDirectory(dir=self.bin.parent) as folder:
            self.log.write_bytes(b"")
            shutil.copy(self.bin / "evil", folder)
            process = subprocess.Popen(
                [BASH, "-c", 'ulimit -f 2000 -t 5; exec "$0" -c "$1"', BASH, script],
                cwd=folder,
                env={"PATH": str(self.bin), "LOG": str(self.log), "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LONGEST)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, 0)
                time.sleep(0.05)  # what runs in the background has its time to write its line
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return self.log.read_text("utf-8", errors="replace").split("\0")[:-1]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def verdict(script: str, folder: Path, **rules: list[str]) -> str:
    values = MewCode(**rules)
    permissions = Permissions(values)
    context = ToolContext("s", folder, MemoryStore(folder, folder), values, permissions)
    tool = Bash()
    return permissions.decide(tool.action(tool.Arguments(command=script), context))[0]


def is_covered(line: str) -> bool:
    words = line.split(" ")
    return words[0] == "ls" or words[:2] == ["git", "diff"]


def test_stubs_tell_what_bash_runs(bench: Bench) -> None:
    """Without this the two tests below could pass for want of anything that runs."""
    ran = bench.ran("git diff x | ls -la; $(echo evil) a; env x=1 sudo rm b; sh -c 'evil c'; ./evil d")
    assert sorted(ran) == sorted(
        ["git diff", "ls -la", "evil a", "env", "sudo", "rm b", "sh", "evil c", "evil d"]
    )


@given(script=st.one_of(scripts, around, changed()))
@settings(max_examples=500)
def test_text_that_runs_what_no_rule_covers_is_not_covered(script: str, bench: Bench) -> None:
    if verdict(script, bench.bin, allow=ALLOW) == "yes":
        assert [line for line in bench.ran(script) if not is_covered(line)] == []


@given(script=st.one_of(scripts, around))
@settings(max_examples=300)
@example(script="<&-evil x")
@example(script="nohup env {evil,x}")
def test_command_that_runs_is_met_by_its_deny_rule(script: str, bench: Bench) -> None:
    met = {name: verdict(script, bench.bin, deny=[f"Bash({name} *)"]) == "no" for name in DANGERS}
    if not all(met.values()):
        ran = {line.split(" ")[0] for line in bench.ran(script)}
        assert [name for name in DANGERS if name in ran and not met[name]] == []
