"""What a model streams and what a turn yields, as values; the turn never prints."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from mewcode_magic.messages import Block, Surfaced, Usage
from mewcode_magic.prompts import prompt

__all__ = [
    "BlockEnded",
    "CompactionEnded",
    "CompactionStarted",
    "Event",
    "Model",
    "ModelEvent",
    "Notice",
    "PermissionAsked",
    "Query",
    "QueryKind",
    "Recalled",
    "Replayed",
    "Reply",
    "ReplyEnded",
    "Request",
    "TextDelta",
    "ThinkingDelta",
    "ToolEnded",
    "ToolStarted",
    "TurnEnded",
    "VariablesMissing",
    "passed_on",
]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the model's text; pieces joined give the block's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockEnded:
    """One content block is complete: text, thinking with its signature, or a call with its whole input."""

    block: Block


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The model's reply is complete."""

    stop_reason: str
    usage: Usage
    model: str


ModelEvent: TypeAlias = TextDelta | ThinkingDelta | BlockEnded | ReplyEnded


@dataclass(frozen=True, slots=True)
class Notice:
    """A line that the user should see beside the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """The memories that were put in front of the prompt, and what chose them."""

    memories: tuple[Surfaced, ...]
    by: Literal["model", "keywords"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What follows in the turn is what an earlier kernel recorded: no model is asked, no call is run.

    `time` is when it was asked then, in Unix seconds, `model` what answered, as far as the record says it.
    `asked` is how many turns the present kernel has asked before, of which the answer knew nothing.
    """

    time: float | None
    model: str
    asked: int


@dataclass(frozen=True, slots=True)
class VariablesMissing:
    """Variables that a replayed turn had made and the kernel does not have, and the code of its calls.

    `offered` says where the code is: in the cell that is inserted below, in the notebook already, or nowhere
    but here.
    """

    names: tuple[str, ...]
    code: str
    offered: Literal["below", "notebook", "nowhere"]


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is about to run."""

    id: str
    name: str
    input: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call has ended; `result` is the text that the model gets to see.

    `detail` is what the user may want to see besides: the code, command or diff, in `language`. `images` are
    the figures of a call in a replayed turn, as blocks; those of one that is run the user sees as it runs.
    `stopped`: the user stopped it.
    """

    id: str
    name: str
    result: str
    is_error: bool
    seconds: float
    detail: str = ""
    language: str = ""
    images: tuple[Block, ...] = ()
    stopped: bool = False


@dataclass(slots=True)
class PermissionAsked:
    """A call needs the user's word. Unanswered means denied.

    `detail` is the exact code, command or diff, in `language`. `always` is the rule that the answer `always`
    adds for the session; "" where there is no such answer.
    """

    tool: str
    question: str
    detail: str = ""
    language: str = ""
    always: str = ""
    answer: str | None = field(default=None, init=False)

    def reply(self, answer: str) -> None:
        """Answer `yes`, `no`, `always`, or with a sentence that goes to the agent in place of a result."""
        self.answer = answer


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """The conversation is about to be compacted; it takes `tokens` of the model's window."""

    tokens: int


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """The conversation was compacted from so many tokens to so many, both in part estimated.

    `failure` says why it was not; then all is as it was. `usage` is what the summary took.
    """

    before: int
    after: int
    seconds: float
    usage: Usage = field(default_factory=Usage)
    failure: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over and recorded.

    `text` is the final answer. `usage` adds up all rounds. `stop` says why it ended: the model had said
    everything, the user stopped it, or the limit of rounds was reached.
    """

    text: str
    model: str
    usage: Usage
    seconds: float
    rounds: int
    stop: Literal["done", "interrupted", "limit"]
    extraction: Future[Any] | None = None
    """The `memory.Extraction` that is made of the turn in the background, if one is."""


Event: TypeAlias = (
    TextDelta
    | ThinkingDelta
    | Notice
    | Recalled
    | Replayed
    | ToolStarted
    | ToolEnded
    | PermissionAsked
    | VariablesMissing
    | CompactionStarted
    | CompactionEnded
    | TurnEnded
)


def passed_on(events: Generator[Event], change: Callable[[Event], Event]) -> Generator[Event]:
    """Yield `change` of each event; what is thrown in reaches `events`, as the user's interrupt must.

    Closed, it closes `events` at once.
    """
    thrown: BaseException | None = None
    with closing(events):
        while True:
            try:
                event = next(events) if thrown is None else events.throw(thrown)
            except StopIteration:
                return
            thrown = None
            try:
                yield change(event)
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - it is raised in `events`, and comes back
                thrown = error


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model in the API's terms; it satisfies all that the Messages API demands."""

    system: list[Block]
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    max_tokens: int


QueryKind: TypeAlias = Literal["recall", "extract", "summary", "compact", "condense"]


@dataclass(frozen=True, slots=True)
class Query:
    """A question of the program itself, beside the conversation; it is answered whole.

    Its kind names the prompt, `prompts/KIND.md`. `messages` are in the API's form. `schema` is a type that
    the answer's JSON is converted to, as msgspec does; None means that the answer is its text.
    """

    kind: QueryKind
    messages: list[dict[str, Any]]
    schema: Any = None
    seconds: float = 60.0
    """After which no answer is of use any more."""
    max_tokens: int = 4_000

    def request(self) -> Request:
        """Return it as a request: what the kind's prompt says, then the messages."""
        return Request([{"type": "text", "text": prompt(self.kind)}], self.messages, [], self.max_tokens)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a query: a value of its schema, else a text."""

    value: Any
    usage: Usage


class Model(Protocol):
    """What answers: Claude over the API, the offline answers, or a script."""

    @property
    def name(self) -> str:
        """The model's name as the user sees it."""
        ...

    def stream(self, request: Request) -> Iterator[ModelEvent]:
        """Yield the reply as it arrives; the last event is `ReplyEnded`.

        Closing the iterator, or an exception raised inside it (KeyboardInterrupt), ends the connection.

        Raises:
            ModelError: no reply, or only a part of one, could be had.
        """
        ...

    def query(self, query: Query) -> Reply:
        """Answer a question of the program, without streaming.

        Raises:
            ModelError: there is no answer in time, or none that fits the schema.
        """
        ...
