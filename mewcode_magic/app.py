"""`Mew`: one agent a shell, which wires stores, context, model, tools and turn together."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from inspect import GEN_RUNNING, getgeneratorstate
from pathlib import Path
from typing import Any

from mewcode_magic import __version__
from mewcode_magic.afterwards import Afterwards
from mewcode_magic.config import MewCode
from mewcode_magic.context import (
    ContextReport,
    activity_blocks,
    activity_notice,
    error_block,
    mentioned,
    notice_of_summary,
    notices_of_resume,
)
from mewcode_magic.conversation import Conversation
from mewcode_magic.credentials import mask_credentials
from mewcode_magic.errors import MewCodeError, NoFailure, SessionInUse, SessionNotFound
from mewcode_magic.events import CompactionEnded, Event, Model, Notice, TurnEnded
from mewcode_magic.files import absolute, shown
from mewcode_magic.kernel import can_ask, cell_id, notebook_path
from mewcode_magic.kernel.activity import Activity
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
from mewcode_magic.model import Models
from mewcode_magic.project import project_folder
from mewcode_magic.sessions import Resumed, Session, SessionInfo, SessionStore

__all__ = ["Mew", "Status"]

UNNOTICED_SECONDS = 0.05
"""What a cell may take longer, so that what rules extract at once is told with the answer."""
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
        self._shell, self._activity = shell, activity
        self._afterwards = Afterwards(self.memory, self.sessions, self.settings)
        self._conversation: Conversation | None = None
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
        if self._conversation is None:
            self._conversation = self._over(self.sessions.create(notebook=self._notebook()))
        return self._conversation

    def _over(self, session: Session, notices: Iterable[str] = ()) -> Conversation:
        return Conversation(
            session,
            project=self.project,
            home=self.home,
            memory=self.memory,
            settings=self.settings,
            shell=self._shell,
            notices=notices,
        )

    def new(self) -> Session:
        """Close the open session and begin another.

        Raises:
            StorageError: a record could not be written; the session stays open and keeps it.
        """
        self._settle()
        self._leave()
        return self.session

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
        session_id = self.sessions.find(text) if text else self._latest().id
        self._settle()
        if self._is_open(session_id) and not fork:
            self._leave()
        resumed = self.sessions.fork(session_id) if fork else self.sessions.resume(session_id)
        self._leave()
        self._conversation = self._over(resumed.session, notices_of_resume(resumed, self._shell))
        return resumed

    def close(self) -> None:
        """Close the open session; a turn that still runs is closed as interrupted.

        What runs in the background is given two seconds to end.

        Raises:
            StorageError: a record could not be written and is lost; the session is closed nevertheless.
        """
        try:
            self._leave()
        finally:
            self._afterwards.finish(EXIT_SECONDS)

    def _settle(self) -> None:
        """End what runs and write what waits, before another session takes the place of the open one."""
        self._abandon_turn()
        if self._conversation is not None:
            self._conversation.session.end_turn()

    def _leave(self) -> None:
        self._abandon_turn()
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.session.close()

    def _is_open(self, session_id: str) -> bool:
        return self._conversation is not None and self._conversation.session.id == session_id

    def _latest(self) -> SessionInfo:
        infos = [info for info in self.sessions.list() if not self._is_open(info.id)]
        notebook = self._notebook()
        of_notebook = [info for info in infos if notebook and info.notebook == notebook]
        for info in (*of_notebook, *infos):
            if not self.sessions.is_open_elsewhere(info.id):
                return info
        folder = shown(self.sessions.folder)
        if infos:
            raise SessionNotFound(
                f"every session in {folder} is open elsewhere; %resume ID --fork copies one"
            )
        if self._conversation is not None and self.session.messages:
            raise SessionNotFound(f"the open session is the only one in {folder}; %%agent goes on with it")
        raise SessionNotFound(f"no session to resume in {folder}; %%agent begins one")

    def _notebook(self) -> str | None:
        path = notebook_path(self._shell)
        if path is None:
            return None
        with contextlib.suppress(ValueError):
            return path.resolve().relative_to(self.project).as_posix()
        return path.name

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
        self._turn = self._run(prompt, self._models.main(model), [self._last_error()] if fix else [])
        return self._turn

    def use(self, model: Model | str | None) -> None:
        """Let `model` answer from the next turn on: a model object, a name, or None for the setting's."""
        self._models = Models(model, settings=self.settings)

    def _last_error(self) -> Block:
        cell = None if self._activity is None else self._activity.last_error
        if cell is None:
            raise NoFailure("no cell has failed since MewCode was loaded; ask without --fix")
        return error_block(cell, self.settings)

    def _run(self, prompt: str, model: Model, attachments: list[Block]) -> Generator[Event]:
        conversation, side = self._current, self._models.side(model)
        arrived = self.memory.arrivals()
        first = self._turns == 0 and first_use(self.home, self.project)
        if first and (line := conversation.front.uses(told=arrived)):
            yield Notice(line)
        if arrived:
            yield Notice(_told_of(arrived, self.memory.folder("project")))
        self._tell_of_earlier_session(conversation)
        attachments += self._tell_of_activity(conversation)
        attachments += mentioned(prompt, shell=self._shell, project=self.project, settings=self.settings)
        turn = conversation.ask(
            prompt,
            model=model,
            side=side,
            attachments=attachments,
            notebook=self._notebook(),
            cell=cell_id(self._shell),
        )
        for event in turn:
            if isinstance(event, TurnEnded):
                self._turns += 1
                self._usage += event.usage
                yield replace(event, extraction=self._after_turn(event, conversation, side))
            else:
                yield event

    def _after_turn(
        self, event: TurnEnded, conversation: Conversation, side: Model
    ) -> Future[Extraction] | None:
        """Begin what is done behind a turn."""
        if conversation.earlier is not None:
            self._afterwards.summarize(side, conversation.earlier, tell=conversation.session.id)
            conversation.earlier = None
        rests = self.settings.extract == "off" or self.settings.permission_mode == "read-only"
        if rests or event.stop == "interrupted":
            return None
        earlier, turn = conversation.last_turn()
        extraction = self._afterwards.extract(
            side,
            messages=turn,
            earlier=earlier,
            instructions=conversation.front.instructions.text,
            session_id=conversation.session.id,
        )
        nobody_there = self._shell is not None and not can_ask(self._shell)
        forever = self.settings.extract == "wait" or nobody_there
        with contextlib.suppress(KeyboardInterrupt):  # stops the waiting, not what is waited for
            wait([extraction], timeout=None if forever else UNNOTICED_SECONDS)
        return extraction

    def _tell_of_activity(self, conversation: Conversation) -> list[Block]:
        """Have the agent told what the user ran since its last turn, and return the figures displayed."""
        if self._activity is None:
            return []
        cells, figures, left_out = self._activity.take()
        if notice := activity_notice(cells, left_out, self.settings):
            conversation.notices.append(notice)
        return activity_blocks(figures)

    def _tell_of_earlier_session(self, conversation: Conversation) -> None:
        """Have the agent told, once in a new session, what the one before was about.

        One that has no summary yet gets it behind this turn; the next prompt then brings it.
        """
        notices = self._afterwards.take_notices(conversation.session.id)
        if not conversation.session.messages:
            earlier = self._session_before()
            summary = earlier.summary if earlier is not None else ""
            conversation.earlier = None if summary else earlier
            notices += [notice_of_summary(earlier, summary)] if earlier is not None and summary else []
        conversation.notices += [notice for notice in notices if notice not in conversation.notices]

    def _session_before(self) -> SessionInfo | None:
        """Return the project's latest session in which something was asked and that nobody has open."""
        with contextlib.suppress(MewCodeError):  # what is wrong with another session must not cost the answer
            for info in self.sessions.list():
                if info.title and not self.sessions.is_open_elsewhere(info.id):
                    return info
        return None

    def _abandon_turn(self) -> None:
        turn = self._turn
        if turn is None:
            return
        # It runs at this moment in another thread, or in what its own events have set off.
        if getgeneratorstate(turn) == GEN_RUNNING:
            raise SessionInUse("the agent is answering already; ask again when that turn has ended")
        self._turn = None
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
        for event in self._current.compact(model=model, side=self._models.side(model), focus=focus):
            if isinstance(event, CompactionEnded):
                self._usage += event.usage
            yield event

    def context(self) -> ContextReport:
        """Return what the next request would hold beside the prompt itself."""
        self._tell_of_earlier_session(self._current)
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

        `force` saves also what looks like a credential, but in the body alone: what is derived has masks.

        Raises:
            CredentialRefused: it seems to hold a credential.
            InvalidMemory: a part is missing or cannot be used.
            StorageError: the file cannot be written.
        """
        memory = memory_from_text(
            mask_credentials(text) if force else text,
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
            turns=self._turns,
            usage=self._usage + self._afterwards.usage,
            background=self._afterwards.state,
        )


def _told_of(arrived: Sequence[Memory], folder: Path) -> str:
    many = len(arrived) > 1
    count = f"{len(arrived):,} memories come" if many else "1 memory comes"
    return f"{count} with this project ({shown(folder)}); %memory lists {'them' if many else 'it'}"
