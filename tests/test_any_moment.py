"""A stop button that is pressed at any moment of a turn: between any two lines of what runs it."""

import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from request_rules import broken_rules

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.model import Scripted

PLACES = {
    "turn.py": ("record", "_take", "record_results", "_run_calls"),
    "conversation.py": ("_trim",),
    "session.py": ("trim",),
    "trimming.py": ("due",),
}


class Stop:
    """Raises a KeyboardInterrupt in front of the n-th line that is run at these places."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        return self._line if code.co_name in PLACES.get(Path(code.co_filename).name, ()) else None

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        self.left -= event == "line"
        if self.left == 0 and event == "line":
            sys.settrace(None)
            raise KeyboardInterrupt
        return self._line


def reading(*ids: str) -> list[Any]:
    return [
        "I read",
        *({"type": "tool_use", "id": i, "name": "ReadFile", "input": {"path": "a"}} for i in ids),
    ]


@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_nothing_that_was_said_is_lost(tmp_path: Path, dialect: str) -> None:
    number, stopped = 0, True
    while stopped:
        number += 1
        project = tmp_path / str(number)
        project.mkdir()
        (project / "a").write_text("a line\n" * 100)
        settings = MewCode(
            extract="off", recall=False, session_dialect=dialect, trim_after_turns=1, trim_min_chars=0
        )
        model = Scripted([reading("t1"), "one", "two", reading("t2", "t3"), "three"])
        mew = Mew(project, tmp_path / "home", model=model, settings=settings)
        list(mew.ask("first"))
        list(mew.ask("second"))
        before = sys.gettrace()
        sys.settrace(Stop(number))
        try:
            list(mew.ask("third"))
            stopped = False
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        asked = len(model.requests)
        mew.use(again := Scripted(["four", "five"]))
        list(mew.ask("fourth"))
        mew.resume(mew.session.id)
        list(mew.ask("fifth"))
        for request in again.requests:
            sent = json.dumps(request.messages)
            assert broken_rules({"messages": request.messages}) == []
            assert "third" in sent, number
            assert ('"t3"' in sent) == (asked > 3), number
        mew.close()
    assert number > 20
