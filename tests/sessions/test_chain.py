"""Repairing a chain: what the API refuses goes, and nothing else."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from session_files import call, told

from mewcode_magic.messages import Message
from mewcode_magic.sessions import Chain, repair_chain
from mewcode_magic.sessions.chain import LOST_BEGINNING


def user(content: Any, **fields: Any) -> Message:
    return Message(role="user", content=content, **fields)


def assistant(content: Any, **fields: Any) -> Message:
    return Message(role="assistant", content=content, **fields)


def result(*names: str, text: str = "ok") -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": name, "content": text} for name in names]


def test_sound_chain_comes_back_as_it_was() -> None:
    chain = [user("a"), assistant(call("t1", "t2", say="hm")), user(result("t1", "t2")), assistant("done")]
    repaired, dropped = repair_chain(chain)
    assert dropped == 0
    assert all(a is b for a, b in zip(repaired, chain, strict=True))


def test_what_follows_when_all_calls_are_answered_is_no_part_of_the_answer() -> None:
    plot = [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a plot"}]}]
    again = [*result("t1"), {"type": "text", "text": "and then"}]
    repaired, dropped = repair_chain([user("a"), assistant(call("t1")), user(plot), user(again)])
    assert (told(repaired), dropped) == (["a", "tool_use:t1", "tool_result:t1", "and then"], 0)


def test_chain_is_repaired_as_it_grows_until_calls_wait_for_answers() -> None:
    chain = Chain()
    assert told(chain.follow([user("a"), assistant("b")])) == ["a", "b"]
    assert told(chain.follow([user("c"), assistant(call("t1")), user(result("t1"))])) == [
        "c",
        "tool_use:t1",
        "tool_result:t1",
    ]
    assert not chain.open
    assert told(chain.follow([assistant(call("t1")), user(result("t1"))])) == [
        "tool_use:t1_2",
        "tool_result:t1_2",
    ]
    assert not chain.open
    assert chain.follow([assistant(call("t2", "t3")), user(result("t2"))]) == []
    assert chain.open


def test_unanswered_call_at_the_end_is_left_out() -> None:
    repaired, dropped = repair_chain([user("a"), assistant(call("t1"))])
    assert (told(repaired), dropped) == (["a"], 1)


def test_unanswered_call_in_the_middle_costs_nothing_that_follows() -> None:
    chain = [
        user("a"),
        assistant(call("t1")),
        user("b"),
        assistant(call("t2")),
        user(result("t2")),
        assistant("c"),
    ]
    repaired, dropped = repair_chain(chain)
    assert (told(repaired), dropped) == (["a", "b", "tool_use:t2", "tool_result:t2", "c"], 1)


def test_partial_answers_go_with_their_calls() -> None:
    repaired, dropped = repair_chain([user("a"), assistant(call("t1", "t2")), user(result("t1")), user("b")])
    assert (told(repaired), dropped) == (["a", "b"], 2)


def test_result_that_comes_after_a_prompt_is_too_late() -> None:
    repaired, dropped = repair_chain([user("a"), assistant(call("t1")), user("b"), user(result("t1"))])
    assert (told(repaired), dropped) == (["a", "b"], 2)


def test_prompt_beside_partial_answers_stays() -> None:
    both = user([*result("t1"), {"type": "text", "text": "b"}])
    repaired, _ = repair_chain([user("a"), assistant(call("t1", "t2")), both])
    assert told(repaired) == ["a", "b"]


def test_result_without_its_call_at_the_start_is_left_out() -> None:
    repaired, dropped = repair_chain([user(result("t0")), user("a"), assistant("b")])
    assert (told(repaired), dropped) == (["a", "b"], 1)


def test_second_result_of_a_call_is_left_out() -> None:
    twice = user([*result("t1", text="first"), *result("t1", text="second")])
    repaired, _ = repair_chain([user("a"), assistant(call("t1")), twice, user(result("t1", text="third"))])
    assert repaired[2].content == result("t1", text="first")
    assert len(repaired) == 3


def test_results_spread_over_messages_become_one() -> None:
    spread = [
        user(result("t1"), variables={"t1": ["df"]}),
        user(result("t2"), variables={"t2": ["ax"]}),
    ]
    repaired, dropped = repair_chain([user("a"), assistant(call("t1", "t2")), *spread, assistant("b")])
    assert (told(repaired), dropped) == (
        ["a", "tool_use:t1,tool_use:t2", "tool_result:t1,tool_result:t2", "b"],
        0,
    )
    assert repaired[2].variables == {"t1": ["df"], "t2": ["ax"]}


def test_results_are_put_in_front_of_other_blocks() -> None:
    mixed = user([{"type": "text", "text": "and now"}, *result("t1")])
    repaired, _ = repair_chain([user("a"), assistant(call("t1")), mixed])
    assert [block["type"] for block in repaired[2].content] == ["tool_result", "text"]


def test_ids_that_start_anew_in_each_reply_are_numbered() -> None:
    turn = [assistant(call("call_0")), user(result("call_0"), variables={"call_0": ["df"]})]
    repaired, dropped = repair_chain([user("a"), *turn, *turn, *turn])
    assert dropped == 0
    assert [m.tool_uses()[0]["id"] for m in repaired[1::2]] == ["call_0", "call_0_2", "call_0_3"]
    assert [m.tool_results()[0]["tool_use_id"] for m in repaired[2::2]] == ["call_0", "call_0_2", "call_0_3"]
    assert repaired[4].variables == {"call_0_2": ["df"]}


def test_one_id_for_two_calls_of_a_reply_is_told_apart() -> None:
    repaired, dropped = repair_chain([user("a"), assistant(call("t", "t")), user(result("t", "t"))])
    assert (told(repaired)[1:], dropped) == (["tool_use:t,tool_use:t_2", "tool_result:t,tool_result:t_2"], 0)


def test_blank_texts_are_left_out() -> None:
    blank = {"type": "text", "text": " \n"}
    chain = [
        user("a"),
        assistant([blank, *call("t1")]),
        user([{"type": "tool_result", "tool_use_id": "t1", "content": [blank]}]),
        assistant([blank]),
        assistant(""),
        user("  "),
        assistant([{"type": "text", "text": "b"}, blank]),
    ]
    repaired, dropped = repair_chain(chain)
    assert dropped == 3
    assert [m.content for m in repaired] == [
        "a",
        call("t1"),
        [{"type": "tool_result", "tool_use_id": "t1", "content": ""}],
        [{"type": "text", "text": "b"}],
    ]


def test_blank_prompt_with_an_attachment_keeps_the_attachment() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}
    repaired, dropped = repair_chain([user("", injected=[image])])
    assert dropped == 0
    assert repaired[0].blocks() == [image]


def test_reply_that_is_only_thinking_is_left_out_and_thinking_beside_a_call_stays() -> None:
    thinking = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    repaired, dropped = repair_chain(
        [user("a"), assistant([thinking]), user("b"), assistant([thinking, *call("t1")]), user(result("t1"))]
    )
    assert dropped == 1
    assert repaired[2].content[0] == thinking


def test_conversation_that_begins_with_the_assistant_gets_a_line_in_front() -> None:
    repaired, dropped = repair_chain([assistant(call("t1")), user(result("t1")), assistant("b")])
    assert dropped == 0
    assert told(repaired) == [LOST_BEGINNING, "tool_use:t1", "tool_result:t1", "b"]


def test_blocks_of_the_wrong_role_are_left_out() -> None:
    repaired, _ = repair_chain(
        [
            user([{"type": "text", "text": "a"}, *call("t0")]),
            assistant([{"type": "text", "text": "b"}, *result("t0")]),
        ]
    )
    assert [[b["type"] for b in m.content] for m in repaired] == [["text"], ["text"]]


# -- any history ---------------------------------------------------------------------------------------

ids = st.sampled_from(["t1", "t2", "t3", "", None, 7, ["x"]])
texts = st.sampled_from(["", " ", "\n", "said", None, 3])
blocks = st.one_of(
    st.builds(lambda t: {"type": "text", "text": t}, texts),
    st.builds(lambda i: {"type": "tool_use", "id": i, "name": "n", "input": {}}, ids),
    st.builds(lambda i, t: {"type": "tool_result", "tool_use_id": i, "content": t}, ids, texts),
    st.builds(
        lambda i, b: {"type": "tool_result", "tool_use_id": i, "content": b},
        ids,
        st.just([{"type": "text", "text": ""}]),
    ),
    st.sampled_from(
        [
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "server_tool_use"},
            {},
            {"type": []},
            {"type": None},
        ]
    ),
)
contents = st.one_of(st.sampled_from(["", " ", "prompt"]), st.lists(blocks, max_size=4))
histories = st.lists(
    st.builds(
        lambda role, content, injected: Message(role=role, content=content, injected=injected),
        st.sampled_from(["user", "assistant"]),
        contents,
        st.sampled_from([[], [], [{"type": "text", "text": "note"}]]),
    ),
    max_size=12,
)


def is_said(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


@given(histories)
def test_any_history_comes_out_as_the_api_demands_it(history: list[Message]) -> None:
    repaired, dropped = repair_chain(history)
    assert not repaired or repaired[0].role == "user"
    assert 0 <= dropped <= len(history)
    seen: set[str] = set()
    open_calls: list[str] = []
    for message in repaired:
        kept = message.blocks()
        assert kept
        assert all(is_said(b["text"]) for b in kept if b.get("type") == "text")
        results = [b["tool_use_id"] for b in message.tool_results()]
        assert results == [] or message.role == "user"
        assert sorted(results) == sorted(open_calls)
        assert [b["type"] for b in kept[: len(results)]] == ["tool_result"] * len(results) or message.injected
        open_calls = [b["id"] for b in message.tool_uses()]
        assert open_calls == [] or message.role == "assistant"
        assert not seen & set(open_calls)
        assert len(set(open_calls)) == len(open_calls)
        seen |= set(open_calls)
        if message.role == "assistant":
            assert any(b.get("type") != "thinking" for b in kept)
    assert open_calls == []


@given(histories)
def test_every_prompt_stays_in_any_history(history: list[Message]) -> None:
    repaired, _ = repair_chain(history)
    said = [m.text() for m in history if m.is_prompt and is_said(m.text()) and "3" not in m.text()]
    kept = [m.text() for m in repaired if m.role == "user"]
    left = iter(kept)
    assert all(any(is_same(text, other) for other in left) for text in said)


def is_same(before: str, after: str) -> bool:
    """Compare texts but for blank ones that were left out."""
    return before.split() == after.split()


@given(histories)
def test_repairing_twice_changes_nothing_more(history: list[Message]) -> None:
    once, _ = repair_chain(history)
    assert repair_chain(once) == (once, 0)


@given(histories, histories)
def test_what_was_repaired_stays_repaired_when_the_conversation_goes_on(
    before: list[Message], after: list[Message]
) -> None:
    """What a repair left out is still in the file: resuming again must come to the same."""
    once, _ = repair_chain([*before, user("next"), *after])
    prefix, _ = repair_chain(before)
    assert once[: len(prefix)] == prefix or not prefix


def test_message_is_not_changed_in_place() -> None:
    reply = assistant(call("t1", say=" "))
    copy = msgspec.convert(msgspec.to_builtins(reply), Message)
    repair_chain([user("a"), reply, user(result("t1")), reply, user(result("t1"))])
    assert reply == copy
