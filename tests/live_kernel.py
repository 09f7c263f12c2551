"""A real kernel in which the agent answers from a script, asked as a front end asks."""

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import start_new_kernel

HELPED = "__import__('scripted_agent').{}"
"""What the tests' own code in the kernel goes through: no code of the agent can delete it."""


@dataclass
class Seen:
    """What a front end got for a cell."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    status: str = ""
    payload: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the contents of the messages of one type."""
        return [m["content"] for m in self.messages if m["msg_type"] == kind]

    def text(self, stream: str = "stdout") -> str:
        """Return what a stream printed."""
        return "".join(c["text"] for c in self.of("stream") if c["name"] == stream)

    def shown(self) -> list[dict[str, Any]]:
        """Return what is displayed in the end, in order."""
        shown: dict[str, dict[str, Any]] = {}
        for message in self.messages:
            if message["msg_type"] in ("display_data", "update_display_data"):
                transient = message["content"].get("transient", {})
                shown[transient.get("display_id", message["header"]["msg_id"])] = message["content"]["data"]
        return list(shown.values())

    def plain(self) -> str:
        """Return the text of what is displayed in the end; of answers that is their Markdown."""
        return "\n".join(str(data.get("text/plain", data.get("text/markdown"))) for data in self.shown())


class LiveKernel:
    """A kernel with the extension loaded."""

    def __init__(self, client: Any, manager: Any) -> None:
        self._client, self._manager = client, manager

    def run(
        self,
        code: str,
        *,
        cell: str = "",
        present: bool = True,
        answers: Iterable[str] = (),
        interrupt_when: Callable[[Seen], bool] | None = None,
        interrupt_at_input: bool = False,
        timeout: float = 90,
    ) -> Seen:
        """Run a cell; `answers` are typed one after the other, and the stop button is pressed once.

        `cell` is its id, as JupyterLab gives it.
        """
        seen = Seen()
        typed = iter(answers)
        pressed = False

        def take(message: dict[str, Any]) -> None:
            nonlocal pressed
            seen.messages.append(message)
            if interrupt_when is not None and not pressed and interrupt_when(seen):
                pressed = True
                time.sleep(0.2)
                self.interrupt()

        def answer(message: dict[str, Any]) -> None:
            seen.prompts.append(message["content"]["prompt"])
            if interrupt_at_input:
                self._manager.interrupt_kernel()
                return
            self._client.input(next(typed, ""))

        # As JupyterLab does, which a console does not.
        self._client.session.metadata = {"deletedCells": []} | ({"cellId": cell} if cell else {})
        reply = self._client.execute_interactive(
            code, allow_stdin=present, output_hook=take, stdin_hook=answer, timeout=timeout
        )
        seen.status = reply["content"]["status"]
        seen.payload = reply["content"].get("payload", [])
        return seen

    def interrupt(self) -> None:
        """Press the stop button."""
        self._manager.interrupt_kernel()

    def value(self, expression: str) -> Any:
        """Return the value of an expression in the kernel that its repr gives again."""
        seen = self.run(f"__import__('sys').stdout.write(repr({expression}));")
        assert seen.status == "ok", seen.of("error")
        return eval(seen.text(), {}, {})

    def script(self, *replies: str) -> None:
        """Script the agent's replies: literals, such as `call` makes."""
        seen = self.run(HELPED.format(f"script({', '.join(replies)})"))
        assert seen.status == "ok", seen.of("error")

    def agent_runs(self, code: str, *, expected: str = "ok", tool: str = "RunPython", **options: Any) -> Seen:
        """Let the agent run code in a turn of its own, without a question, and end the turn."""
        self.run("%config MewCode.permission_mode = 'auto'")
        self.script(call(tool, code=code), "'That was it.'")
        seen = self.run("%agent go", **options)
        assert seen.status == expected, (seen.of("error"), seen.text("stderr"))
        return seen

    def late_parents(self, code: str, word: str) -> list[str]:
        """Run a cell, and return which requests the messages meanwhile belong to that hold a word."""
        self._client.execute(code)
        parents: list[str] = []
        while True:
            message = self._client.get_iopub_msg(timeout=60)
            if word in str(message["content"].get("text", "")) + str(message["content"].get("data", "")):
                parents.append(message["parent_header"]["msg_id"])
            if "another cell" in str(message["content"].get("text", "")):
                break
        self._client.get_shell_msg(timeout=60)
        return parents

    def told(self) -> dict[str, Any]:
        """Return the last result that the model was sent."""
        return self.value(HELPED.format("told()"))[0]

    def told_text(self) -> str:
        """Return the text of the last result that the model was sent."""
        content = self.told()["content"]
        return content if isinstance(content, str) else content[0]["text"]


def call(name: str, **arguments: object) -> str:
    """Return a reply that calls a tool, as a literal."""
    block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex}", "name": name, "input": arguments}
    return repr([block])


@contextmanager
def live_kernel(project: Path) -> Iterator[LiveKernel]:
    """Start a kernel in a project's folder, with the environment of the moment."""
    # Seeing this, a kernel would not read what child processes print.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    manager, client = start_new_kernel(cwd=str(project), env=environment)
    kernel = LiveKernel(client, manager)
    loaded = kernel.run(f"%load_ext mewcode\nimport sys\nsys.path.append({str(Path(__file__).parent)!r})")
    assert loaded.status == "ok", loaded.of("error")
    try:
        yield kernel
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
