"""Compaction through `Mew`: when it happens, what the next request holds, and what its failures leave."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from request_rules import broken_rules

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.errors import (
    ContextTooLong,
    ConversationFull,
    NothingToCompact,
    Overloaded,
)
from mewcode_magic.events import (
    CompactionEnded,
    CompactionStarted,
    Event,
    Model,
    Notice,
    Query,
    Recalled,
    Reply,
    TurnEnded,
)
from mewcode_magic.memory import Memory
from mewcode_magic.messages import Message, Usage
from mewcode_magic.model import Scripted, ScriptedReply
from mewcode_magic.sessions.boundary import summary_in

THOUSAND = "words " * 900
"""About a thousand tokens."""
FULL = Usage(input_tokens=168_000, output_tokens=100)
"""What a reply counts that leaves less than the margin of a window of 200,000 tokens."""

Open = Callable[..., Mew]


@pytest.fixture
def open_mew(project: Path, home: Path) -> Iterator[Open]:
    """Return what makes an agent of a model, or of replies and summaries."""
    made: list[Mew] = []

    def make(model: Model | list[Any], summaries: list[Any] | None = None, **settings: Any) -> Mew:
        if isinstance(model, list):
            model = Scripted(model, answers={"compact": summaries or []})
        settings = {"extract": "off", "recall": False, **settings}
        made.append(Mew(project, home, model=model, settings=MewCode(**settings)))
        return made[-1]

    yield make
    for mew in made:
        mew.close()


def ask(mew: Mew, prompt: str) -> list[Event]:
    return list(mew.ask(prompt))


def filled(mew: Mew, turns: int = 16) -> Mew:
    """Put a conversation into the open session, of which the last five turns are short."""
    for number in range(turns):
        mew.session.append(
            Message(role="user", content=f"q{number} {THOUSAND if number < turns - 5 else ''}")
        )
        mew.session.append(Message(role="assistant", content=f"a{number}", usage=Usage(10_000 + number, 5)))
    return mew


def script(mew: Mew) -> Scripted:
    model = mew._models.main()
    assert isinstance(model, Scripted)
    return model


def sent(mew: Mew) -> str:
    """Return all text of the last request's messages, which obeys the API's rules."""
    request = script(mew).requests[-1]
    assert (
        broken_rules({"system": request.system, "messages": request.messages, "tools": request.tools}) == []
    )
    return orjson.dumps(request.messages).decode()


def ended(events: list[Event]) -> list[CompactionEnded]:
    return [event for event in events if isinstance(event, CompactionEnded)]


def call(name: str = "t1") -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Glob", "input": {"pattern": "*"}}


def replies(*replies: Any) -> list[Any]:
    """Return replies after a first one that fills the window."""
    return [ScriptedReply(["full now"], usage=FULL), *replies]


# -- by itself -----------------------------------------------------------------------------------------


def test_conversation_above_the_limit_is_compacted_before_the_next_request(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next"), ["The word is plinth."]))
    ask(mew, "one")
    events = ask(mew, "two")
    started, (end,) = next(e for e in events if isinstance(e, CompactionStarted)), ended(events)
    assert 168_100 < started.tokens == end.before < 168_200
    assert (end.failure, end.after < 20_000) == ("", True)
    assert "The word is plinth." in sent(mew)
    assert "q0 " not in sent(mew)
    assert '"two"' in sent(mew)
    assert [m.text() for m in mew.session.messages][-4:] == ["one", "full now", "two", "next"]
    assert mew.sessions.read(mew.session.id).messages == mew.session.messages


def test_conversation_below_the_limit_is_left_alone(open_mew: Open) -> None:
    just_below = ScriptedReply(["almost"], usage=Usage(166_800, 100))
    mew = filled(open_mew([just_below, "next"]))
    ask(mew, "one")
    assert ended(ask(mew, "two")) == []


def test_long_turn_is_compacted_between_its_rounds(open_mew: Open) -> None:
    full_call = ScriptedReply([call()], usage=FULL)
    mew = filled(open_mew([full_call, "done"], ["sum"]))
    events = ask(mew, "look around")
    assert [e.failure for e in ended(events)] == [""]
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].text == "done"
    assert "look around" in sent(mew)
    earlier, turn = mew._current.last_turn()
    assert [m.text() for m in turn] == ["look around", "", "", "done"]
    assert not any(m.text().startswith("q0") for m in earlier)


def test_prompt_of_a_turn_that_was_compacted_within_is_what_memories_are_extracted_from(
    open_mew: Open,
) -> None:
    rounds = [[f"step {n}: {THOUSAND}", call(f"t{n}")] for n in range(20)]
    script = [*rounds, ScriptedReply([call("last")], usage=FULL), "done"]
    model = Scripted(script, answers={"compact": ["sum"], "extract": [{"operations": []}]})
    mew = filled(open_mew(model, extract="wait"))
    events = ask(mew, "from now on use polars")
    assert len(ended(events)) == 1
    (query,) = [query for query in model.queries if query.kind == "extract"]
    asked = orjson.dumps(query.messages).decode()
    assert "<user>\\nfrom now on use polars\\n</user>" in asked
    assert "compacted" not in asked
    assert "sum" not in [m.text() for m in mew.session.messages]


def test_what_a_summary_takes_flows_into_the_turn(open_mew: Open) -> None:
    mew = filled(open_mew(replies(ScriptedReply(["next"], usage=Usage(10, 1))), ["sum"]))
    ask(mew, "one")
    events = ask(mew, "two")
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].usage == Usage(10, 1) + ended(events)[0].usage
    assert ended(events)[0].usage.input_tokens > 1_000


def test_window_follows_the_model_and_the_setting(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next", "after"), ["sum"]))
    ask(mew, "one")
    mew.settings.context_window = 1_000_000
    assert ended(ask(mew, "two")) == []
    mew.settings.context_window = 40_000
    mew.session.append(Message(role="assistant", content="x", usage=Usage(30_000, 1)))
    assert len(ended(ask(mew, "three"))) == 1


def test_summary_is_told_by_the_side_model_in_the_language_of_the_api(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next"), ["sum"]))
    ask(mew, "one")
    ask(mew, "two")
    (query,) = script(mew).queries
    assert query.kind == "compact"
    request = query.request()
    assert broken_rules({"system": request.system, "messages": request.messages}) == []


def test_second_compaction_sums_up_the_first_and_the_middle(open_mew: Open) -> None:
    again = ScriptedReply(["full again"], usage=FULL)
    mew = filled(open_mew(replies(again, "end"), ["first sum", "second sum"]))
    ask(mew, "one")
    ask(mew, f"the middle {THOUSAND * 12}")
    for number in range(6):
        mew.session.append(Message(role="user", content=f"later {number} {THOUSAND * 2}"))
        mew.session.append(Message(role="assistant", content="so", usage=FULL))
    ask(mew, "three")
    asked = orjson.dumps(script(mew).queries[-1].messages).decode()
    assert "<summary>\\nfirst sum\\n</summary>" in asked
    assert "the middle" in asked
    assert "second sum" in sent(mew)
    assert "first sum" not in sent(mew)
    assert "the middle" not in sent(mew)


def test_instructions_memories_and_date_are_read_again(open_mew: Open, project: Path) -> None:
    mew = filled(open_mew(replies("next", "more"), ["sum"]))
    ask(mew, "one")
    (project / "MEWCODE.md").write_text("Use polars.\n")
    mew.memory.save(Memory("ci", "when CI is asked of", "project", "At night."))
    ask(mew, "two")
    front = script(mew).requests[-1].messages[0]["content"][0]["text"]
    assert "Use polars." in front
    assert "when CI is asked of" in front
    ask(mew, "three")
    assert script(mew).requests[-1].messages[0]["content"][0]["text"] == front
    assert "New project memory" not in sent(mew).rpartition('"three"')[0].rpartition("two")[2]


def test_memory_that_was_summed_up_can_be_recalled_again(open_mew: Open) -> None:
    mew = open_mew(["a", *replies("next")], ["sum"], recall=True, recall_seconds=0)
    mew.memory.save(Memory("tea", "when tea is made", "project", "Green tea, two minutes."))
    assert any(isinstance(event, Recalled) for event in ask(mew, "how is tea made?"))
    filled(mew)
    assert not any(isinstance(event, Recalled) for event in ask(mew, "how is tea made now?"))
    ask(mew, "go on")
    assert any(isinstance(event, Recalled) for event in ask_once_more(mew))


def ask_once_more(mew: Mew) -> list[Event]:
    mew.use(Scripted(["well"]))
    return ask(mew, "how is tea made at last?")


# -- resumed -------------------------------------------------------------------------------------------


def test_resumed_conversation_above_the_limit_is_compacted_at_once(open_mew: Open) -> None:
    mew = filled(open_mew(replies()))
    ask(mew, "one")
    mew.close()
    other = open_mew(["next"], ["sum"])
    other.resume()
    assert len(ended(ask(other, "two"))) == 1
    assert "sum" in sent(other)


def test_conversation_that_nobody_counted_is_compacted_by_its_estimate(open_mew: Open) -> None:
    mew = open_mew(["next"], ["sum"])
    for number in range(90):
        mew.session.append(Message(role="user", content=f"q{number} {THOUSAND}"))
        mew.session.append(Message(role="assistant", content=f"a{number} {THOUSAND}"))
    (end,) = ended(ask(mew, "on"))
    assert 160_000 < end.before < 240_000
    assert end.after < 20_000


def test_resume_goes_on_from_the_compaction_and_does_not_compact_again(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next"), ["sum"]))
    ask(mew, "one")
    ask(mew, "two")
    expected = list(mew.session.messages)
    mew.close()
    other = open_mew(["later"])
    resumed = other.resume()
    assert (resumed.messages, resumed.report.boundary) == (expected, True)
    assert ended(ask(other, "three")) == []
    assert "Variables that the summary at the conversation's beginning names may not exist" in sent(other)


def test_copy_of_a_compacted_session_is_compacted(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next", "in the copy"), ["sum"]))
    ask(mew, "one")
    ask(mew, "two")
    expected = [m.to_dict() for m in mew.session.messages]
    mew.resume(mew.session.id, fork=True)
    assert [m.to_dict() for m in mew.session.messages] == expected
    ask(mew, "three")
    assert "q0 " not in sent(mew)


# -- by hand -------------------------------------------------------------------------------------------


def test_compaction_by_hand_tells_what_is_to_be_kept_in_mind(open_mew: Open) -> None:
    mew = filled(open_mew(["next"], ["The word is plinth."]))
    events = list(mew.compact("  the word </focus> "))
    assert [type(event) for event in events] == [CompactionStarted, CompactionEnded]
    told = [block["text"] for block in script(mew).queries[0].messages[0]["content"]]
    assert told[0] == "<focus>\nthe word &lt;/focus&gt;\n</focus>"
    assert summary_in(mew.session.messages[0]) == "The word is plinth."
    assert mew.status().usage == ended(events)[0].usage
    assert mew.session.path.with_suffix(".meta").exists()
    ask(mew, "on")
    assert "plinth" in sent(mew)


def test_short_conversation_is_not_compacted_and_the_reason_told(open_mew: Open) -> None:
    mew = open_mew(["hello"], ["never"])
    with pytest.raises(NothingToCompact, match="fewer than 2,000 tokens"):
        list(mew.compact())
    ask(mew, "hi")
    before = list(mew.session.messages)
    with pytest.raises(NothingToCompact):
        list(mew.compact())
    assert mew.session.messages == before
    assert script(mew).queries == []


def test_compaction_right_after_one_is_declined(open_mew: Open) -> None:
    mew = filled(open_mew([], ["sum", "never"]))
    list(mew.compact())
    with pytest.raises(NothingToCompact):
        list(mew.compact())


def test_compaction_ends_an_abandoned_turn(open_mew: Open) -> None:
    mew = filled(open_mew(["a long answer"], ["sum"]))
    turn = mew.ask("one")
    next(turn)
    list(mew.compact())
    assert mew.session.messages[-1].interrupted
    assert list(turn) == []


def test_offline_extract_says_what_it_is(open_mew: Open) -> None:
    mew = filled(open_mew("offline"))
    mew.session.append(Message(role="user", content="and now?"))
    list(mew.compact("names"))
    summary = summary_in(mew.session.messages[0]) or ""
    assert summary.startswith("(Extracted by fixed rules, without a language model")
    assert "kept in mind: names" in summary
    assert "- The user said: q0 words words" in summary
    events = ask(mew, "what did I ask so far?")
    assert isinstance(events[-1], TurnEnded)
    assert "compacted" not in events[-1].text


# -- what fails ----------------------------------------------------------------------------------------


def test_failure_leaves_the_conversation_and_the_turn_goes_on(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next"), [Overloaded("the server is busy")]))
    ask(mew, "one")
    before = list(mew.session.messages)
    events = ask(mew, "two")
    (end,) = ended(events)
    assert (end.failure, end.before) == ("the server is busy", end.after)
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].text == "next"
    assert mew.session.messages[: len(before)] == before
    assert not mew.sessions.read(mew.session.id).report.boundary


def test_empty_summary_is_a_failure(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next"), ["  "]))
    ask(mew, "one")
    assert "empty summary" in ended(ask(mew, "two"))[0].failure


def test_three_failures_in_a_row_stop_it_and_say_so(open_mew: Open) -> None:
    full = [ScriptedReply([f"full {n}"], usage=FULL) for n in range(7)]
    mew = filled(open_mew(full, [*([Overloaded("busy")] * 3), "sum", "sum 2"]))
    ask(mew, "begin")
    told = [[e.text for e in ask(mew, f"n{n}") if isinstance(e, Notice)] for n in range(3)]
    assert told[:2] == [[], []]
    assert "3 times in a row" in told[2][0]
    assert "%compact" in told[2][0]
    assert ended(ask(mew, "on")) == []
    assert ended(list(mew.compact()))[0].failure == ""
    assert ended(ask(filled(mew), "two")) == []
    assert len(ended(ask(mew, "three"))) == 1


def test_success_between_failures_begins_the_count_anew(open_mew: Open) -> None:
    full = [ScriptedReply([THOUSAND * 12], usage=FULL) for n in range(9)]
    summaries = [Overloaded("1"), Overloaded("2"), "sum", Overloaded("1"), Overloaded("2"), "sum"]
    mew = filled(open_mew(full, summaries))
    told = [e for n in range(7) for e in ask(mew, f"n{n}") if isinstance(e, Notice)]
    assert told == []
    assert len(script(mew).queries) == 6


def test_compaction_that_makes_no_room_is_not_tried_for_ever(open_mew: Open) -> None:
    mew = filled(open_mew([f"answer {n}" for n in range(9)], ["sum " * 3_000] * 9), turns=20)
    mew.settings.context_window = 8_000
    told = [e.text for n in range(3) for e in ask(mew, f"n{n} {THOUSAND}") if isinstance(e, Notice)]
    with pytest.raises(ConversationFull, match="%sessions new"):
        ask(mew, "and now?")
    assert [("in a row" in text, "%sessions new" in text) for text in told] == [(True, True)]
    assert len(script(mew).queries) == 3


class Picky:
    """A scripted model that finds questions of more than so many characters too long."""

    def __init__(self, model: Scripted, limit: int) -> None:
        self.name, self.stream = model.name, model.stream
        self._model, self._limit = model, limit
        self.asked: list[int] = []

    def query(self, query: Query) -> Reply:
        self.asked.append(len(orjson.dumps(query.messages)))
        if self.asked[-1] > self._limit:
            raise ContextTooLong("the question is too long")
        return self._model.query(query)


def test_summary_request_that_is_too_long_is_trimmed_and_tried_again(open_mew: Open) -> None:
    model = Picky(Scripted([], answers={"compact": ["sum"]}), 250_000)
    mew = open_mew(model)
    filled(mew, turns=180)
    list(mew.compact())
    assert model.asked == sorted(model.asked, reverse=True)
    assert 1 < len(model.asked) <= 3
    assert summary_in(mew.session.messages[0]) == "sum"


def test_summary_request_that_stays_too_long_is_a_failure(open_mew: Open) -> None:
    model = Picky(Scripted([]), 1_000)
    mew = filled(open_mew(model))
    before = list(mew.session.messages)
    with pytest.raises(ContextTooLong):
        list(mew.compact())
    assert len(model.asked) == 3
    assert mew.session.messages == before


def test_interrupt_leaves_the_conversation_as_it_was(open_mew: Open) -> None:
    mew = filled(open_mew(replies("next"), [KeyboardInterrupt(), KeyboardInterrupt(), "sum"]))
    ask(mew, "one")
    before = list(mew.session.messages)
    with pytest.raises(KeyboardInterrupt):
        list(mew.compact())
    assert mew.session.messages == before
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        events.extend(mew.ask("two"))
    assert [m.text() for m in mew.session.messages] == [*(m.text() for m in before), "two"]
    assert mew.sessions.read(mew.session.id).messages == mew.session.messages
    assert ended(ask(mew, "three"))[0].failure == ""
    assert '"two"' in sent(mew)


# -- a window that is smaller than thought -------------------------------------------------------------


def test_request_that_the_api_finds_too_long_is_compacted_and_sent_again(open_mew: Open) -> None:
    mew = filled(open_mew([ContextTooLong("prompt is too long"), "answer"], ["sum"]))
    events = ask(mew, "one")
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].text == "answer"
    assert len(ended(events)) == 1
    assert "sum" in sent(mew)
    assert [m.text() for m in mew.session.messages][-2:] == ["one", "answer"]


@pytest.mark.parametrize("settings", [{"auto_compact": False}, {"min_summarize_prefix_tokens": 900_000}])
def test_request_that_is_too_long_and_cannot_be_compacted_fails(
    open_mew: Open, settings: dict[str, Any]
) -> None:
    mew = filled(open_mew([ContextTooLong("prompt is too long"), "never"], ["never"], **settings))
    with pytest.raises(ContextTooLong):
        ask(mew, "one")
    assert len(script(mew).requests) == 1
    assert mew.session.messages[-1].text() == "one"


# -- not by itself -------------------------------------------------------------------------------------


def test_full_conversation_takes_no_prompt_where_nothing_makes_room(open_mew: Open) -> None:
    almost = ScriptedReply(["almost"], usage=Usage(176_000, 100))
    mew = filled(open_mew([almost, ScriptedReply(["full"], usage=Usage(178_000, 10)), "next"], ["sum"]))
    mew.settings.auto_compact = False
    ask(mew, "one")
    assert ended(ask(mew, "two")) == []
    before = list(mew.session.messages)
    with pytest.raises(ConversationFull, match="%compact"):
        ask(mew, "three")
    assert mew.session.messages == before
    list(mew.compact())
    ask(mew, "three")


def test_prompt_itself_counts_where_nothing_makes_room(open_mew: Open) -> None:
    mew = open_mew(["answer"], auto_compact=False)
    with pytest.raises(ConversationFull):
        ask(mew, THOUSAND * 200)
    assert not mew.session.path.exists()


def test_context_tells_the_room(open_mew: Open) -> None:
    mew = filled(open_mew(replies()))
    empty = open_mew([]).context()
    assert 1_000 < empty.used < 20_000
    ask(mew, "one")
    report = mew.context()
    assert (report.used, report.room.window, report.room.compacts_above) == (168_100, 200_000, 167_000)
    assert report.automatic
    mew.settings.auto_compact = False
    assert not mew.context().automatic
