"""The file tools as a model uses them: several calls in a turn, recorded, and sent as the API takes them."""

from pathlib import Path

from PIL import Image
from request_rules import broken_rules

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.events import PermissionAsked, ToolEnded
from mewcode_magic.messages import Block
from mewcode_magic.model.scripted import Scripted


def call(number: int, name: str, **arguments: object) -> Block:
    return {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}


def test_agent_finds_reads_and_edits_in_one_turn(project: Path, home: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text("total = 1\nprint(total)\n")
    Image.new("RGB", (30, 20)).save(project / "plot.png")
    model = Scripted(
        [
            [
                call(1, "Glob", pattern="*.py"),
                call(2, "Grep", pattern="total"),
                call(3, "ReadFile", path="src/a.py"),
            ],
            [
                call(4, "EditFile", path="src/a.py", old="total = 1", new="total = 2"),
                call(5, "EditFile", path="src/a.py", old="total = 2", new="total = 3"),
                call(6, "WriteFile", path="notes.md", content="# Notes\n"),
                call(7, "WriteFile", path="src/a.py", content="total = 4\n"),
                call(8, "ReadFile", path="plot.png"),
            ],
            "Done.",
            "Nothing more.",
        ]
    )
    mew = Mew(project, home, model, settings=MewCode(extract="off", recall=False))
    ended: list[ToolEnded] = []
    questions: list[str] = []
    for event in mew.ask("raise the total"):
        if isinstance(event, PermissionAsked):
            questions.append(event.question)
            event.reply("yes")
        elif isinstance(event, ToolEnded):
            ended.append(event)
    assert [event.result for event in ended if event.is_error] == []
    assert ended[0].result == "src/a.py"
    assert ended[1].result == "src/a.py:1:total = 1\nsrc/a.py:2:print(total)"
    assert [event.language for event in ended] == ["", "", "", "diff", "diff", "diff", "diff", ""]
    assert questions == ["Change src/a.py?", "Change src/a.py?", "Create notes.md?", "Change src/a.py?"]
    assert (project / "src" / "a.py").read_text() == "total = 4\n"
    session = mew.session.id
    mew.close()

    again = Mew(project, home, model, settings=MewCode(extract="off", recall=False))
    again.resume(session)
    list(again.ask("and now?"))
    again.close()
    for request in model.requests:
        body = {"messages": request.messages, "tools": request.tools}
        assert broken_rules(body) == []
    results = [
        block
        for message in model.requests[-1].messages
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert [part["type"] for part in results[-1]["content"]] == ["text", "image"]
