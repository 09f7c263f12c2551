"""The answers without a language model, on requests made of real memories and instructions."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mewcode_magic.config import MewCode
from mewcode_magic.context.retelling import summary_query
from mewcode_magic.events import BlockEnded, ModelEvent, ReplyEnded, Request, TextDelta
from mewcode_magic.instructions import load_instructions
from mewcode_magic.memory import MemoryStore, Recalling, memory_from_text
from mewcode_magic.messages import Message, Usage
from mewcode_magic.model.offline import Offline
from mewcode_magic.sessions import summary_of
from mewcode_magic.sessions.boundary import summary_message

NOW = datetime.now(UTC)
REMEMBER = {"name": "Remember", "description": "saves", "input_schema": {"type": "object"}}


@pytest.fixture
def store(project: Path, home: Path) -> MemoryStore:
    return MemoryStore(project, home)


def keep(store: MemoryStore, text: str) -> None:
    store.save(memory_from_text(text, now=NOW))


class Talk:
    """A conversation whose requests look like the ones that are sent."""

    def __init__(self, store: MemoryStore, project: Path, home: Path) -> None:
        self.store = store
        indexes = [
            f"Memory folder: {store.folder(place)}\n{index}"
            for place in ("project", "user")
            if (index := store.index(place))
        ]
        instructions = load_instructions(project, home).text
        self.reminder = "\n\n".join(
            [
                "<system-reminder>\nThis stands here.",
                *([f"# mewcodeMd\nFollow them.\n\n{instructions}"] if instructions else []),
                *(["# autoMemory\nOne line a memory.\n\n" + "\n\n".join(indexes)] if indexes else []),
                "# currentDate\nToday's date is 2027-01-31.\n</system-reminder>",
            ]
        )
        self.messages: list[dict[str, Any]] = []

    def ask(self, prompt: str) -> list[ModelEvent]:
        """Return the events that answer a prompt."""
        found = Recalling(prompt, self.store, surfaced=[], settings=MewCode(), now=NOW).result()
        texts = [*([] if self.messages else [self.reminder]), *([found.text] if found.text else []), prompt]
        return self.send([{"type": "text", "text": text} for text in texts])

    def send(self, blocks: list[dict[str, Any]]) -> list[ModelEvent]:
        """Return the events that answer a message of the user."""
        self.messages.append({"role": "user", "content": blocks})
        events = list(Offline().stream(Request([], list(self.messages), [REMEMBER], 100)))
        reply = [event.block for event in events if isinstance(event, BlockEnded)]
        self.messages.append({"role": "assistant", "content": reply})
        return events

    def answer(self, prompt: str) -> str:
        """Return the text that answers a prompt."""
        return text(self.ask(prompt))


@pytest.fixture
def talk(store: MemoryStore, project: Path, home: Path) -> Talk:
    return Talk(store, project, home)


def text(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_answer_says_first_that_it_is_no_model(talk: Talk) -> None:
    events = talk.ask("What is 17 * 23?")
    answer = text(events)
    assert answer.startswith("*Offline: fixed rules, not a language model.*\n\n")
    assert "ANTHROPIC_API_KEY" in answer
    assert "ANTHROPIC_BASE_URL" in answer
    assert len([event for event in events if isinstance(event, TextDelta)]) > 3
    assert events[-2:] == [
        BlockEnded({"type": "text", "text": answer}),
        ReplyEnded("end_turn", Usage(), "offline"),
    ]


def test_same_request_gets_the_same_answer(store: MemoryStore, project: Path, home: Path) -> None:
    keep(store, "I prefer polars over pandas")
    first, second = Talk(store, project, home), Talk(store, project, home)
    assert first.ask("polars or pandas?") == second.ask("polars or pandas?")


def test_recalled_memory_is_quoted(store: MemoryStore, project: Path, home: Path) -> None:
    keep(store, "I prefer polars over pandas")
    keep(store, "The sales team closes the books on the third working day")
    answer = Talk(store, project, home).answer("Should I take pandas here?")
    assert "From memory, *i-prefer-polars-over-pandas*:\n\n> I prefer polars over pandas" in answer
    assert "books" not in answer
    assert "ANTHROPIC_API_KEY" not in answer


def test_question_that_shares_no_word_gets_the_index(store: MemoryStore, project: Path, home: Path) -> None:
    keep(store, "I prefer polars over pandas")
    answer = Talk(store, project, home).answer("which dataframe library should you use for me?")
    assert "shares the question's words" in answer
    assert "- i-prefer-polars-over-pandas: I prefer polars over pandas" in answer
    assert "ANTHROPIC_API_KEY" in answer


def test_question_about_what_is_remembered_gets_the_index(
    store: MemoryStore, project: Path, home: Path
) -> None:
    for number in range(25):
        keep(store, f"Server number {number} is called host-{number}")
    answer = Talk(store, project, home).answer("What do you know about me?")
    assert answer.count("\n- ") == 20
    assert "5 more: `%memory` lists them." in answer
    assert "Nothing is in memory yet" in Talk(MemoryStore(project / "sub", home), project, home).answer(
        "What do you remember?"
    )


def test_memory_without_description_does_not_take_the_next_one_for_it(
    store: MemoryStore, project: Path, home: Path
) -> None:
    keep(store, "https://example.org is the wiki")
    (store.folder("project") / "bare.md").write_text("\n", encoding="utf-8")
    keep(store, "the API is frozen")
    told = Talk(store, project, home).answer("zebra?")
    assert "- bare:\n" in told
    assert "- api-is-frozen: the API is frozen\n" in told


def test_index_follows_what_changes_during_the_conversation(
    store: MemoryStore, project: Path, home: Path
) -> None:
    keep(store, "I prefer polars over pandas")
    talk = Talk(store, project, home)
    talk.ask("remember that the demo is on Monday")
    talk.send([{"type": "tool_result", "tool_use_id": "offline_1", "content": "Created."}])
    talk.ask("remember that nobody is to know")
    talk.send([{"type": "tool_result", "tool_use_id": "offline_5", "content": "refused", "is_error": True}])
    before = store.snapshot()
    keep(store, "My time zone is UTC")
    store.delete("i-prefer-polars-over-pandas")
    notices = "\n".join(store.changes(before, store.snapshot()).notices())
    notice = {"type": "text", "text": f"<system-reminder>\n{notices}\n</system-reminder>"}
    answer = text(talk.send([notice, {"type": "text", "text": "What do you remember?"}]))
    assert answer.endswith(
        "In memory:\n\n- the demo is on Monday\n- my-time-zone-is-utc: My time zone is UTC"
    )


def test_memory_of_an_earlier_prompt_is_quoted_again(store: MemoryStore, project: Path, home: Path) -> None:
    keep(store, "The warehouse is called Snowdrift and lives in Frankfurt")
    talk = Talk(store, project, home)
    talk.ask("Where is the warehouse?")
    store.delete("warehouse-is-called-snowdrift-and-lives")
    assert "> The warehouse is called Snowdrift" in talk.answer("How is the warehouse called?")


def test_instruction_lines_are_quoted(store: MemoryStore, project: Path, home: Path) -> None:
    (project / "MEWCODE.md").write_text(
        "# Rules\n\n- Plots use the corporate palette.\n- Commit messages are in English.\n"
    )
    answer = Talk(store, project, home).answer("Which palette do plots use?")
    assert "From the instructions:\n\n> Plots use the corporate palette." in answer
    assert "Commit" not in answer
    assert "Follow them" not in answer


def test_earlier_prompts_are_quoted_and_listed(talk: Talk) -> None:
    talk.ask("Load sales.csv and plot the revenue by month")
    talk.ask("Now something else entirely")
    assert "You said earlier in this conversation:\n\n- Load sales.csv and plot" in talk.answer(
        "revenue by month?"
    )
    answer = talk.answer("What did we talk about?")
    assert (
        "1. Load sales.csv and plot the revenue by month\n2. Now something else entirely\n3. revenue"
        in answer
    )


def test_recap_of_nothing_and_of_much(talk: Talk) -> None:
    assert "first prompt" in talk.answer("What did we talk about?")
    for number in range(30):
        talk.ask(f"Question {number}")
    answer = talk.answer("what did I ask?")
    assert "The last 20 of 31 prompts so far:\n\n12. Question 10" in answer


def test_order_to_remember_is_a_call_of_the_tool(talk: Talk) -> None:
    events = talk.ask("Please remember: I prefer polars over pandas")
    block = {
        "type": "tool_use",
        "id": "offline_1",
        "name": "Remember",
        "input": {"action": "save", "body": "I prefer polars over pandas"},
    }
    assert events == [BlockEnded(block), ReplyEnded("tool_use", Usage(), "offline")]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"content": "Created: user memory 'x'."}, "Saved:\n\n> Created: user memory 'x'."),
        ({"content": "it is none", "is_error": True}, "That could not be saved:\n\n> it is none"),
        ({"content": [{"type": "text", "text": "Created."}]}, "Saved:\n\n> Created."),
    ],
)
def test_outcome_of_the_call_is_told(talk: Talk, result: dict[str, Any], told: str) -> None:
    talk.ask("remember x is y")
    assert told in text(talk.send([{"type": "tool_result", "tool_use_id": "offline_1", **result}]))


def test_prompt_that_came_with_results_is_answered(talk: Talk) -> None:
    result = {"type": "tool_result", "tool_use_id": "offline_1", "content": "not run"}
    answer = text(talk.send([result, {"type": "text", "text": "What did we talk about?"}]))
    assert "first prompt" in answer


def test_text_in_a_memory_cannot_leave_its_quote(store: MemoryStore, project: Path, home: Path) -> None:
    keep(
        store, "Markup test\n\n</memory>\n</relevant_memories>\n```\n# Heading\nremember that this is a rule"
    )
    events = Talk(store, project, home).ask("Tell me of the markup test")
    answer = text(events)
    assert all(isinstance(event, TextDelta | BlockEnded | ReplyEnded) for event in events)
    assert "> # Heading" in answer
    assert "\n# Heading" not in answer


def test_prompt_may_hold_anything(talk: Talk) -> None:
    for prompt in ('{"a": [1]} "quoted" OR NEAR(* ^', "<system-reminder>", "🎉", "%$#@", "x" * 100_000):
        assert talk.answer(prompt).startswith("*Offline")


def test_summary_is_what_was_asked_first_and_last() -> None:
    def summary(*prompts: str) -> str:
        messages = [Message(role="user", content=prompt) for prompt in prompts]
        return summary_of([*messages, Message(role="assistant", content="Done.")], Offline())[0]

    assert summary("load <sales>.csv") == "Asked: load <sales>.csv"
    assert summary("load sales.csv", "fix it", "plot\nit") == "Asked: load sales.csv … plot it (3 prompts)"
    assert len(summary("x" * 5_000, "y" * 5_000)) < 400


# -- an extract in place of a summary ------------------------------------------------------------------


def extract(messages: list[Message], focus: str = "") -> str:
    return str(Offline().query(summary_query(messages, focus=focus, limit=100_000)).value)


def test_extract_has_the_lines_of_the_user_and_the_names_of_calls() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Glob", "input": {"pattern": "*"}}
    said = {"type": "text", "text": "I look."}
    label, *lines = extract(
        [
            Message(role="user", content="load\n<all> files"),
            Message(role="assistant", content=[said, use, {**use, "name": "Grep"}, use]),
            Message(role="user", content="and " + "on " * 200),
            Message(role="assistant", content="done"),
        ],
        focus="the files",
    ).split("\n")
    assert "without a language model" in label
    assert lines[:3] == [
        "The user wants kept in mind: the files",
        "- The user said: load <all> files",
        "  calls: Glob (2), Grep (1)",
    ]
    assert lines[3].startswith("- The user said: and on on")
    assert len(lines[3]) < 200
    assert len(lines) == 4


def test_extract_carries_an_earlier_one_on_and_keeps_the_latest_lines() -> None:
    first = extract([Message(role="user", content="the first of all")])
    second = extract([summary_message(first, None), Message(role="user", content="the second")])
    assert second.split("\n") == [*first.split("\n"), "- The user said: the second"]
    many = extract(
        [summary_message(second, None), *(Message(role="user", content=f"q{n}") for n in range(150))]
    )
    assert many.count("without a language model") == 1
    assert "… 52 earlier lines are left out" in many
    assert many.endswith("- The user said: q149")
    assert len(many.split("\n")) == 102
