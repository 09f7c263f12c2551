"""A conversation cut into turns."""

from typing import Any

import pytest

from mewcode_magic.messages import Message
from mewcode_magic.sessions import Turn, turns_of


def prompt(text: str) -> Message:
    return Message(role="user", content=text)


def reply(*blocks: str | dict[str, Any], **extra: Any) -> Message:
    content = [block if isinstance(block, dict) else {"type": "text", "text": block} for block in blocks]
    return Message(role="assistant", content=content, **extra)


CALL = {"type": "tool_use", "id": "t1", "name": "RunPython", "input": {}}
RESULT = Message(
    role="user",
    content=[{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}],
    variables={"t1": ["x"]},
)


def test_turn_is_a_prompt_and_all_up_to_the_next() -> None:
    answers = [reply("Let me see.", CALL), RESULT, reply("Done.", model="claude-test")]
    first, second = turns_of([reply("lost its prompt"), prompt("go"), *answers, prompt("unanswered")])
    assert (first.number, first.prompt.text(), first.answers) == (0, "go", answers)
    assert (first.text, first.model, first.is_done) == ("Done.", "claude-test", True)
    assert first.results()["t1"]["content"] == "ok"
    assert first.variables() == {"t1": ["x"]}
    assert (second.number, second.prompt.text(), second.answers) == (1, "unanswered", [])
    assert (second.text, second.model) == ("", "")


@pytest.mark.parametrize(
    "answers",
    [[], [reply("half", interrupted=True)], [reply(CALL)], [reply(CALL), RESULT]],
    ids=["failed", "stopped", "crashed", "limit of rounds"],
)
def test_turn_without_a_final_answer_is_not_done(answers: list[Message]) -> None:
    assert not Turn(0, prompt("go"), answers).is_done
