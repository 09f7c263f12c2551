"""`ProposeCell`: what a front end is given to insert, and what is shown where nothing can be inserted."""

import re

import pytest
from live_kernel import LiveKernel, call
from tool_calls import run_tool

from mewcode_magic.events import Event, TextDelta
from mewcode_magic.kernel.proposing import code_of
from mewcode_magic.tools import ProposeCell, ToolContext

FENCED = "```python\nx = 1\n```"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1", "x = 1"),
        (FENCED, "x = 1"),
        (f"\n\n{FENCED}\n\n", "x = 1"),
        ("```\nx = 1\n```", "x = 1"),
        ("~~~py\nx = 1\n~~~", "x = 1"),
        ("``` python {.cell}\nx = 1\n```", "x = 1"),
        ("```python\nx = 1", "x = 1"),
        ("```python\r\nx = 1\r\n```", "x = 1"),
        (f"````markdown\n{FENCED}\n````", "x = 1"),
        (f"```\n{FENCED}\n```", "x = 1"),
        (f"{FENCED}\n\n```python\ny = 2\n```", "x = 1\n\ny = 2"),
        (f"{FENCED}\nThen:\n```python\ny = 2\n```", "x = 1\n\ny = 2"),
        ("```python\ntext = '''\n```\ninner\n```\n'''\n```", "text = '''\n```\ninner\n```\n'''"),
        ("def f():\n    '''Doc.\n\n    ```\n    f()\n    ```\n    '''", None),
        ("%%bash\necho `date`", None),
        ("print('```')", None),
        ("  indented = 1", None),
        ("```\n```", ""),
        ("", ""),
    ],
)
def test_fences_around_code_are_taken_off_and_others_left(text: str, code: str | None) -> None:
    assert code_of(text) == (text if code is None else code)


@pytest.mark.parametrize("code", ["", " \n", "```python\n\n```"])
def test_proposal_without_code_is_an_error_result(context: ToolContext, code: str) -> None:
    assert run_tool(ProposeCell(), context, code=code).is_error


def test_script_is_given_the_code_in_the_answer(context: ToolContext) -> None:
    events: list[Event] = []
    context.settings.permission_mode = "read-only"
    result = run_tool(ProposeCell(), context, asked=events, code="s = '```'", title="Quote a fence")
    assert [e.text for e in events if isinstance(e, TextDelta)] == [
        "````python\n# Quote a fence\ns = '```'\n````\n"
    ]
    assert not result.is_error
    assert "part of your answer" in result.text


def proposing(kernel: LiveKernel, *calls: str) -> None:
    kernel.run("%config MewCode.permission_mode = 'read-only'")
    kernel.script(*calls, "'That was it.'")


def test_code_goes_into_one_new_cell_below_without_a_question(kernel: LiveKernel) -> None:
    proposing(kernel, call("ProposeCell", code=FENCED, title="Set\nx"))
    seen = kernel.run("%agent go")
    assert seen.prompts == []
    assert seen.payload == [{"source": "set_next_input", "text": "# Set x\nx = 1", "replace": False}]
    (line,) = [d["text/html"] for d in seen.shown() if "<b>ProposeCell</b>" in d.get("text/html", "")]
    assert "x = 1" in line
    assert kernel.run("1").payload == []


def test_all_that_a_turn_proposes_is_one_cell_in_order(kernel: LiveKernel) -> None:
    proposing(kernel, *(call("ProposeCell", code=f"x = {n}") for n in range(3)))
    seen = kernel.run("%agent go")
    assert [p["text"] for p in seen.payload] == ["x = 0\n\nx = 1\n\nx = 2"]
    assert "Joined to the cell proposed before." in kernel.told_text()


def test_magic_for_a_whole_cell_is_not_joined_to_other_code(kernel: LiveKernel) -> None:
    proposing(kernel, call("ProposeCell", code="%%bash\necho"), call("ProposeCell", code="x = 1"))
    seen = kernel.run("%agent go")
    assert [p["text"] for p in seen.payload] == ["%%bash\necho"]
    assert kernel.told()["is_error"] is True
    assert "whole cell" in kernel.told_text()


def test_code_that_runs_between_proposals_changes_none(kernel: LiveKernel) -> None:
    kernel.run("%config MewCode.permission_mode = 'auto'")
    code = "get_ipython().set_next_input('mine')\nlen?"
    kernel.script(call("ProposeCell", code="x = 1"), call("RunPython", code=code), "'That was it.'")
    assert [p["text"] for p in kernel.run("%agent go").payload] == ["x = 1"]


def test_nobody_there_is_shown_the_code_once(kernel: LiveKernel) -> None:
    proposing(kernel, call("ProposeCell", code="x = 1"))
    seen = kernel.run("%agent go", present=False)
    assert seen.payload == []
    assert [d["text/markdown"] for d in seen.shown() if "x = 1" in d.get("text/markdown", "")] == [
        "```python\nx = 1\n```"
    ]


@pytest.mark.parametrize("end", ["interrupt", "error"])
def test_proposal_of_a_turn_that_fails_is_shown_and_not_inserted(kernel: LiveKernel, end: str) -> None:
    kernel.run("%config MewCode.permission_mode = 'auto'")
    wait = call("RunPython", code="print('began')\nimport time\ntime.sleep(60)")
    after = [wait, "''"] if end == "interrupt" else []  # a script without a reply is an error
    kernel.script(call("ProposeCell", code="x = '<b>'"), *after)
    seen = kernel.run("%agent go", interrupt_when=lambda seen: "began" in seen.text())
    assert seen.status == "error"
    assert seen.payload == []
    (told,) = [data for data in seen.shown() if "not inserted" in data["text/plain"]]
    assert "x = &#x27;&lt;b&gt;&#x27;" in told["text/html"]
    assert re.search(r"^    x = '<b>'$", told["text/plain"], re.MULTILINE)
    assert kernel.run("1").payload == []
