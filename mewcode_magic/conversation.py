"""One open session that is gone on with: what stands around its prompts, the turns, the room for them."""

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
    ContextReport,
    Front,
    RequestBuilder,
    Room,
    Telling,
    Trimming,
    estimate_tokens_of,
    listed,
    notice_block,
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
from mewcode_magic.joined import JoinedInstructions
from mewcode_magic.kernel.place import Place
from mewcode_magic.memory import Memory, MemoryStore, Recall, Recalling
from mewcode_magic.messages import Block, Message, Usage
from mewcode_magic.model import window_of
from mewcode_magic.sessions import Session, SessionInfo
from mewcode_magic.tools import Permissions, ToolContext, all_tools, tool_names
from mewcode_magic.turn import Prepare, run_turn

__all__ = ["Conversation"]


class Conversation:
    """A session that is gone on with; `notices` and `bound` are as `Telling` has them.

    `earlier` is the session before this one, as long as it waits for its summary.
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
        self.earlier: SessionInfo | None = None
        self.asked = 0
        """Prompts that were recorded, or wait to be."""
        self._memory, self._settings = memory, settings
        # Chosen here: neither they nor what the system prompt says of them may change within a session.
        self._tools = {tool.name: tool for tool in all_tools(settings)}
        self._scoped = ScopedInstructions(project, settings)
        self._joined = JoinedInstructions(session, self._scoped)
        system = system_prompt(project, settings.memory_tool)
        definitions = [tool.definition for tool in self._tools.values()]
        self._builder = RequestBuilder(system=system, tools=definitions)
        self._fixed_tokens = estimate_tokens_of([system, definitions])
        self._trimming = Trimming(settings)
        self._permissions = Permissions(settings, tool_names())
        self._context = ToolContext(
            session.id,
            project,
            memory,
            settings,
            self._permissions,
            shell=shell,
            instructions=self._scoped,
        )
        self._telling = Telling(
            session,
            memory,
            settings,
            project=project,
            home=home,
            shell=shell,
            notices=notices,
            bound=bound,
        )
        self._recall: Recall | None = None
        self._compaction = Compaction(session, settings, front=self._front_tokens)

    @property
    def front(self) -> Front:
        """What stands in front of the session, as it was on disk when it began, resumed or was compacted."""
        return self._telling.front

    @property
    def notices(self) -> list[str]:
        """What waits for the next prompt, with which it is sent."""
        return self._telling.notices

    def admit(self, prompt: str, model: Model) -> None:
        """Let a prompt come next, before anything is put in front of it: see what is there, and for room.

        Raises:
            ConversationFull: there is no room for it, and the setting is not to make any.
            SettingError: a rule of what the agent may do is none.
            StorageError: what another program has appended cannot be read.
        """
        self._permissions.check()
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
        failure, news = "", None
        try:
            recalling = Recalling(
                prompt,
                self._memory,
                surfaced=self._telling.surfaced(),
                settings=self._settings,
                now=datetime.now(UTC),
                model=side,
            )
            self._trim()
            news = self._telling.news()
            try:
                recall = recalling.result()
            except MewCodeError as error:  # what memory cannot give must not cost the answer
                failure, recall = str(error), Recall([], [], "", why=str(error))
        except KeyboardInterrupt as error:  # the prompt is kept, and what could not be told now waits
            stopped, recall = error, Recall([], [], "", why="the user stopped it")
        if failure:
            yield Notice(f"No memory was recalled: {failure}")
        injected: list[Block] = [{"type": "text", "text": recall.text}] if recall.text else []
        if news is not None and news.notices:
            injected.append(notice_block(news.notices))
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
        self._recall = recall
        if news is not None:
            self._telling.told(news)
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
                    self._telling.learned(before, self._memory.snapshot())
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

    @property
    def instructions(self) -> str:
        """All that the agent has been sent of instruction files."""
        front = self.front.instructions
        return "\n\n".join(text for text in (front.text, self._joined.look(front)) if text)

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
                self._telling.read_again()
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
            self._telling.read_again()
        elif refused is not None:
            raise refused

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
        # In the midst of a turn what had joined may have been taken away.
        self._joined.look(front.instructions)
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
            pending=self._telling.news().notices,
            recall=self._recall,
            used=self._compaction.tokens,
            room=Room.of(self._window(model), self._settings),
            automatic=self._compaction.is_automatic,
            files=listed(front.instructions.files),
            joined=self._joined.part(front.instructions),
            notices=[*front.instructions.notices, *self._scoped.notices, *self._memory.notices],
        )
