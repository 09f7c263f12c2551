"""One open session, and what its agent has been told around the prompts: front, notices, memories."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mewcode_magic.config import MewCode
from mewcode_magic.context import (
    Compaction,
    ContextPart,
    ContextReport,
    Front,
    Growing,
    RequestBuilder,
    Room,
    Trimming,
    estimate_tokens_of,
    listed,
    notice_block,
    notices_of_missing,
    read_front,
    report_context,
    system_prompt,
)
from mewcode_magic.errors import ContextTooLong, MewCodeError, StorageError
from mewcode_magic.events import (
    CompactionEnded,
    Event,
    Model,
    Notice,
    Recalled,
    Request,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    passed_on,
)
from mewcode_magic.instructions import ScopedInstructions
from mewcode_magic.kernel.place import Place
from mewcode_magic.memory import Memory, MemoryStore, Recall, Recalling
from mewcode_magic.messages import Block, Message, Surfaced, Usage
from mewcode_magic.model import window_of
from mewcode_magic.sessions import Session, SessionInfo
from mewcode_magic.tools import Permissions, ToolContext, all_tools, joined_in
from mewcode_magic.turn import Prepare, run_turn

__all__ = ["Conversation"]


class Conversation:
    """A session that is gone on with. `notices` wait for the next prompt, with which they are sent.

    `bound` are the names that calls bound in a kernel that may be gone; of those that the present one then
    lacks the agent is told with the next prompt. `earlier` is the session before this one, as long as it
    waits for its summary.
    """

    def __init__(
        self,
        session: Session,
        *,
        project: Path,
        home: Path,
        memory: MemoryStore,
        settings: MewCode,
        shell: Any = None,
        notices: Iterable[str] = (),
        bound: Iterable[str] = (),
    ) -> None:
        self.session = session
        self.notices = list(notices)
        self.earlier: SessionInfo | None = None
        self.asked = 0
        """Prompts that were recorded, or wait to be."""
        self._bound = list(bound)
        self._project, self._home, self._shell = project, home, shell
        self._memory, self._settings = memory, settings
        # Chosen here: neither they nor what the system prompt says of them may change within a session.
        self._tools = {tool.name: tool for tool in all_tools(settings)}
        self._scoped = ScopedInstructions(project, settings)
        system = system_prompt(project, settings.memory_tool)
        definitions = [tool.definition for tool in self._tools.values()]
        self._builder = RequestBuilder(system=system, tools=definitions)
        self._fixed_tokens = estimate_tokens_of([system, definitions])
        self._trimming = Trimming(settings)
        self._seen = Growing()
        self._known: list[Surfaced] = []
        self._looked_through = Growing()
        self._joins: list[tuple[list[str], str]] = []
        """Names and texts of the instructions that joined."""
        self._context = ToolContext(
            session.id,
            project,
            memory,
            settings,
            Permissions(settings),
            shell=shell,
            instructions=self._scoped,
        )
        self._front: Front | None = None
        self._recall: Recall | None = None
        self._compaction = Compaction(session, settings, front=self._front_tokens)

    @property
    def front(self) -> Front:
        """What stands in front of the session, as it was on disk when it began, resumed or was compacted."""
        if self._front is None or not self.session.messages:
            self._front = read_front(self._project, self._home, self._memory, self._settings)
        return self._front

    def admit(self, prompt: str, model: Model) -> None:
        """Let a prompt come next, before anything is put in front of it: see what is there, and for room.

        Raises:
            ConversationFull: there is no room for it, and the setting is not to make any.
            StorageError: what another program has appended cannot be read.
        """
        self.session.refresh()
        self._compaction.check_room(prompt, self._window(model))

    def ask(
        self,
        prompt: str,
        *,
        model: Model,
        side: Model,
        attachments: Sequence[Block] = (),
        place: Place,
    ) -> Generator[Event]:
        """Run one turn on a prompt that was admitted: yield its events as they come, `TurnEnded` last.

        `attachments` are sent in front of it, behind the notices. `place` is where it stands. `side` chooses
        the memories, while the rest of the request is prepared. A KeyboardInterrupt is recorded, told by
        `TurnEnded`, and raised again.

        Raises:
            MewCodeError: the turn could not be run, or broke off; what had arrived is recorded.
        """
        session = self.session
        stopped: KeyboardInterrupt | None = None
        failure, waiting, bound = "", self.notices, self._bound
        notices: list[str] = []
        front = self._front
        try:
            recalling = Recalling(
                prompt,
                self._memory,
                surfaced=self._surfaced(),
                settings=self._settings,
                now=datetime.now(UTC),
                model=side,
            )
            self._trim()
            notices, front = self._pending()
            waiting, bound = [], []
            try:
                recall = recalling.result()
            except MewCodeError as error:  # what memory cannot give must not cost the answer
                failure, recall = str(error), Recall([], [], "", why=str(error))
        except KeyboardInterrupt as error:  # the prompt is kept, and what could not be told now waits
            stopped, recall = error, Recall([], [], "", why="the user stopped it")
        if failure:
            yield Notice(f"No memory was recalled: {failure}")
        injected: list[Block] = [{"type": "text", "text": recall.text}] if recall.text else []
        if notices:
            injected.append(notice_block(notices))
        injected += attachments
        self.asked += 1
        session.append(
            Message(
                role="user",
                content=prompt,
                injected=injected,
                recalled=recall.surfaced,
                notebook=place.notebook,
                cell=place.cell,
                run=place.run,
            )
        )
        self._front, self._recall, self.notices, self._bound = front, recall, waiting, bound
        if recall.surfaced:
            yield Recalled(tuple(recall.surfaced), recall.by)

        def prepare(refused: ContextTooLong | None) -> Generator[Event, None, Request]:
            if stopped is not None:
                raise stopped
            yield from self._make_room(model, side, refused)
            return self.request()

        beside = recall.usage

        def with_usage_beside(event: Event) -> Event:
            nonlocal beside
            beside += event.usage if isinstance(event, CompactionEnded) else Usage()
            return replace(event, usage=event.usage + beside) if isinstance(event, TurnEnded) else event

        yield from passed_on(self._turn(model, prepare), with_usage_beside)

    def _surfaced(self) -> list[Surfaced]:
        """Return the memories that stand in front of the session's prompts."""
        new, goes_on = self._seen.look(self.session.messages)
        known = self._known if goes_on else []
        self._known = known + [surfaced for message in new for surfaced in message.recalled]
        return self._known

    def _trim(self) -> None:
        """Shorten what has become too old or too much, before the next turn begins."""
        if due := self._trimming.due(self.session.messages):
            with contextlib.suppress(StorageError):  # recording the prompt will tell it
                self.session.trim(due)

    def _turn(self, model: Model, prepare: Prepare) -> Generator[Event]:
        """Let the model answer the last prompt, and see to it that all of it is on disk at the end."""
        session = self.session
        before: dict[str, Memory] = {}

        def noted(event: Event) -> Event:
            nonlocal before
            match event:
                case ToolStarted(name=name) if self._writes_memory(name):
                    before = self._memory.snapshot()
                case ToolEnded(name=name) if self._writes_memory(name):
                    self._front = self.front.learned(before, self._memory.snapshot())
                case TurnEnded():
                    session.end_turn()
            return event

        try:
            yield from passed_on(run_turn(model, session, prepare, self._tools, self._context), noted)
        except BaseException:
            with contextlib.suppress(Exception):  # the first failure is the one to tell
                session.end_turn()
            raise

    def _writes_memory(self, name: str) -> bool:
        return name in self._tools and self._tools[name].writes_memory

    def _pending(self) -> tuple[list[str], Front]:
        """Return what the agent must be told with the next prompt, and the front once it is told."""
        messages = self.session.messages
        stopped = bool(messages) and messages[-1].interrupted
        notices = ["Your previous answer was stopped before its end."] if stopped else []
        news, front = self.front.news(self._memory)
        return [*self.notices, *notices_of_missing(self._bound, self._shell), *notices, *news], front

    def _know_joined(self, front: Front) -> str:
        """Tell the scoped instructions which of them the agent has been sent, and return what those say."""
        messages = self.session.messages
        new, goes_on = self._looked_through.look(messages)
        if not goes_on:
            self._joins = []
        self._joins += joined_in(messages[max(0, len(messages) - len(new) - 1) :])
        self._scoped.know(front.instructions, [name for names, _ in self._joins for name in names])
        return "\n\n".join(text for _, text in self._joins)

    @property
    def instructions(self) -> str:
        """All that the agent has been sent of instruction files."""
        front = self.front
        return "\n\n".join(text for text in (front.instructions.text, self._know_joined(front)) if text)

    def compact(self, *, model: Model, side: Model, focus: str = "") -> Generator[Event]:
        """Have `side` sum up all but the latest messages, with what the user wants kept in mind.

        Instructions, memories and date are read again afterwards. `model` is who goes on with the rest.

        Raises:
            NothingToCompact: there is too little to sum up.
            MewCodeError: it could not be done; all is as it was.
        """
        self.session.refresh()
        windows = {"window": self._window(model), "side_window": self._window(side)}

        def seen_to(event: Event) -> Event:
            if isinstance(event, CompactionEnded):
                self._read_front()
                self.session.end_turn()
            return event

        yield from passed_on(self._compaction.run(side, focus=focus, **windows), seen_to)

    def _make_room(self, model: Model, side: Model, refused: ContextTooLong | None) -> Generator[Event]:
        """Compact the conversation if the next request would be too long, or if the last one was `refused`.

        Raises:
            ContextTooLong: the last request was, and the conversation cannot be made shorter.
        """
        window = self._window(model)
        if not (self._compaction.is_due(window) if refused is None else self._compaction.is_automatic):
            done = False
        else:
            done = yield from self._compaction.run_by_itself(
                side, window=window, side_window=self._window(side)
            )
        if done:
            self._read_front()
        elif refused is not None:
            raise refused

    def _read_front(self) -> None:
        """Read instructions, memories and date again; what cannot be read now stays as it was."""
        with contextlib.suppress(MewCodeError):
            self._front = read_front(self._project, self._home, self._memory, self._settings)

    def _front_tokens(self) -> int:
        """Return about how many tokens are sent in front of the conversation."""
        return self._fixed_tokens + estimate_tokens_of(self.front.reminder.text)

    def _window(self, model: Model) -> int:
        return self._settings.context_window or window_of(model.name)

    def last_turn(self) -> tuple[list[Message], list[Message]]:
        """Return the messages before the last prompt, and those from it on."""
        # Found, not counted: another program may have written to the session, or compacted it.
        messages = list(self.session.messages)
        start = next((n for n in reversed(range(len(messages))) if messages[n].is_prompt), len(messages))
        return messages[:start], messages[start:]

    def request(self) -> Request:
        """Return the request for the session as it stands now."""
        front = self.front
        self._know_joined(front)  # in the midst of a turn what had joined may have been taken away
        return self._builder.build(
            self.session.messages,
            reminder=front.reminder.text,
            max_tokens=self._settings.max_tokens,
        )

    def report(self, model: Model) -> ContextReport:
        """Return what the next request to `model` would hold beside the prompt itself."""
        front = self.front
        return report_context(
            self.request(),
            front.reminder,
            self.session.messages,
            pending=self._pending()[0],
            recall=self._recall,
            used=self._compaction.tokens,
            room=Room.of(self._window(model), self._settings),
            automatic=self._compaction.is_automatic,
            files=listed(front.instructions.files),
            joined=self._joined(front),
            notices=[*front.instructions.notices, *self._scoped.notices, *self._memory.notices],
        )

    def _joined(self, front: Front) -> ContextPart | None:
        """Return what has joined the instructions, and which rules still wait, if any."""
        text = self._know_joined(front)
        parts = []
        if self._scoped.joined:
            parts.append(f"sent with results: {listed(self._scoped.joined)}")
        if waiting := self._scoped.waiting:
            parts.append(f"waiting for a matching path: {listed([rule.path for rule in waiting])}")
        # Their tokens are counted with the conversation.
        return ContextPart("joined instructions", 0, text, "; ".join(parts)) if parts else None
