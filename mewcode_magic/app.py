"""`Mew`: one agent a shell, which wires stores, context, model, tools and turn together."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from inspect import GEN_RUNNING, getgeneratorstate
from pathlib import Path
from typing import Any

from mewcode_magic import __version__
from mewcode_magic.afterwards import Afterwards
from mewcode_magic.briefing import Briefing
from mewcode_magic.config import MewCode
from mewcode_magic.context import ContextReport, mentioned
from mewcode_magic.conversation import Conversation
from mewcode_magic.conversations import Conversations
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import SessionInUse
from mewcode_magic.events import CompactionEnded, Event, Model, Notice, TurnEnded, passed_on
from mewcode_magic.files import absolute, shown
from mewcode_magic.kernel import can_ask, notebook_path
from mewcode_magic.kernel.activity import Activity
from mewcode_magic.kernel.place import Place
from mewcode_magic.memory import (
    Condensation,
    Extraction,
    Memory,
    MemoryStore,
    Saved,
    first_use,
    memory_from_text,
    propose_merges,
)
from mewcode_magic.messages import Block, Usage
from mewcode_magic.model import OFFLINE, Models
from mewcode_magic.project import project_folder
from mewcode_magic.recorded import can_run_again, replay
from mewcode_magic.sessions import Resumed, Session, SessionStore, Turn, free_sessions

__all__ = ["Mew", "Status"]

EXIT_SECONDS = 2.0
"""What background work is given when the kernel ends, which Jupyter kills a little later."""


@dataclass(frozen=True, slots=True)
class Status:
    """What `%mewcode` shows."""

    version: str
    model: str
    project: Path
    home: Path
    session_id: str
    session_title: str
    session_usage: Usage | None
    """Tokens of the session's replies, in this kernel and before; None as long as they are not counted."""
    turns: int
    usage: Usage
    """Tokens of this kernel's turns, all sessions together, and of what was done behind them."""
    background: str
    """What is done behind the turns, or was last: extraction of memories, summaries."""


class Mew:
    """The agent of one shell, or of a script.

    `project_dir` and `home` win over the settings. `model` is a model object, or a name; None is the
    setting's, else the default. `settings` is the shell's `MewCode`; None reads the environment. `activity`
    knows what the user does in the shell beside the agent.

    Raises:
        SettingError: what is named as a folder is none, or a setting cannot be used.
    """

    def __init__(
        self,
        project_dir: Path | str | None = None,
        home: Path | str | None = None,
        model: Model | str | None = None,
        shell: Any = None,
        settings: MewCode | None = None,
        *,
        activity: Activity | None = None,
    ) -> None:
        self.settings = settings or MewCode()
        self.home = absolute(home) if home else self.settings.home_path
        self.project = project_folder(project_dir or self.settings.project_dir, self.home)
        self.sessions = SessionStore(self.project, settings=self.settings)
        self.memory = MemoryStore(self.project, self.home, settings=self.settings)
        self._models = Models(model, settings=self.settings)
        self._shell = shell
        self._afterwards = Afterwards(self.memory, self.sessions, self.settings)
        self._briefing = Briefing(self.sessions, self._afterwards, activity, self.settings)
        self._conversations = Conversations(
            self.sessions, self.memory, self.settings, home=self.home, shell=shell
        )
        self._turn: Generator[Event] | None = None
        self._turns = 0
        self._usage = Usage()

    # -- conversations ---------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The open session; its file is made with its first record."""
        return self._current.session

    @property
    def _current(self) -> Conversation:
        return self._conversations.current

    @property
    def place(self) -> Place:
        """Where what runs in the shell now stands."""
        return self._conversations.place

    def new(self) -> Session:
        """Close the open session and begin another.

        Raises:
            StorageError: a record could not be written; the session stays open and keeps it.
        """
        self._abandon_turn()
        return self._conversations.begin()

    def resume(self, text: str | None = None, *, fork: bool = False) -> Resumed:
        """Go on with an earlier session: by id or unique prefix.

        Without: this notebook's latest, else the project's latest, that is not open elsewhere. With `fork`
        a copy is made and gone on with.

        Raises:
            SessionNotFound: there is none, or none of that id.
            SessionAmbiguous: several ids begin with `text`.
            SessionInUse: it is open in another process and `fork` is not set.
            StorageError: it cannot be read, or a record of the open session could not be written; that one
                stays open and keeps it.
        """
        session_id = self.sessions.find(text) if text else self._conversations.latest().id
        self._abandon_turn()
        return self._conversations.go_on(session_id, fork=fork)

    def resume_here(self) -> Resumed | None:
        """Go on with this notebook's latest session that is not open elsewhere, else with a new one.

        None: none was resumed, and the open session is a new one, or this notebook's already. Where the front
        end does not say which notebook it is, the open session stays.

        Raises:
            StorageError: a session cannot be read, or a record of the open one could not be written.
        """
        notebook, session = self.place.notebook, self.session
        if notebook is None or (session.messages and session.notebook == notebook):
            return None
        found = next(free_sessions(self.sessions, but=session.id, first_of=notebook), None)
        if found is not None and found.notebook == notebook:
            return self.resume(found.id)
        if session.messages:
            self.new()
        return None

    def close(self) -> None:
        """Close the open session; a turn that still runs is closed as interrupted.

        What runs in the background is given two seconds to end.

        Raises:
            StorageError: a record could not be written and is lost; the session is closed nevertheless.
        """
        try:
            self._abandon_turn()
            self._conversations.leave()
        finally:
            self._afterwards.finish(EXIT_SECONDS)

    # -- turns -----------------------------------------------------------------------------------------

    def ask(self, prompt: str, *, model: str | None = None, fix: bool = False) -> Generator[Event]:
        """Run one turn on `prompt`: yield its events as they come, `TurnEnded` last.

        `fix` attaches the user's last cell that failed, and its traceback.

        An iterator that is closed or dropped before its end, or followed by another `ask`, ends the turn as
        interrupted. A KeyboardInterrupt is recorded, told by `TurnEnded`, and raised again.

        Raises:
            ValueError: the prompt is blank.
            NoFailure: no cell has failed that `fix` could attach.
            SessionInUse: a turn is under way at this moment, in another thread.
            MewCodeError: the turn could not be run, or broke off; what had arrived is recorded.
        """
        if not prompt.strip():
            raise ValueError("a prompt needs some text")
        self._abandon_turn()
        self._turn = self._run(prompt, self._models.main(model), [self._briefing.last_error()] if fix else [])
        return self._turn

    def recorded(
        self, prompt: str, *, model: str | None = None, fix: bool = False, new: bool = False
    ) -> Turn | None:
        """Return, once, the turn that an earlier kernel recorded for `prompt` in the cell that runs now.

        The others are what the cell asks for besides. `model`: what the offline answers said is not shown
        where a model would answer. `fix`: once something failed in this kernel, the question is another one.
        `new`: a session that is to be new must begin with the turn.

        Raises:
            StorageError: the session cannot be read.
        """
        place = self.place
        if not can_run_again(self._shell, place):
            return None
        turn = self._conversations.recorded.take(prompt, place)
        if turn is None or (new and turn.number > 0):
            return None
        if turn.model == OFFLINE and self._models.main(model).name != OFFLINE:
            return None
        return None if fix and self._briefing.has_error else turn

    def replay(self, turn: Turn) -> Generator[Event]:
        """Yield the events of a recorded turn, `Replayed` first; nothing is asked, run or recorded."""
        self._abandon_turn()
        asked = self._conversations.recorded.asked
        self._turn = replay(turn, asked=asked, shell=self._shell, notebook=notebook_path(self._shell))
        return self._turn

    def use(self, model: Model | str | None) -> None:
        """Let `model` answer from the next turn on: a model object, a name, or None for the setting's."""
        self._models = Models(model, settings=self.settings)

    def _run(self, prompt: str, model: Model, attachments: list[Block]) -> Generator[Event]:
        conversation, side = self._current, self._models.side(model)
        conversation.admit(prompt, model)
        arrived = self.memory.arrivals()
        first = self._turns == 0 and first_use(self.home, self.project)
        if first and (line := conversation.front.uses(told=arrived)):
            yield Notice(line)
        if arrived:
            yield Notice(_told_of(arrived, self.memory.folder("project")))
        self._briefing.tell_of_earlier_session(conversation)
        attachments += self._briefing.tell_of_activity(conversation)
        attachments += mentioned(prompt, shell=self._shell, project=self.project, settings=self.settings)
        turn = conversation.ask(
            prompt,
            model=model,
            side=side,
            attachments=attachments,
            place=self.place,
        )
        recorded, asked_before = self._conversations.recorded, conversation.asked

        def counted(event: Event) -> Event:
            if not isinstance(event, TurnEnded):
                return event
            self._turns += 1
            self._usage += event.usage
            return replace(event, extraction=self._after_turn(event, conversation, side))

        try:
            yield from passed_on(turn, counted)
        finally:
            recorded.asked += conversation.asked - asked_before

    def _after_turn(
        self, event: TurnEnded, conversation: Conversation, side: Model
    ) -> Future[Extraction] | None:
        """Begin what is done behind a turn."""
        self._briefing.sum_up_earlier_session(conversation, side)
        if self._afterwards.extracts_nothing or event.stop == "interrupted":
            return None
        earlier, turn = conversation.last_turn()
        extraction = self._afterwards.extract(
            side,
            messages=turn,
            earlier=earlier,
            instructions=conversation.instructions,
            session_id=conversation.session.id,
        )
        nobody_there = self._shell is not None and not can_ask(self._shell)
        self._afterwards.give_time(extraction, to_its_end=nobody_there)
        return extraction

    def refuse_while_answering(self) -> None:
        """Refuse what a turn under way does not survive, such as taking the agent away.

        Raises:
            SessionInUse: a turn runs at this moment, in another thread or in what its events have set off.
        """
        if self._turn is not None and getgeneratorstate(self._turn) == GEN_RUNNING:
            raise SessionInUse("the agent is answering already; ask again when that turn has ended")

    def _abandon_turn(self) -> None:
        self.refuse_while_answering()
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.close()

    def compact(self, focus: str = "") -> Generator[Event]:
        """Put a summary in the place of all but the latest messages: yield `CompactionStarted`, then its end.

        `focus` is what the user wants kept in mind. Whatever is raised, the conversation is as it was.

        Raises:
            NothingToCompact: there is too little to sum up.
            SessionInUse: a turn is under way at this moment, in another thread.
            MewCodeError: there is no summary, or it could not be recorded.
        """
        self._abandon_turn()
        self._turn = self._compact(focus.strip())
        return self._turn

    def _compact(self, focus: str) -> Generator[Event]:
        model = self._models.main()

        def counted(event: Event) -> Event:
            if isinstance(event, CompactionEnded):
                self._usage += event.usage
            return event

        compaction = self._current.compact(model=model, side=self._models.side(model), focus=focus)
        yield from passed_on(compaction, counted)

    def context(self) -> ContextReport:
        """Return what the next request would hold beside the prompt itself."""
        self._briefing.tell_of_earlier_session(self._current)
        return self._current.report(self._models.main())

    # -- memory and status -----------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        type: str | None = None,
        name: str | None = None,
        description: str | None = None,
        expires: str | None = None,
        force: bool = False,
    ) -> Saved:
        """Save `text` to long-term memory; what is not given is derived from it.

        What is derived has masks for what looks like a credential; `force` saves that, but in the body alone.

        Raises:
            CredentialRefused: it seems to hold a credential.
            InvalidMemory: a part is missing or cannot be used.
            StorageError: the file cannot be written.
        """
        memory = memory_from_text(
            mask_credentials(text),
            type=type,
            name=name,
            description=description,
            expires=expires,
            now=datetime.now(UTC),
        )
        memory = replace(memory, body=text)
        return self.memory.save(memory, rename_if_taken=name is None, force=force)

    def condense(self) -> Condensation:
        """Ask a model which memories could become one; `write_merges` writes what it proposes.

        Raises:
            ModelError: there is no answer, or none that can be read.
        """
        side = self._models.side(self._models.main())
        proposed = propose_merges(self.memory, side, now=datetime.now(UTC))
        self._usage += proposed.usage
        return proposed

    def status(self) -> Status:
        """Return the state that `%mewcode` shows."""
        session = self.session
        return Status(
            version=__version__,
            model=self._models.main().name,
            project=self.project,
            home=self.home,
            session_id=session.id,
            session_title=session.title,
            session_usage=session.usage,
            turns=self._turns,
            usage=self._usage + self._afterwards.usage,
            background=self._afterwards.state,
        )


def _told_of(arrived: Sequence[Memory], folder: Path) -> str:
    many = len(arrived) > 1
    count = f"{len(arrived):,} memories come" if many else "1 memory comes"
    return f"{count} with this project ({shown(folder)}); %memory lists {'them' if many else 'it'}"
