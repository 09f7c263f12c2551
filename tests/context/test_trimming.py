"""What is no longer sent whole: decided as a turn begins, recorded, and the same ever after."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from histories import blocks_of, breakpoints_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from request_rules import broken_rules
from session_files import line, records

from mewcode_magic.config import MewCode
from mewcode_magic.context import RequestBuilder, Trimming, moved_to_file
from mewcode_magic.context.preview import why_trimmed
from mewcode_magic.events import Request
from mewcode_magic.messages import Block, Message
from mewcode_magic.sessions import SessionStore

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
Said = str | list[Block]
PASSES = {"old": "as old", "room": "for room"}


class Talk:
    """A session on real files that is talked in as a conversation does it."""

    def __init__(self, project: Path, **changes: Any) -> None:
        self.settings = MewCode(**changes)
        self.store = SessionStore(project, settings=self.settings)
        self.session = self.store.create()
        self._begin()
        self.turns = 0
        self.steps: list[int] = []
        """The turns that began with trimming, counted from 0."""

    def _begin(self) -> None:
        self._trimming, self._builder = Trimming(self.settings), RequestBuilder(system="s", tools=[])

    def turn(self, *results: Said, prompt: list[Block] | None = None, ids: str = "") -> None:
        """Begin a turn, in which calls give these results; `ids` begins their ids, the turn's number else."""
        if due := self._trimming.due(self.session.messages):
            self.session.trim(due)
            self.steps.append(self.turns)
        self.session.append(Message(role="user", content=f"prompt {self.turns}", injected=prompt or []))
        names = [f"{ids or f't{self.turns}'}_{n}" for n in range(len(results))]
        calls = [{"type": "tool_use", "id": name, "name": "Bash", "input": {}} for name in names]
        if calls:
            self.session.append(Message(role="assistant", content=calls))
            content = [
                {"type": "tool_result", "tool_use_id": name, "content": said}
                for name, said in zip(names, results, strict=True)
            ]
            self.session.append(Message(role="user", content=content))
        self.session.append(Message(role="assistant", content="done"))
        self.turns += 1

    def request(self) -> Request:
        return self._builder.build(self.session.messages, reminder="r", max_tokens=1)

    def sent(self) -> dict[str, Any]:
        """Return the content of each result as it is sent, by its call."""
        blocks = [block for message in self.request().messages for block in message["content"]]
        return {b["tool_use_id"]: b["content"] for b in blocks if b["type"] == "tool_result"}

    def resume(self, *, fork: bool = False) -> None:
        name = self.session.id
        self.session.close()
        self.session = (self.store.fork(name) if fork else self.store.resume(name)).session
        self._begin()


def text(chars: int, begin: str = "x") -> str:
    return begin + "y" * (chars - len(begin))


def size(content: Any) -> int:
    return len(content) if isinstance(content, str) else sum(len(p.get("text", "")) for p in content)


def test_old_results_are_shortened_to_a_preview_ten_turns_at_a_time(project: Path) -> None:
    talk = Talk(project)
    for number in range(45):
        talk.turn(text(3_000, f"result {number}"))
        whole = [int(name[1:-2]) for name, said in talk.sent().items() if len(said) == 3_000]
        assert set(range(number - 10, number + 1)) & set(range(45)) <= set(whole), (
            "ten turns back all is whole"
        )
        assert min(whole) >= number - 20
    assert talk.steps == [20, 30, 40]
    said = talk.sent()["t3_0"]
    assert said.startswith("result 3yyy")
    assert said.splitlines()[1] == "(2,800 more characters were left out as old.)"
    assert len(said.splitlines()[0]) == 200


def test_results_of_at_most_2048_characters_stay_however_old(project: Path) -> None:
    talk = Talk(project)
    for _ in range(25):
        talk.turn(text(2_048), text(2_049))
    assert len(talk.sent()["t0_0"]) == 2_048
    assert len(talk.sent()["t0_1"]) < 300


def test_numbers_of_the_third_pass_are_settings(project: Path) -> None:
    talk = Talk(project, trim_after_turns=2, trim_min_chars=500, trim_preview_chars=10)
    for _ in range(8):
        talk.turn(text(501), text(500))
    assert talk.steps == [4, 6]
    assert talk.sent()["t3_0"].splitlines()[0] == text(10)
    assert [len(talk.sent()[name]) for name in ("t3_1", "t4_0")] == [500, 501]


@pytest.mark.parametrize(
    "changes", [{"trim_min_chars": 500}, {"trim_min_chars": 0, "trim_preview_chars": 300}]
)
def test_numbers_changed_in_the_middle_hold_for_what_stands_there(
    project: Path, changes: dict[str, int]
) -> None:
    talk = Talk(project, trim_after_turns=2, trim_preview_chars=1_000)
    for _ in range(4):
        talk.turn(text(1_100))
    for name, number in {"trim_preview_chars": 200, **changes}.items():
        setattr(talk.settings, name, number)
    talk.turn()
    assert talk.steps == [4]
    assert len(talk.sent()["t1_0"]) < 500 < len(talk.sent()["t2_0"])


def test_old_images_become_a_line_of_text_in_prompts_and_results(project: Path) -> None:
    talk = Talk(project)
    figure = [{"type": "text", "text": "The figure that cell [1] displayed:"}, IMAGE]
    for _ in range(21):
        talk.turn([{"type": "text", "text": "a plot"}, IMAGE], prompt=figure)
    assert talk.sent()["t0_0"] == "a plot\n(An image stood here; it is no longer sent.)"
    prompts = [
        m["content"] for m in talk.request().messages if m["content"][0].get("text", "").startswith("The")
    ]
    first = talk.request().messages[0]["content"]
    assert [b.get("text") for b in first] == [
        "r",
        "The figure that cell [1] displayed:",
        "(An image stood here; it is no longer sent.)",
        "prompt 0",
    ]
    assert [b["type"] for b in prompts[9]] == ["text", "image", "text"], "of the 11th prompt it stays"
    assert talk.sent()["t10_0"][1] == IMAGE
    assert talk.steps == [20]


def test_results_that_are_too_much_together_are_cut_evenly_by_turn(project: Path) -> None:
    talk = Talk(project)
    talk.turn(text(1_500), text(48_000))
    talk.turn(text(30_000), text(30_000))
    talk.turn(text(5_000))
    talk.turn(text(45_000))
    talk.turn(text(45_000, "newest"))
    assert talk.steps == []
    talk.turn()
    sent = {name: size(said) for name, said in talk.sent().items()}
    assert talk.steps == [5]
    assert sum(sent.values()) <= 100_000
    assert sent["t4_0"] == 45_000, "the last turn's results are whole"
    assert (sent["t0_0"], sent["t2_0"]) == (1_500, 5_000), "short ones are whole"
    turns = [sent["t0_0"] + sent["t0_1"], sent["t1_0"] + sent["t1_1"], sent["t3_0"]]
    assert max(turns) - min(turns) < 200
    assert "characters were left out here for room.)" in talk.sent()["t1_0"]
    assert talk.sent()["t1_0"].endswith("yyy")


def test_results_are_not_cut_again_and_again_where_that_saves_nothing(project: Path) -> None:
    talk = Talk(project, all_results_max_chars=4_000, trim_preview_chars=200)
    for _ in range(30):
        talk.turn(text(200))
    assert talk.steps == []


def test_results_that_can_hardly_be_cut_cost_the_cached_prefix_seldom(project: Path) -> None:
    talk = Talk(project, all_results_max_chars=4_000)
    for _ in range(60):
        talk.turn(text(450))
    assert len(talk.steps) <= 60 / 3
    assert len(talk.sent()["t0_0"]) < 300


@pytest.mark.parametrize("pass_", ["old", "room"])
def test_line_that_names_the_file_of_a_result_is_never_cut(project: Path, pass_: str) -> None:
    changes = {"trim_min_chars": 500} if pass_ == "old" else {"all_results_max_chars": 4_000}
    talk = Talk(project, **changes)
    whole = text(60_000)
    preview = moved_to_file(whole, lambda said: talk.session.store_result("toolu_1", said), project=project)
    for _ in range(21):
        talk.turn(preview)
    cut = talk.sent()["t0_0"]
    assert len(cut) < len(preview) - 500
    assert cut.split("\n")[0] == preview.split("\n")[0]
    assert [why for why, _ in why_trimmed(cut)] == ["moved to a file", f"shortened {PASSES[pass_]}"]


@pytest.mark.parametrize("changes", [{}, {"all_results_max_chars": 12_000}])
@pytest.mark.parametrize("rules", [10, 1_000, 3_000])
@pytest.mark.parametrize("said", ["short", "long " * 2_000])
def test_what_stands_in_front_of_a_result_is_no_reason_to_cut_it_again_and_again(
    project: Path, said: str, rules: int, changes: dict[str, int]
) -> None:
    head = '<system-reminder>\nInstruction files join here: ["src/MEWCODE.md"]. Follow it.\n\n'
    joined = f"{head}{'rule' * rules}\n</system-reminder>\n\n"
    talk = Talk(project, **changes)
    talk.turn(joined + said)
    for _ in range(45):
        talk.turn("x" * 300)
    assert len(talk.steps) <= len(changes) + 1 if said != "short" else not talk.steps
    assert talk.sent()["t0_0"].startswith(joined + said[:100])
    assert why_trimmed(talk.sent()["t0_0"]) or said == "short"


def test_heavy_results_cost_the_cached_prefix_seldom(project: Path) -> None:
    talk = Talk(project)
    for _ in range(60):
        talk.turn(text(9_000))
    assert len(talk.steps) <= 60 / 10 + 1


@pytest.mark.parametrize("dialect", ["role", "typed"])
@pytest.mark.parametrize("fork", [False, True])
def test_resumed_session_sends_what_was_sent_before(project: Path, dialect: str, *, fork: bool) -> None:
    talk = Talk(project, session_dialect=dialect, all_results_max_chars=60_000)
    for number in range(34):
        talk.turn(
            text(3_000), [{"type": "text", "text": text(9_000)}, IMAGE], prompt=[IMAGE], ids=f"t{number % 3}"
        )
    before = blocks_of(talk.request())[:-1]  # there the next prompt will stand
    assert len(talk.steps) > 3
    talk.resume(fork=fork)
    assert blocks_of(talk.request())[:-1] == before
    kind = "role" if dialect == "role" else "type"
    trimmed = [r for r in records(talk.session.path) if r[kind] == "trimmed"]
    assert len(trimmed) == len(talk.steps)
    steps = list(talk.steps)
    talk.turn()
    assert talk.steps == steps, "what was trimmed is not trimmed again"
    assert blocks_of(talk.request())[: len(before)] == before


def test_call_ids_that_servers_use_again_are_told_apart(project: Path) -> None:
    talk = Talk(project)
    for number in range(22):
        talk.turn(text(3_000, f"result {number} "), ids="call")
    assert [len(said) > 2_000 for said in talk.sent().values()] == [False] * 10 + [True] * 12
    talk.resume()
    assert [len(said) > 2_000 for said in talk.sent().values()] == [False] * 10 + [True] * 12
    assert all(said.startswith(f"result {n} ") for n, said in enumerate(talk.sent().values()))


def test_decisions_before_a_compaction_say_nothing_of_what_it_kept(project: Path) -> None:
    talk = Talk(project)
    for _ in range(21):
        talk.turn(text(3_000))
    kept = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t0_0", "name": "Bash", "input": {}}]},
        {"role": "tool_result", "tool_use_id": "t0_0", "content": "another"},
    ]
    talk.session.close()
    boundary = {"role": "compact_boundary", "content": {"summary": "s", "keep": kept}, "ts": 1}
    with talk.session.path.open("ab") as file:
        file.write(line(boundary))
    talk.resume()
    assert talk.sent() == {"t0_0": "another"}


steps_of = st.lists(
    st.tuples(
        st.lists(st.integers(0, 60_000) | st.sampled_from([0, 100, 2_048, 2_049, 49_999]), max_size=4),
        st.booleans(),
        st.sampled_from(["", "", "", "resume", "fork"]),
    ),
    min_size=1,
    max_size=24,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps_of, st.sampled_from([1, 3, 10]))
def test_any_conversation_is_trimmed_within_the_rules(tmp_path: Path, drawn: Any, after: int) -> None:
    talk = Talk(tmp_path, trim_after_turns=after)
    last, written = list[str](), 0
    for number, (sizes, has_image, then) in enumerate(drawn):
        steps = len(talk.steps)
        talk.turn(*map(text, (max(size, 1) for size in sizes)), prompt=[IMAGE] * has_image)
        request = talk.request()
        blocks = blocks_of(request)
        assert broken_rules(dataclasses.asdict(request)) == []
        if len(talk.steps) == steps:
            assert blocks[: len(last)] == last
            assert any(0 <= place - written <= 20 for place in breakpoints_of(request)) or not last
        assert [b for b in blocks if '"text": "prompt' in b] == [
            f'["user", {{"type": "text", "text": "prompt {n}"}}]' for n in range(number + 1)
        ]
        before = sum(
            size(said) for name, said in talk.sent().items() if int(name[1:].split("_")[0]) < number - 1
        )
        assert before <= talk.settings.all_results_max_chars * 1.1
        last, written = blocks[:-1], len(blocks) - 2
        if then:
            talk.resume(fork=then == "fork")
            assert blocks_of(talk.request()) == blocks
    talk.session.close()
