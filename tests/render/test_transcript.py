import pytest
from exported_sessions import info

from mewcode_magic.messages import Message
from mewcode_magic.render import transcript_text, transcript_view
from mewcode_magic.render.notebook import notebook_of
from mewcode_magic.render.transcript import LIMIT

CONVERSATION = [
    Message(
        role="user",
        content="load {a: $1}\n*now*",
        injected=[{"type": "text", "text": "<system-reminder>hidden</system-reminder>"}],
        time=1_795_900_000.0,
    ),
    Message(
        role="assistant",
        content=[
            {"type": "thinking", "thinking": "hidden", "signature": "s"},
            {"type": "text", "text": "I *look* at <b>it</b>.\n\n```py\nunclosed"},
            {"type": "tool_use", "id": "t1", "name": "ReadFile", "input": {"path": "a`b.csv"}},
            {"type": "tool_use", "id": "t2", "name": "ReadFile", "input": {"path": "gone.csv"}},
        ],
        model="a-model",
    ),
    Message(
        role="user",
        content=[
            {"type": "tool_result", "tool_use_id": "t1", "content": "a long table"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": [{"type": "text", "text": "no <file>"}],
                "is_error": True,
            },
        ],
    ),
    Message(role="assistant", content="Half an", model="a-model", interrupted=True),
]


def test_text_has_prompts_answers_and_a_line_a_call() -> None:
    lines = transcript_text(CONVERSATION).split("\n")
    assert lines[0].startswith("You · 2026-11-2")
    assert lines[1:] == [
        *("load {a: $1}", "*now*", ""),
        *("a-model", "I *look* at <b>it</b>.", "", "```py", "unclosed", ""),
        *("[ReadFile: a`b.csv]", "[ReadFile: gone.csv - failed: no <file>]", ""),
        *("a-model · stopped", "Half an"),
    ]


def test_markdown_keeps_prompts_word_for_word_and_closes_what_is_open() -> None:
    view = transcript_view(CONVERSATION)
    assert view.plain == transcript_text(CONVERSATION)
    assert "```\nload {a: $1}\n*now*\n```" in view.markdown
    assert (
        "I *look* at &#60;b>it&#60;/b>.\n\n```py\nunclosed\n```\n\n- ``ReadFile: a`b.csv``" in view.markdown
    )
    assert "hidden" not in view.markdown
    assert "a long table" not in view.markdown


def test_a_long_conversation_is_shown_from_its_end() -> None:
    many = [Message(role="user", content=f"{n} " + "x" * 5_000) for n in range(100)]
    text = transcript_text(many)
    assert len(text) < LIMIT + 2_000
    assert text.startswith("[… 8")
    assert "99 xxx" in text


def test_a_huge_message_is_cut() -> None:
    text = transcript_text([Message(role="assistant", content="y" * 12_000_000)])
    assert len(text) < 11_000
    assert text.endswith("… 11,990,000 more characters")


def test_no_messages_are_no_text() -> None:
    assert transcript_view([]).plain == ""


@pytest.mark.parametrize("ts", [1e300, -1e300, 1e18, -62_135_596_800.0])
def test_time_that_no_calendar_has_does_not_cost_the_transcript(ts: float) -> None:
    told = transcript_text([Message(role="user", content="hello", time=ts)])
    assert told.startswith("You")
    assert told.endswith("\nhello")


@pytest.mark.parametrize("name", ["", None, "\n", 7])
@pytest.mark.parametrize("given", [None, "x", [1], 1, {}])
def test_call_of_any_form_has_a_line(name: object, given: object) -> None:
    use = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    failed = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": ["odd", {"text": None}],
        "is_error": True,
    }
    messages = [Message(role="assistant", content=[use]), Message(role="user", content=[failed])]
    told = "7" if name == 7 else "a call without a name"
    assert transcript_text(messages).startswith(f"[{told} - failed:")
    assert f"`{told} - failed:" in (transcript_view(messages).markdown or "")
    assert told in notebook_of(info(), messages).decode()
