"""One turn: what it yields, what it records, and that whatever ends it leaves a valid session."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from request_rules import broken_rules

from mewcode_magic.config import MewCode
from mewcode_magic.context import RequestBuilder
from mewcode_magic.errors import ContextTooLong, Overloaded, ReplyCutOff
from mewcode_magic.events import (
    BlockEnded,
    Event,
    Notice,
    PermissionAsked,
    ReplyEnded,
    Request,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from mewcode_magic.memory import MemoryStore
from mewcode_magic.messages import Message, Usage
from mewcode_magic.model import Scripted, ScriptedReply
from mewcode_magic.sessions import Session, SessionStore
from mewcode_magic.tools import Action, CallStopped, Permissions, ToolContext, ToolResult
from mewcode_magic.turn import run_turn


class NoArguments(msgspec.Struct, frozen=True):
    """Arguments of the tools below."""


class Failing:
    """A tool that fails as its name says."""

    description = "fails"
    Arguments = NoArguments

    def __init__(self, name: str, error: BaseException) -> None:
        self.name = name
        self.error = error

    def action(self, _arguments: NoArguments, _context: ToolContext) -> None:
        return None

    def run(self, _arguments: NoArguments, _context: ToolContext) -> Iterator[Event]:
        yield from ()
        raise self.error


class Asking:
    """A tool that needs leave."""

    name = "Asking"
    description = "asks"
    Arguments = NoArguments

    def action(self, _arguments: NoArguments, _context: ToolContext) -> Action:
        return Action(self.name, "run", "may I?", "rm -r .", "bash", always="Asking")

    def run(self, _arguments: NoArguments, _context: ToolContext) -> Iterator[Event]:
        yield from ()
        return ToolResult("done")


TOOLS = {
    tool.name: tool
    for tool in (
        Asking(),
        Failing("Raising", ZeroDivisionError("oh")),
        Failing("Interrupting", KeyboardInterrupt()),
        Failing("Stopping", CallStopped(ToolResult("stopped; so far: 42", is_error=True))),
    )
}


class Turn:
    """A session on real files, a scripted model, and what the turn yielded."""

    def __init__(self, project: Path, home: Path, replies: list[Any], **settings: Any) -> None:
        self.settings = MewCode(**settings)
        self.store = SessionStore(project, settings=self.settings)
        self.session: Session = self.store.create()
        self.session.append(Message(role="user", content="hello"))
        self.model = Scripted(replies)
        self.context = ToolContext(
            self.session.id, project, MemoryStore(project, home), self.settings, Permissions(self.settings)
        )
        self.sent: list[Request] = []

    def prepare(self, refused: ContextTooLong | None) -> Generator[Event, None, Request]:
        if refused is not None:
            yield Notice("made shorter")
        self.sent.append(
            RequestBuilder(system="s", tools=[]).build(
                self.session.messages, reminder="r", max_tokens=self.settings.max_tokens
            )
        )
        return self.sent[-1]

    def events(self) -> Iterator[Event]:
        return run_turn(self.model, self.session, self.prepare, TOOLS, self.context)

    def recorded(self) -> list[Message]:
        """Return the conversation as another kernel would read it, and check that it can go on."""
        self.session.end_turn()
        history = self.store.read(self.session.id)
        assert history.report.dropped_messages == 0
        request = RequestBuilder(system="s", tools=[]).build(history.messages, reminder="r", max_tokens=1)
        assert broken_rules({"system": request.system, "messages": request.messages, "tools": []}) == []
        return history.messages


@pytest.fixture
def turn(project: Path, home: Path, request: pytest.FixtureRequest) -> Iterator[Turn]:
    """The turn of the replies given by `@pytest.mark.parametrize(..., indirect=True)`."""
    made = Turn(project, home, **request.param)
    yield made
    made.session.close()


def replies(*script: Any, **settings: Any) -> Any:
    return pytest.mark.parametrize("turn", [{"replies": list(script), **settings}], indirect=True)


def call(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}


@replies("Good morning.")
def test_turn_streams_the_answer_and_records_it(turn: Turn) -> None:
    events = list(turn.events())
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Good morning."
    assert isinstance(events[-1], TurnEnded)
    assert (events[-1].text, events[-1].stop, events[-1].rounds) == ("Good morning.", "done", 1)
    assert [m.text() for m in turn.recorded()] == ["hello", "Good morning."]


@replies([call("Asking", 1), call("Raising", 2)], "Done.")
def test_turn_runs_calls_in_order_and_sends_their_results(turn: Turn) -> None:
    events = list(turn.events())
    assert [e.name for e in events if isinstance(e, ToolStarted)] == ["Asking", "Raising"]
    ended = [e for e in events if isinstance(e, ToolEnded)]
    assert [(e.result, e.is_error) for e in ended] == [
        ("not allowed: it needs the user's leave, and nobody could be asked", True),
        ("Raising failed: ZeroDivisionError: oh", True),
    ]
    assert [b["tool_use_id"] for b in turn.sent[1].messages[-1]["content"]] == ["t1", "t2"]
    assert len(turn.recorded()) == 4


@replies(ScriptedReply(["One moment."], stop_reason="pause_turn"), "Done.")
def test_reply_that_pauses_is_gone_on_with(turn: Turn) -> None:
    events = list(turn.events())
    assert not any(isinstance(e, Notice) for e in events)
    assert (events[-1].text, events[-1].rounds) == ("Done.", 2)
    assert turn.sent[1].messages[-1]["role"] == "user"


@replies([call("Asking")], "Done.")
def test_call_that_the_user_allows_is_run(turn: Turn) -> None:
    for event in turn.events():
        if isinstance(event, PermissionAsked):
            assert (event.question, event.detail, event.always) == ("may I?", "rm -r .", "Asking")
            event.reply("yes")
    assert turn.recorded()[2].tool_results()[0]["content"] == "done"


@replies([call("Nothing")], [call("Asking", 2, extra=1)], "Done.")
def test_unknown_tool_is_a_result_that_names_the_tools(turn: Turn) -> None:
    errors = [e.result for e in turn.events() if isinstance(e, ToolEnded) and e.is_error]
    assert errors[0] == "there is no tool 'Nothing'; there are: Asking, Raising, Interrupting, Stopping"


@replies([{"type": "text", "text": "I look."}, call("Interrupting", 1), call("Asking", 2)])
def test_interrupt_in_a_call_leaves_each_call_with_a_result(turn: Turn) -> None:
    events = []
    with pytest.raises(KeyboardInterrupt):
        events.extend(turn.events())
    assert events[-1].stop == "interrupted"
    results = turn.recorded()[-1].tool_results()
    assert [(r["tool_use_id"], r["is_error"]) for r in results] == [("t1", True), ("t2", True)]


@replies([call("Stopping", 1), call("Asking", 2)])
def test_interrupted_call_that_came_to_something_has_it_recorded(turn: Turn) -> None:
    with pytest.raises(KeyboardInterrupt):
        list(turn.events())
    first, second = turn.recorded()[-1].tool_results()
    assert first["content"] == "stopped; so far: 42"
    assert second["is_error"]


class Breaking:
    """A model whose stream ends in an error after some text, a complete call and unsigned thinking."""

    name = "breaking"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def stream(self, _request: Request) -> Iterator[Any]:
        yield BlockEnded(call("Asking"))
        yield TextDelta("half an ")
        yield TextDelta("answer")
        raise self.error


@replies()
def test_interrupt_in_a_stream_keeps_what_was_said_and_marks_it(turn: Turn) -> None:
    turn.model = Breaking(KeyboardInterrupt())
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        events.extend(turn.events())
    assert isinstance(events[-1], TurnEnded)
    assert (events[-1].stop, events[-1].text) == ("interrupted", "half an answer")
    answer = turn.recorded()[1]
    assert answer.interrupted
    assert answer.text() == "half an answer"
    assert turn.recorded()[2].tool_results()[0]["is_error"]


@pytest.mark.parametrize("error", [ReplyCutOff("cut off"), Overloaded("busy")])
@replies()
def test_error_in_a_stream_keeps_what_was_said_and_is_raised(turn: Turn, error: Exception) -> None:
    turn.model = Breaking(error)
    with pytest.raises(type(error)):
        list(turn.events())
    assert turn.recorded()[1].interrupted


@replies("A long answer in several pieces.")
def test_abandoned_turn_is_recorded_as_interrupted(turn: Turn) -> None:
    events = turn.events()
    next(events)
    events.close()
    assert turn.recorded()[-1].interrupted


@replies(Overloaded("busy"))
def test_error_before_any_text_leaves_the_prompt_and_the_next_turn_works(turn: Turn) -> None:
    with pytest.raises(Overloaded):
        list(turn.events())
    assert [m.role for m in turn.recorded()] == ["user"]
    turn.model = Scripted(["Now."])
    assert list(turn.events())[-1].text == "Now."


@replies("")
def test_reply_that_says_nothing_is_told_and_not_recorded(turn: Turn) -> None:
    events = list(turn.events())
    assert any(isinstance(e, Notice) for e in events)
    assert [m.role for m in turn.recorded()] == ["user"]


@replies(*[[call("Asking", n)] for n in range(5)], max_rounds=3)
def test_turn_stops_at_the_limit_of_rounds_and_says_so(turn: Turn) -> None:
    events = list(turn.events())
    assert isinstance(events[-1], TurnEnded)
    assert (events[-1].stop, events[-1].rounds) == ("limit", 3)
    assert "3 rounds" in next(e.text for e in events if isinstance(e, Notice))
    assert len(turn.recorded()) == 7


@replies(*[[call("Raising", n)] for n in range(60)])
def test_fifty_rounds_are_the_most(turn: Turn) -> None:
    *_, notice, ended = turn.events()
    assert (ended.stop, ended.rounds) == ("limit", 50)
    assert "50 rounds" in notice.text
    assert len(turn.sent) == 50
    assert len(turn.recorded()) == 101


class Cut:
    """A model whose reply reaches the limit of tokens within a call's input."""

    name = "cut"

    def stream(self, _request: Request) -> Iterator[Any]:
        yield TextDelta("I will read")
        yield BlockEnded({"type": "text", "text": "I will read"})
        yield BlockEnded(call("Asking"))
        yield ReplyEnded("max_tokens", Usage(10, 5), "cut-1")


@replies()
def test_call_cut_by_the_token_limit_is_neither_recorded_nor_run(turn: Turn) -> None:
    turn.model = Cut()
    events = list(turn.events())
    assert not any(isinstance(e, ToolStarted) for e in events)
    assert "16,000 tokens" in next(e.text for e in events if isinstance(e, Notice))
    assert turn.recorded()[-1].content == [{"type": "text", "text": "I will read"}]
    assert events[-1].usage == Usage(10, 5)
    assert events[-1].model == "cut-1"


# -- requests that are too long ------------------------------------------------------------------------


def test_request_that_is_too_long_is_prepared_again_and_sent_once_more(project: Path, home: Path) -> None:
    turn = Turn(project, home, [ContextTooLong("too long"), "answer"])
    events = list(turn.events())
    assert [e.text for e in events if isinstance(e, Notice)] == ["made shorter"]
    assert isinstance(events[-1], TurnEnded)
    assert (events[-1].text, events[-1].rounds, len(turn.model.requests)) == ("answer", 1, 2)
    assert [m.text() for m in turn.recorded()] == ["hello", "answer"]


def test_second_request_of_a_turn_that_is_too_long_ends_it(project: Path, home: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Raising", "input": {}}
    turn = Turn(project, home, [ContextTooLong("first"), [call], ContextTooLong("second")])
    with pytest.raises(ContextTooLong, match="second"):
        list(turn.events())
    assert len(turn.recorded()) == 3


def test_reply_that_has_begun_is_not_asked_for_again(project: Path, home: Path) -> None:
    turn = Turn(project, home, [["partly", ContextTooLong("in the middle")], "never"])
    with pytest.raises(ContextTooLong):
        list(turn.events())
    assert len(turn.model.requests) == 1
    assert turn.recorded()[-1].text() == "partly"
