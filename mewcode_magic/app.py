"""`Mew`: one agent a shell, which wires stores, context, model, tools and turn together."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import GEN_RUNNING, getgeneratorstate
from pathlib import Path
from typing import Any

from mewcode_magic import __version__
from mewcode_magic.config import MewCode
from mewcode_magic.context import (
    ContextReport,
    Front,
    build_request,
    notice_block,
    notices_of_resume,
    read_front,
    report_context,
    system_prompt,
)
from mewcode_magic.errors import MewCodeError, SessionInUse, SessionNotFound
from mewcode_magic.events import (
    Event,
    Model,
    Notice,
    Recalled,
    Request,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from mewcode_magic.files import absolute, shown
from mewcode_magic.kernel import cell_id, notebook_path
from mewcode_magic.memory import MemoryStore, Recall, Saved, first_use, memory_from_text, recall
from mewcode_magic.messages import Block, Message, Usage
from mewcode_magic.model import choose_model
from mewcode_magic.project import project_folder
from mewcode_magic.sessions import Resumed, Session, SessionInfo, SessionStore
from mewcode_magic.tools import ToolContext, all_tools, schema
from mewcode_magic.turn import run_turn

__all__ = ["Mew", "Status"]


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
    """Tokens of this kernel's turns, all sessions together."""


class Mew:
    """The agent of one shell, or of a script.

    `project_dir` and `home` win over the settings. `model` is a model object, or a name; None is the
    setting's, else the default. `settings` is the shell's `MewCode`; None reads the environment.

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
    ) -> None:
        self.settings = settings or MewCode()
        self.home = absolute(home) if home else self.settings.home_path
        self.project = project_folder(project_dir or self.settings.project_dir, self.home)
        self.sessions = SessionStore(self.project, settings=self.settings)
        self.memory = MemoryStore(self.project, self.home, settings=self.settings)
        self._model = model
        self._models: dict[str, Model] = {}
        self._shell = shell
        self._tools = {tool.name: tool for tool in all_tools()}
        self._schemas = [schema(tool) for tool in self._tools.values()]
        self._session: Session | None = None
        self._front: Front | None = None
        self._notices: list[str] = []
        self._turn: Generator[Event] | None = None
        self._turns = 0
        self._usage = Usage()

    # -- conversations ---------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The open session; its file is made with its first record."""
        if self._session is None:
            self._session = self.sessions.create(notebook=self._notebook())
        return self._session

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
        if self._session is not None and session_id == self._session.id and not fork:
            self._leave()
        resumed = self.sessions.fork(session_id) if fork else self.sessions.resume(session_id)
        self._leave()
        self._session = resumed.session
        self._notices = notices_of_resume(resumed, self._shell)
        return resumed

    def close(self) -> None:
        """Close the open session; a turn that still runs is closed as interrupted.

        Raises:
            StorageError: a record could not be written and is lost; the session is closed nevertheless.
        """
        self._leave()

    def _settle(self) -> None:
        """End what runs and write what waits, before another session takes the place of the open one."""
        self._abandon_turn()
        if self._session is not None:
            self._session.end_turn()

    def _leave(self) -> None:
        self._abandon_turn()
        session, self._session = self._session, None
        self._front = None
        self._notices = []
        if session is not None:
            session.close()

    def _latest(self) -> SessionInfo:
        own = self._session.id if self._session else None
        infos = [info for info in self.sessions.list() if info.id != own]
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
        if own is not None and self.session.messages:
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

    def ask(self, prompt: str, *, model: str | None = None) -> Generator[Event]:
        """Run one turn on `prompt`: yield its events as they come, `TurnEnded` last.

        An iterator that is closed or dropped before its end, or followed by another `ask`, ends the turn as
        interrupted. A KeyboardInterrupt is recorded, told by `TurnEnded`, and raised again.

        Raises:
            ValueError: the prompt is blank.
            SessionInUse: a turn is under way at this moment, in another thread.
            MewCodeError: the turn could not be run, or broke off; what had arrived is recorded.
        """
        if not prompt.strip():
            raise ValueError("a prompt needs some text")
        self._abandon_turn()
        self._turn = self._run(prompt, self._choose(model))
        return self._turn

    def _run(self, prompt: str, model: Model) -> Generator[Event]:
        session = self.session
        session.refresh()
        front = self._current_front()
        if self._turns == 0 and first_use(self.home, self.project) and (line := front.uses()):
            yield Notice(line)
        notices, front = self._pending(front)
        recalled = yield from self._recall(prompt)
        message = self._prompt(prompt, recalled, notices)
        session.append(message)
        self._front, self._notices = front, []
        if message.recalled:
            yield Recalled(tuple(message.recalled), "keywords")
        context = ToolContext(session.id, self.project, self.memory, self.settings)
        before = {}
        try:
            for event in run_turn(model, session, self._request, self._tools, context):
                match event:
                    case ToolStarted(name="Remember"):
                        before = self.memory.snapshot()
                    case ToolEnded(name="Remember"):
                        self._front = self._current_front().learned(before, self.memory.snapshot())
                    case TurnEnded():
                        self._turns += 1
                        self._usage += event.usage
                        session.end_turn()
                yield event
        except BaseException:
            with contextlib.suppress(Exception):  # the first failure is the one to tell
                session.end_turn()
            raise

    def _recall(self, prompt: str) -> Generator[Notice, None, Recall]:
        """Return the memories that fit the prompt and do not stand in the conversation already."""
        surfaced = [s for m in self.session.messages for s in m.recalled]
        try:
            return recall(
                prompt, self.memory, surfaced=surfaced, settings=self.settings, now=datetime.now(UTC)
            )
        except MewCodeError as error:  # what memory cannot give must not cost the answer
            yield Notice(f"No memory was recalled: {error}")
            return Recall([], [], "")

    def _prompt(self, prompt: str, recalled: Recall, notices: list[str]) -> Message:
        """Return the prompt as it is sent and recorded: memories and notices stand in front of it."""
        injected: list[Block] = [{"type": "text", "text": recalled.text}] if recalled.text else []
        if notices:
            injected.append(notice_block(notices))
        return Message(
            role="user",
            content=prompt,
            injected=injected,
            recalled=recalled.surfaced,
            notebook=self._notebook(),
            cell=cell_id(self._shell),
        )

    def _pending(self, front: Front) -> tuple[list[str], Front]:
        """Return what the agent must be told with the next prompt, and the front once it is told."""
        messages = self.session.messages
        stopped = bool(messages) and messages[-1].interrupted
        notices = ["Your previous answer was stopped before its end."] if stopped else []
        news, front = front.news(self.memory)
        return [*self._notices, *notices, *news], front

    def _choose(self, name: str | None) -> Model:
        own = self._model
        if own is None or isinstance(own, str):
            name = name or own or self.settings.model
        elif not name:
            return own
        model = choose_model(name, settings=self.settings)
        # One that was used before has its connection open.
        return self._models.setdefault(model.name, model)

    def _abandon_turn(self) -> None:
        turn = self._turn
        if turn is None:
            return
        # It runs at this moment in another thread, or in what its own events have set off.
        if getgeneratorstate(turn) == GEN_RUNNING:
            raise SessionInUse("the agent is answering already; ask again when that turn has ended")
        self._turn = None
        turn.close()

    # -- what is sent ----------------------------------------------------------------------------------

    def _current_front(self) -> Front:
        """Return what stands in front of the session, as it was on disk at its first prompt or resume."""
        if self._front is None or not self.session.messages:
            self._front = read_front(self.project, self.home, self.memory, self.settings)
        return self._front

    def _request(self) -> Request:
        return build_request(
            self.session.messages,
            system=system_prompt(self.project),
            reminder=self._current_front().reminder.text,
            tools=self._schemas,
            max_tokens=self.settings.max_tokens,
        )

    def context(self) -> ContextReport:
        """Return what the next request would hold beside the prompt itself."""
        front = self._current_front()
        return report_context(
            self._request(),
            front.reminder,
            self.session.messages,
            pending=self._pending(front)[0],
            files=[shown(path) for path in front.instructions.files],
            notices=[*front.instructions.notices, *self.memory.notices],
        )

    # -- memory and status -----------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        type: str | None = None,
        name: str | None = None,
        description: str | None = None,
        expires: str | None = None,
    ) -> Saved:
        """Save `text` to long-term memory; what is not given is derived from it.

        Raises:
            InvalidMemory: a part is missing or cannot be used.
            StorageError: the file cannot be written.
        """
        memory = memory_from_text(
            text, type=type, name=name, description=description, expires=expires, now=datetime.now(UTC)
        )
        return self.memory.save(memory, rename_if_taken=name is None)

    def status(self) -> Status:
        """Return the state that `%mewcode` shows."""
        session = self.session
        return Status(
            version=__version__,
            model=self._choose(None).name,
            project=self.project,
            home=self.home,
            session_id=session.id,
            session_title=session.title,
            turns=self._turns,
            usage=self._usage,
        )
