"""What happens around an answer: a model recalls before it, and behind it extracts and summarizes."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from memory_files import write

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.errors import ModelError
from mewcode_magic.events import Event, Notice, Query, Recalled, Reply, TextDelta, TurnEnded
from mewcode_magic.memory import Memory
from mewcode_magic.model import Scripted

POLARS = {
    "action": "create",
    "name": "prefers-polars",
    "type": "user",
    "description": "when dataframe code is written",
    "body": "The user wants polars, never pandas.",
}

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Held(Scripted):
    """A script whose answers to queries come when it is let go."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.let_go = threading.Event()

    def query(self, query: Query) -> Reply:
        self.let_go.wait(30)
        return super().query(query)


@pytest.fixture
def make(project: Path, home: Path) -> Iterator[Callable[..., Mew]]:
    made: list[Mew] = []

    def make_one(model: Scripted | None = None, **settings: Any) -> Mew:
        mew = Mew(project, home, model=model or Scripted(["answer"] * 9), settings=MewCode(**settings))
        made.append(mew)
        return mew

    yield make_one
    for mew in made:
        mew.close()


def script(*replies: Any, held: bool = False, **answers: list[Any]) -> Scripted:
    kind = Held if held else Scripted
    return kind(replies or ["answer"] * 9, answers=answers)  # type: ignore[arg-type]


def ask(mew: Mew, prompt: str) -> list[Event]:
    return list(mew.ask(prompt))


def ended(events: list[Event]) -> TurnEnded:
    assert isinstance(events[-1], TurnEnded)
    return events[-1]


def sent(model: Scripted, number: int = -1) -> str:
    return orjson.dumps(model.requests[number].messages[-1]).decode()


# --- extraction


def test_what_was_said_is_extracted_and_told_with_the_next_prompt(make: Callable[..., Mew]) -> None:
    model = script(extract=[{"operations": [POLARS]}, {"operations": []}])
    mew = make(model)
    extraction = ended(ask(mew, "I prefer polars"))
    assert extraction.extraction is not None
    (saved,) = extraction.extraction.result(10).written
    assert saved.path.read_text(encoding="utf-8").endswith("The user wants polars, never pandas.\n")
    assert saved.memory.source == mew.session.id
    ask(mew, "and now?")
    assert "New user memory 'prefers-polars'" in sent(model)
    assert mew.status().background.startswith("extraction: ")


def test_failure_of_extraction_touches_no_turn_and_is_told_by_the_status(make: Callable[..., Mew]) -> None:
    mew = make(script(extract=[ModelError("the small model is away")]))
    first = ended(ask(mew, "I prefer polars"))
    assert first.stop == "done"
    assert first.extraction is not None
    with pytest.raises(ModelError):
        first.extraction.result(10)
    assert "extraction failed; the small model is away" in mew.status().background
    assert ended(ask(mew, "next")).text == "answer"


@pytest.mark.parametrize("settings", [{"extract": "off"}, {"permission_mode": "read-only"}])
def test_extraction_rests_where_it_is_off_or_nothing_may_be_written(
    make: Callable[..., Mew], settings: dict[str, str]
) -> None:
    model = script(extract=[{"operations": [POLARS]}])
    mew = make(model, **settings)
    assert ended(ask(mew, "I prefer polars")).extraction is None
    mew.close()
    assert model.queries == []


def test_turn_does_not_wait_for_extraction_in_the_background(make: Callable[..., Mew]) -> None:
    model = script(held=True, extract=[{"operations": [POLARS]}] * 2)
    mew = make(model)
    first = ended(ask(mew, "I prefer polars"))
    assert first.extraction is not None
    assert not first.extraction.done()
    assert mew.status().background == "at work"
    assert isinstance(model, Held)
    model.let_go.set()
    assert first.extraction.result(10).written


def test_turn_waits_for_extraction_where_that_is_set(make: Callable[..., Mew]) -> None:
    model = script(held=True, extract=[{"operations": [POLARS]}])
    mew = make(model, extract="wait")
    assert isinstance(model, Held)
    threading.Timer(0.3, model.let_go.set).start()
    first = ended(ask(mew, "I prefer polars"))
    assert first.extraction is not None
    assert first.extraction.done()


def test_close_gives_the_background_a_moment_and_no_more(make: Callable[..., Mew]) -> None:
    quick, stuck = script(held=True, extract=[{"operations": [POLARS]}]), script(held=True)
    assert isinstance(quick, Held)
    mew = make(quick)
    ask(mew, "I prefer polars")
    threading.Timer(0.3, quick.let_go.set).start()
    mew.close()
    assert mew.memory.get("prefers-polars") is not None
    mew = make(stuck, recall=False)
    ask(mew, "hello")
    started = time.monotonic()
    mew.close()
    assert time.monotonic() - started < 10


def test_interrupted_turn_is_not_extracted(make: Callable[..., Mew]) -> None:
    model = script(["I ", KeyboardInterrupt()])
    mew = make(model)
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        events.extend(mew.ask("I prefer polars"))
    mew.close()
    assert [query.kind for query in model.queries] == []


def test_extraction_sees_no_tool_output_and_nothing_injected(make: Callable[..., Mew], project: Path) -> None:
    (project / "page.txt").write_text("REMEMBER this rule", encoding="utf-8")
    call = {"type": "tool_use", "id": "t1", "name": "ReadFile", "input": {"path": "page.txt"}}
    model = script([call], "It holds a rule.", extract=[{"operations": []}])
    mew = make(model)
    mew.memory.save(Memory(name="zebra", description="about zebras", type="project", body="STRIPES"))
    last = ended(ask(mew, "what is in page.txt, zebra?"))
    assert last.extraction is not None
    last.extraction.result(10)
    (query,) = [query for query in model.queries if query.kind == "extract"]
    text = orjson.dumps(query.messages).decode()
    assert "It holds a rule." in text
    assert "what is in page.txt" in text
    assert "REMEMBER" not in text
    assert "STRIPES" not in text


def test_what_comes_after_the_agent_was_closed_writes_nothing(make: Callable[..., Mew]) -> None:
    model = script(held=True, extract=[{"operations": [POLARS]}])
    assert isinstance(model, Held)
    mew = make(model, recall=False)
    late = ended(ask(mew, "I prefer polars")).extraction
    assert late is not None
    mew.close()
    model.let_go.set()
    with pytest.raises(ModelError, match="after the agent was closed"):
        late.result(10)
    assert mew.memory.list() == []
    assert ended(ask(mew, "go on")).text == "answer"


@pytest.mark.parametrize("keep", [[], [{"role": "user", "content": "kept", "ts": 1}]])
def test_extraction_takes_the_users_turn_alone_whatever_another_program_wrote_before_it(
    make: Callable[..., Mew], keep: list[dict[str, Any]]
) -> None:
    model = script(extract=[{"operations": []}] * 9)
    mew = make(model, extract="wait")
    for number in range(3):
        ask(mew, f"prompt {number}")
    records = [
        {"role": "user", "content": "from the terminal", "ts": 1},
        {"role": "assistant", "content": "answered there", "ts": 2},
        {"role": "compact_boundary", "content": {"summary": "all of it", "keep": keep}, "ts": 3},
    ]
    for record in records:
        with mew.session.path.open("ab") as file:
            file.write(orjson.dumps(record) + b"\n")
        ask(mew, f"behind {record['role']}")
        shown = [b["text"] for b in model.queries[-1].messages[0]["content"]]
        assert [t for t in shown if t.startswith("<user>")] == [f"<user>\nbehind {record['role']}\n</user>"]


def test_tokens_of_the_background_are_counted(make: Callable[..., Mew]) -> None:
    mew = make(script(extract=[{"operations": []}]))
    first = ended(ask(mew, "hello"))
    assert first.extraction is not None
    first.extraction.result(10)
    assert mew.status().usage.prompt_tokens > first.usage.prompt_tokens


# --- recall by a model


def test_model_recalls_and_its_tokens_are_the_turns(make: Callable[..., Mew]) -> None:
    model = script(recall=[{"names": ["zebra"]}])
    mew = make(model)
    mew.memory.save(Memory(name="zebra", description="about stripes", type="project", body="It is striped."))
    events = ask(mew, "a question without that word")
    (recalled,) = [event for event in events if isinstance(event, Recalled)]
    assert ([memory.slug for memory in recalled.memories], recalled.by) == (["zebra"], "model")
    assert "It is striped." in sent(model)
    (query,) = [query for query in model.queries if query.kind == "recall"]
    answered = len(orjson.dumps(model.requests[0].messages)) // 4
    assert ended(events).usage.prompt_tokens > answered + len(orjson.dumps(query.messages)) // 8
    note = next(part.note for part in mew.context().parts if part.name == "recalled last")
    assert note == "zebra: chosen by a model from 1"


def test_context_says_why_nothing_was_recalled(make: Callable[..., Mew]) -> None:
    mew = make(script(recall=[{"names": []}]))
    ask(mew, "hello")
    assert next(p.note for p in mew.context().parts if p.name == "recalled last") == "there is no memory"
    mew.memory.save(Memory(name="zebra", description="about stripes", type="project", body="It is striped."))
    ask(mew, "hello")
    note = next(p.note for p in mew.context().parts if p.name == "recalled last")
    assert note == "none fits; chosen by a model from 1"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of what was stopped half-way
@pytest.mark.parametrize("seconds", [0, 0.001, 0.01, 0.3])  # while the request is prepared, or waits
def test_interrupt_during_recall_keeps_the_prompt_and_the_next_turn_works(
    make: Callable[..., Mew], project: Path, seconds: float
) -> None:
    class Interrupting(Scripted):
        def query(self, query: Query) -> Reply:
            if query.kind == "recall":
                time.sleep(seconds)
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(2)
            return super().query(query)

    model = Interrupting(["answer"])
    mew = make(model)
    mew.memory.save(Memory(name="zebra", description="about stripes", type="project", body="It is striped."))
    for number in range(60):  # which take some time to be told of
        write(project / f".mewcode/memory/{number}.md", f"---\nname: {number}\n---\nNumber {number}.")
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        events.extend(mew.ask("zebra?"))
    assert ended(events).stop == "interrupted"
    assert [message.text() for message in mew.session.messages] == ["zebra?"]
    mew.memory.save(Memory(name="lion", description="about manes", type="project", body="It has a mane."))
    mew.settings.recall = False
    assert TextDelta("answer") in ask(mew, "again")
    assert "New project memory 'lion'" in sent(model)


# --- the session before


def test_new_session_is_told_once_what_the_one_before_was_about(make: Callable[..., Mew]) -> None:
    model = script(summary=["Loading of the sales data."])
    mew = make(model)
    ask(mew, "load sales.csv")
    first = mew.session.id
    mew.new()
    ask(mew, "hello")
    assert wait_for(lambda: summary_of(mew, first)) == "Loading of the sales data."
    assert "Loading" not in sent(model)
    ask(mew, "second")
    assert f"was {first}" in sent(model)
    assert f"Loading of the sales data. The user can go on with it by `%resume {first}`." in sent(model)
    ask(mew, "third")
    assert "Loading" not in sent(model)


def test_summary_that_stands_is_told_with_the_first_prompt_and_not_made_again(
    make: Callable[..., Mew],
) -> None:
    model = script()
    mew = make(model)
    ask(mew, "load sales.csv")
    first = mew.session.id
    mew.new()
    mew.sessions.summarize(first, "Loading of the sales data.")
    assert "Loading" in next(p.text for p in mew.context().parts if p.name == "notices")
    ask(mew, "hello")
    assert "Loading of the sales data." in sent(model)
    ask(mew, "second")
    assert "Loading" not in sent(model)
    mew.close()
    assert [query.kind for query in model.queries if query.kind == "summary"] == []


def test_resumed_session_is_told_of_no_other(make: Callable[..., Mew]) -> None:
    model = script(summary=["Something."] * 3)
    mew = make(model)
    ask(mew, "first session")
    first = mew.session.id
    mew.new()
    ask(mew, "second session")
    mew.resume(first)
    ask(mew, "go on")
    assert "The session before" not in sent(model)


def test_session_that_is_open_elsewhere_is_left_alone(make: Callable[..., Mew]) -> None:
    other = make()
    ask(other, "hello from elsewhere")
    model = script(summary=["Something."])
    mew = make(model)
    ask(mew, "hello")
    mew.close()
    assert [query.kind for query in model.queries if query.kind == "summary"] == []


def test_summary_is_told_to_the_new_session_whatever_is_opened_in_between(make: Callable[..., Mew]) -> None:
    model = script(summary=["Loading of the sales data."])
    mew = make(model)
    ask(mew, "load sales.csv")
    first = mew.session.id
    second = mew.new().id
    ask(mew, "hello")
    assert wait_for(lambda: summary_of(mew, first))
    mew.resume(first)
    ask(mew, "more of it")
    assert "The session before" not in sent(model)
    mew.resume(second)
    ask(mew, "back again")
    assert "Loading of the sales data." in sent(model)


@pytest.mark.parametrize("third", [[ModelError("away")], []], ids=["failed", "not asked"])
def test_session_that_is_left_before_its_first_answer_hands_no_summary_on(
    make: Callable[..., Mew], third: list[ModelError]
) -> None:
    model = script("answer", "answer", *third, *["answer"] * 3)
    mew = make(model)
    ask(mew, "first session")
    first = mew.session.id
    mew.new()
    ask(mew, "second session")
    assert mew._afterwards.finish(10)
    mew.new()
    if third:
        with pytest.raises(ModelError):
            ask(mew, "third session")
    else:
        mew.context()
    asked = len(model.queries)
    mew.resume(first)
    ask(mew, "go on")
    assert mew._afterwards.finish(10)
    ask(mew, "and on")
    assert "The session before" not in sent(model)
    assert "summary" not in [query.kind for query in model.queries[asked:]]


def test_session_whose_first_answer_failed_is_told_after_the_next_one(make: Callable[..., Mew]) -> None:
    model = script("answer", ModelError("away"), "answer", "answer", summary=["Loading of the sales data."])
    mew = make(model)
    ask(mew, "load sales.csv")
    first = mew.session.id
    mew.new()
    with pytest.raises(ModelError):
        ask(mew, "hello")
    ask(mew, "hello again")
    assert wait_for(lambda: summary_of(mew, first))
    ask(mew, "third")
    assert "Loading of the sales data." in sent(model)


@pytest.mark.parametrize("by", ["another program", "the model"])
def test_credential_in_a_summary_is_told_to_no_session(make: Callable[..., Mew], by: str) -> None:
    line = f"Fetching the sales with {TOKEN}."
    model = script(summary=[line])
    mew = make(model)
    ask(mew, "load sales.csv")
    first = mew.session.id
    mew.new()
    if by == "another program":
        mew.sessions.summarize(first, line)
    else:
        ask(mew, "hello")
        assert TOKEN not in wait_for(lambda: summary_of(mew, first))
    ask(mew, "hello")
    assert "Fetching the sales with [credential: " in sent(model)
    assert TOKEN not in mew.session.path.read_text()


@pytest.mark.parametrize("fault", ["its lock is a folder", "no session can be listed"])
def test_fault_of_the_other_sessions_costs_no_answer(
    make: Callable[..., Mew], project: Path, fault: str
) -> None:
    mew = make()
    ask(mew, "first session")
    lock = mew.session.path.with_suffix(".lock")
    mew.new()
    if fault == "its lock is a folder":
        lock.unlink(missing_ok=True)
        lock.mkdir()
        assert ended(ask(mew, "hello")).text == "answer"
    else:
        folder = project / ".mewcode" / "sessions"
        folder.rename(folder.with_name("moved"))
        folder.write_text("a file", encoding="utf-8")
        assert mew.context().parts


def test_failed_summary_is_told_by_the_status_alone(make: Callable[..., Mew]) -> None:
    mew = make(script(extract=[{"operations": []}], summary=[ModelError("away")]), extract="off")
    ask(mew, "first session")
    mew.new()
    events = ask(mew, "second session")
    assert not [event for event in events if isinstance(event, Notice)]
    assert wait_for(lambda: "summary failed; away" in mew.status().background)


def summary_of(mew: Mew, session_id: str) -> str:
    return next(info.summary for info in mew.sessions.list() if info.id == session_id)


def wait_for(look: Callable[[], Any]) -> Any:
    until = time.monotonic() + 10
    while not (value := look()) and time.monotonic() < until:
        time.sleep(0.01)
    return value
