"""Whatever goes wrong in a call is a short result, and what was allowed is what is done."""

from pathlib import Path

import msgspec
import pytest
from tool_calls import run_tool

from mewcode_magic.config import MewCode
from mewcode_magic.errors import StorageError
from mewcode_magic.events import PermissionAsked
from mewcode_magic.tools import ToolContext, ToolResult, ToolRun, all_tools, run_call
from mewcode_magic.tools.change import change_of


class NoArguments(msgspec.Struct, forbid_unknown_fields=True):
    """None."""


class BrokenError(Exception):
    """An exception that cannot even be told."""

    def __str__(self) -> str:
        raise RuntimeError("broken")


class Raising:
    """A tool that raises, before the question or behind it."""

    name = "Raising"
    Arguments = NoArguments
    writes_memory = False
    definition: dict[str, object] = {}  # noqa: RUF012 - never changed

    def __init__(self, error: BaseException, *, early: bool) -> None:
        self.error, self.early = error, early

    def action(self, _arguments: NoArguments, _context: ToolContext) -> None:
        if self.early:
            raise self.error

    def run(self, _arguments: NoArguments, _context: ToolContext) -> ToolRun:
        yield from ()
        raise self.error


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("oh"),
        SystemExit(3),
        RecursionError(),
        MemoryError(),
        ExceptionGroup("several", [ValueError()]),
        BaseException("root"),
        StopIteration(),
        BrokenError(),
        ValueError("x" * 100_000_000),
        OSError(5, "a\nb"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_tool_that_raises_is_a_short_error_result(
    context: ToolContext, error: BaseException, *, early: bool
) -> None:
    result = run_tool(Raising(error, early=early), context)
    assert result.is_error
    assert result.text.startswith("Raising failed: ")
    assert len(result.text) < 700
    assert "\n" not in result.text


@pytest.mark.parametrize("tool", [tool.name for tool in all_tools(MewCode())])
@pytest.mark.parametrize(
    "given",
    [
        {"nothing of the kind": 1},
        {"x" * 1_000_000: 1},
        {"path": 5, "code": [], "command": {}, "names": 7, "query": None, "pattern": 1, "action": 2},
        [],
        "text",
        None,
    ],
    ids=["unknown", "long", "types", "list", "text", "none"],
)
def test_arguments_that_do_not_fit_are_told_shortly(context: ToolContext, tool: str, given: object) -> None:
    tools = {one.name: one for one in all_tools(context.settings)}
    with pytest.raises(StopIteration) as ended:
        next(run_call({"id": "t1", "name": tool, "input": given}, tools, context))
    result: ToolResult = ended.value.value
    assert result.is_error
    assert result.text.startswith("the arguments do not fit: ")
    assert len(result.text) < 700


def test_tool_that_is_not_there_is_told_shortly(context: ToolContext) -> None:
    tools = {one.name: one for one in all_tools(context.settings)}
    with pytest.raises(StopIteration) as ended:
        next(run_call({"id": "t1", "name": "x" * 1_000_000, "input": {}}, tools, context))
    assert ended.value.value.is_error
    assert "ReadFile" in ended.value.value.text
    assert len(ended.value.value.text) < 1_000


@pytest.mark.parametrize("swapped", ["file", "folder", "folder above"])
@pytest.mark.parametrize("tool", ["ReadFile", "WriteFile", "EditFile", "Glob", "Grep"])
def test_link_that_comes_in_while_the_user_is_asked_is_not_followed(
    context: ToolContext, project: Path, tmp_path: Path, tool: str, swapped: str
) -> None:
    asked_of = tmp_path / "asked" if tool in ("ReadFile", "Glob", "Grep") else project
    elsewhere = tmp_path / "elsewhere"
    for top in (asked_of, elsewhere):
        (top / "a" / "b").mkdir(parents=True)
        (top / "a" / "b" / "c.txt").write_text("secret\n" if top == elsewhere else "one\n")
    target = asked_of / "a" / "b" / "c.txt"
    tools = {one.name: one for one in all_tools(context.settings)}
    # The agent may know both files.
    for path in (target, elsewhere / "a" / "b" / "c.txt"):
        run_tool(tools["ReadFile"], context, answer="yes", path=str(path))
    if tool == "WriteFile":
        target.unlink()
    given = {
        "ReadFile": {"path": str(target)},
        "WriteFile": {"path": str(target), "content": "mine\n"},
        "EditFile": {"path": str(target), "old": "one", "new": "mine"},
        "Glob": {"path": str(target.parent), "pattern": "*"},
        "Grep": {"path": str(target.parent), "pattern": "."},
    }[tool]
    run = run_call({"id": "t1", "name": tool, "input": given}, tools, context)
    event = next(run)
    assert isinstance(event, PermissionAsked)
    place = {"file": target, "folder": target.parent, "folder above": target.parent.parent}[swapped]
    if place.exists():
        place.rename(tmp_path / "moved")
    place.symlink_to(elsewhere / place.relative_to(asked_of))
    event.reply("yes")
    with pytest.raises(StopIteration) as ended:
        next(run)
    result: ToolResult = ended.value.value
    searches_folder = tool in ("Glob", "Grep") and swapped == "file"
    assert result.is_error or searches_folder
    assert "secret" not in result.text
    assert (elsewhere / "a" / "b" / "c.txt").read_text() == "secret\n"
    assert [path.name for path in (elsewhere / "a" / "b").iterdir()] == ["c.txt"]


@pytest.mark.parametrize("place", ["a.txt", "."])
def test_link_that_comes_in_at_the_last_moment_is_not_written_through(
    context: ToolContext, project: Path, tmp_path: Path, place: str
) -> None:
    folder = project / "sub"
    folder.mkdir()
    change = change_of(folder / "a.txt", None, "mine\n")
    (tmp_path / "elsewhere").mkdir()
    if place == ".":
        folder.rmdir()
    (folder / place).symlink_to(tmp_path / "elsewhere" / place)
    with pytest.raises(StorageError, match="a link has taken the place"):
        change.write(context)
    assert list((tmp_path / "elsewhere").iterdir()) == []
