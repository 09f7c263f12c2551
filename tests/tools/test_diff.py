"""A diff says what changes: applied to the old text by `git apply`, it gives the new one."""

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mewcode_magic.tools.diff import unified_diff

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d"]), max_size=30).map("".join)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, TEXTS)
def test_diff_turns_the_old_text_into_the_new_one(project: Path, old: str, new: str) -> None:
    path = project / "a.txt"
    path.write_text(old)
    diff = unified_diff(old, new, "a.txt")
    if old == new:
        assert diff == "--- a.txt\n+++ a.txt"
        return
    options = ["--unidiff-zero", "-p0", "--whitespace=nowarn", "-"]
    subprocess.run(["git", "apply", *options], input=diff + "\n", text=True, check=True, cwd=project)
    assert (path.read_text() if path.exists() else "") == new


def test_line_ends_of_the_old_lines_are_a_part_of_the_diff() -> None:
    assert "-a\r\n+a" in unified_diff("a\r\n", "a\n", "a.txt")
