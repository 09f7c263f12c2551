"""Transcripts of Claude Code as that program leaves them: one line a block, linked by `parentUuid`."""

import json
from pathlib import Path
from typing import Any

BASE = {"isSidechain": False, "userType": "external", "cwd": "/w", "sessionId": "5a3c", "version": "2.1.12"}


class ClaudeTranscript:
    """A file that grows line by line; each line follows the one before it unless `parent` names another."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._last: str | None = None
        self._second = 0

    def add(self, kind: str, name: str, *, parent: str | None = "", **keys: Any) -> None:
        """Add a line of the tree with the uuid `name`."""
        self._second += 1
        entry = {
            "parentUuid": self._last if parent == "" else parent,
            **BASE,
            "type": kind,
            "uuid": name,
            "timestamp": f"2026-06-18T09:15:{self._second:02}.123Z",
            **keys,
        }
        self.beside(entry)
        self._last = name

    def beside(self, entry: dict[str, Any] | bytes) -> None:
        """Add a line that is no part of the tree; bytes as they are."""
        self.lines.append(entry if isinstance(entry, bytes) else json.dumps(entry).encode())

    def user(self, name: str, content: Any, **keys: Any) -> None:
        """Add what stands in the user's name."""
        self.add("user", name, message={"role": "user", "content": content}, **keys)

    def reply(self, name: str, block: dict[str, Any], *, message: str = "", **keys: Any) -> None:
        """Add one block of the reply with the id `message`; without, of a reply of its own."""
        said = {
            "id": message or f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": [block],
            "stop_reason": None,
            "usage": {"input_tokens": 10, "output_tokens": self._second, "service_tier": "standard"},
        }
        self.add("assistant", name, message=said, requestId="req_1", **keys)

    def result(self, name: str, call: str, content: Any, **keys: Any) -> None:
        """Add the result of a call."""
        failed = {"is_error": True} if keys.pop("is_error", False) else {}
        block = {"tool_use_id": call, "type": "tool_result", "content": content, **failed}
        self.user(name, [block], toolUseResult={"stdout": "…"}, **keys)

    def write(self, path: Path) -> Path:
        """Write the file and return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join([*self.lines, b""]))
        return path


def said(text: str) -> dict[str, Any]:
    """Return a block of text."""
    return {"type": "text", "text": text}


def bash(call: str, command: str = "ls") -> dict[str, Any]:
    """Return a call as that program's models make them."""
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}


def session_with_tools() -> ClaudeTranscript:
    """Return a transcript of one prompt, two calls at once, and an answer, among the program's own lines."""
    t = ClaudeTranscript()
    t.beside({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}})
    t.user("m1", "Caveat: the messages below were made by local commands.", isMeta=True)
    t.user("u1", "why does the parser fail?")
    t.reply("a1", {"type": "thinking", "thinking": "Look first.", "signature": "seal"}, message="msg_1")
    t.reply("a2", bash("t1"), message="msg_1")
    t.reply("a3", bash("t2", "cat parser.py"), message="msg_1")
    t.result("r1", "t1", "parser.py", parent="a2")
    t.result("r2", "t2", [said("def parse(): ...")], parent="a3", is_error=True)
    t.reply("a4", said("It has no body."))
    return t
