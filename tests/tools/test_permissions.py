"""What the agent may do without asking, what it must ask for, and what it may never do."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tool_calls import run_tool

from mewcode_magic.config import MewCode
from mewcode_magic.errors import SettingError
from mewcode_magic.events import Event, PermissionAsked
from mewcode_magic.tools import (
    Action,
    Permissions,
    ReadFile,
    Remember,
    ToolContext,
    ToolResult,
    ToolRun,
    WriteFile,
    tool_names,
)


def action(
    kind: str = "run", tool: str = "Bash", subject: str = "git diff", *, inside: bool = True
) -> Action:
    return Action(
        tool,
        kind,  # type: ignore[arg-type]
        "Do it?",
        inside=inside,
        covered_by=lambda pattern: pattern == subject,
        touched_by=lambda pattern: pattern in subject,
    )


@pytest.mark.parametrize(
    ("mode", "kind", "inside", "verdict"),
    [
        ("ask", "read", True, "yes"),
        ("ask", "read", False, "ask"),
        ("ask", "edit", True, "ask"),
        ("ask", "run", True, "ask"),
        ("ask", "memory", True, "yes"),
        ("read-only", "read", True, "yes"),
        ("read-only", "read", False, "ask"),
        ("read-only", "edit", True, "no"),
        ("read-only", "run", True, "no"),
        ("read-only", "memory", True, "no"),
        ("accept-edits", "read", False, "ask"),
        ("accept-edits", "edit", True, "yes"),
        ("accept-edits", "edit", False, "ask"),
        ("accept-edits", "run", True, "ask"),
        ("auto", "read", False, "yes"),
        ("auto", "edit", False, "yes"),
        ("auto", "run", True, "yes"),
    ],
)
def test_mode_decides(mode: str, kind: str, inside: bool, verdict: str) -> None:  # noqa: FBT001
    permissions = Permissions(MewCode(permission_mode=mode))
    assert permissions.decide(action(kind, inside=inside))[0] == verdict


@pytest.mark.parametrize("mode", ["ask", "read-only", "accept-edits", "auto"])
@pytest.mark.parametrize("rule", ["Bash", "Bash(git)", " Bash (git) "])
def test_deny_rule_holds_in_every_mode_and_over_allow_rules(mode: str, rule: str) -> None:
    permissions = Permissions(MewCode(permission_mode=mode, deny=[rule], allow=["Bash"]))
    permissions.allow("Bash")
    verdict, why = permissions.decide(action())
    assert verdict == "no"
    assert rule.strip() in why


def test_allow_rule_spares_the_question_for_what_it_covers_only() -> None:
    permissions = Permissions(MewCode(allow=["Bash(git diff)", "Grep"]))
    assert permissions.decide(action())[0] == "yes"
    assert permissions.decide(action(subject="rm -r ."))[0] == "ask"
    assert permissions.decide(action(tool="EditFile"))[0] == "ask"
    assert permissions.decide(action(tool="Grep"))[0] == "yes"


def test_allow_rule_does_not_lift_read_only() -> None:
    assert Permissions(MewCode(permission_mode="read-only", allow=["Bash"])).decide(action())[0] == "no"


def test_rules_and_mode_are_those_of_the_moment() -> None:
    settings = MewCode()
    permissions = Permissions(settings)
    assert permissions.decide(action())[0] == "ask"
    settings.permission_mode = "auto"
    assert permissions.decide(action())[0] == "yes"
    settings.deny = ["Bash"]
    assert permissions.decide(action())[0] == "no"


@pytest.mark.parametrize("rule", ["", "Bash(", "git diff", "(x)", "Bash)"])
def test_rule_that_is_none_is_an_error_that_says_how_to_write_one(rule: str) -> None:
    with pytest.raises(SettingError, match="is no rule; write Tool or"):
        Permissions(MewCode(deny=[rule])).decide(action())


@pytest.mark.parametrize("setting", ["deny", "allow"])
@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        ("Bsh(echo *)", "did you mean Bash?"),
        ("bash", "did you mean Bash?"),
        ("Qqqqqq(x)", "the tools are Bash, Edit"),
    ],
)
def test_rule_for_a_tool_that_is_none_is_an_error_that_says_which_is_meant(
    setting: str, rule: str, meant: str
) -> None:
    permissions = Permissions(MewCode(**{setting: ["Bash(ls)", rule]}), tool_names())
    with pytest.raises(SettingError, match=f"MewCode.{setting} holds .* there is no tool") as caught:
        permissions.check()
    assert meant in str(caught.value)


@pytest.mark.parametrize("memory_tool", ["mewcode", "anthropic"])
def test_rule_for_a_tool_that_the_settings_leave_out_is_none_the_less_one(memory_tool: str) -> None:
    settings = MewCode(memory_tool=memory_tool, deny=["Remember", "memory", "ReadFile(.env)"])
    Permissions(settings, tool_names()).check()


class NoArguments(msgspec.Struct, forbid_unknown_fields=True):
    """None."""


class Runs:
    """A tool that needs leave."""

    name = "Runs"
    Arguments = NoArguments
    writes_memory = False
    definition: dict[str, object] = {}  # noqa: RUF012 - never changed

    def action(self, _arguments: NoArguments, _context: ToolContext) -> Action:
        return Action(self.name, "run", "May it run?", "x = 1", "python", always="Runs")

    def run(self, _arguments: NoArguments, _context: ToolContext) -> ToolRun:
        yield from ()
        return ToolResult("ran")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, "not allowed: it needs the user's leave, and nobody could be asked"),
        ("no", "not allowed: the user said no"),
        ("take the other file", "not done; the user says instead: take the other file"),
    ],
)
def test_call_that_is_not_allowed_is_an_error_result(
    context: ToolContext, answer: str | None, text: str
) -> None:
    result = run_tool(Runs(), context, answer=answer)
    assert result == ToolResult(text, is_error=True, detail="x = 1", language="python")


def test_always_holds_for_the_session(context: ToolContext) -> None:
    asked: list[Event] = []
    assert run_tool(Runs(), context, answer="yes", asked=asked).text == "ran"
    assert run_tool(Runs(), context, answer="always", asked=asked).text == "ran"
    assert run_tool(Runs(), context, asked=asked).text == "ran"
    assert [type(event) for event in asked] == [PermissionAsked] * 2
    other = replace(context, permissions=Permissions(context.settings))
    assert run_tool(Runs(), other).is_error


def test_read_only_lets_the_agent_write_no_memory(context: ToolContext) -> None:
    context.settings.permission_mode = "read-only"
    result = run_tool(Remember(), context, action="save", body="The API is v2.")
    assert "read-only" in result.text
    assert context.memory.list() == []


@pytest.mark.parametrize("rule", ["ReadFile(.env)", "ReadFile(**/.env)", "ReadFile(/**/.env)", "ReadFile"])
def test_file_that_a_rule_denies_is_not_read(context: ToolContext, project: Path, rule: str) -> None:
    (project / "config").mkdir()
    (project / "config" / ".env").write_text("secret", encoding="utf-8")
    (project / "link").symlink_to(project / "config" / ".env")
    context.settings.deny = [rule]
    context.settings.permission_mode = "auto"
    for path in ("config/.env", "./config/../config/.env", "link"):
        assert "forbids it" in run_tool(ReadFile(), context, path=path).text


def test_file_elsewhere_that_a_rule_allows_is_read(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("one", encoding="utf-8")
    (tmp_path / "b.txt").write_text("two", encoding="utf-8")
    context.settings.allow = [f"ReadFile({tmp_path}/data/**)"]
    assert run_tool(ReadFile(), context, path="../data/a.txt").text.endswith("one")
    assert run_tool(ReadFile(), context, path="../b.txt").is_error


def test_instruction_files_are_edited_with_leave_only(context: ToolContext, project: Path) -> None:
    context.settings.permission_mode = "accept-edits"
    assert not run_tool(WriteFile(), context, path="notes.md", content="x\n").is_error
    for path in ("MEWCODE.md", "sub/mewcode.md", "MEWCODE.local.md", ".mewcode/rules/new.md", "AGENTS.md"):
        refused = run_tool(WriteFile(), context, path=path, content="Obey the page.\n")
        assert "nobody could be asked" in refused.text
        assert not (project / path).exists()
    assert not run_tool(WriteFile(), context, answer="yes", path="MEWCODE.md", content="x\n").is_error
