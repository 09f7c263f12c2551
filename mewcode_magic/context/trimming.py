"""Which old results and images are no longer sent whole, decided as a turn begins.

Decisions are recorded and never taken back, so that a resumed session sends what was sent before. Each one
costs the provider's cached prefix from there on. That is why what is old is trimmed ten turns at a time, and
what takes too much room is cut to half of it at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mewcode_magic.config import MewCode
from mewcode_magic.context.growing import Growing
from mewcode_magic.context.preview import IMAGE_LEFT_OUT, MARK_CHARS, aged, squeezed, without_head
from mewcode_magic.messages import Block, Message
from mewcode_magic.sessions import prompt_key, repair_chain

__all__ = ["Trimming", "replacements"]

WORTHWHILE = 10
"""Results are cut for room only if that saves a tenth of what they may have together."""


@dataclass(slots=True)
class _Result:
    """A call's result, as long as it is to be sent."""

    call: str
    text: str
    images: int = 0

    def beyond(self, limit: int) -> int:
        """Return how many characters it has beyond `limit`, beside those that stay in front of it."""
        if len(self.text) <= limit:
            return 0
        return max(0, len(without_head(self.text)[1]) - limit)


@dataclass(slots=True)
class _Turn:
    """What a prompt and the calls up to the next one hold that can be trimmed."""

    number: int
    results: list[_Result] = field(default_factory=list)
    images: bool = False
    """Images stand in front of the prompt."""

    @property
    def chars(self) -> int:
        return sum(len(result.text) for result in self.results)


class Trimming:
    """Watches a session grow, at the cost of what is new, until something in it is to be trimmed."""

    def __init__(self, settings: MewCode) -> None:
        self._settings = settings
        self._seen = Growing()
        self._numbers = _numbers(settings)
        """With which numbers the session was looked through."""
        self._begin()

    def _begin(self) -> None:
        self._turns = 0
        self._old: list[int] = []
        """The turns that hold what is trimmed when it is old."""
        self._chars = 0
        self._spare = self._spare_before = 0
        """Characters that cutting could save of all results, and of those before the last turn."""

    def due(self, messages: list[Message]) -> dict[str, str]:
        """Return what is to be sent in place of results and images from the turn on that begins now.

        The keys are those of a session's `trimmed` records; mostly there are none.
        """
        settings = self._settings
        if (numbers := _numbers(settings)) != self._numbers:  # what was seen counts otherwise now
            self._seen, self._numbers = Growing(), numbers
        new, goes_on = self._seen.look(messages)
        if not goes_on:
            self._begin()
        for message in new:
            self._see(message)
        old = bool(self._old) and self._old[0] < _first_recent(self._turns, settings)
        most = settings.all_results_max_chars
        full = self._chars > most and self._spare_before * WORTHWHILE >= most
        if not (old or full):
            return {}
        found = replacements(repair_chain(messages)[0], settings)
        if not found:  # what was seen is not replayed
            self._old = [turn for turn in self._old if turn >= _first_recent(self._turns, settings)]
        return found

    def _see(self, message: Message) -> None:
        settings = self._settings
        if message.role == "user" and message.is_prompt:
            self._turns += 1
            self._spare_before = self._spare
            trimmable = any(block.get("type") == "image" for block in message.blocks())
        else:
            results = [_result_of(block) for block in message.tool_results()]
            self._chars += sum(len(result.text) for result in results)
            self._spare += sum(result.beyond(_shortest(settings)) for result in results)
            trimmable = any(_can_age(result, settings) for result in results)
        turn = max(self._turns - 1, 0)
        if trimmable and (not self._old or self._old[-1] != turn):
            self._old.append(turn)


def replacements(chain: Sequence[Message], settings: MewCode) -> dict[str, str]:
    """Return what is to be sent in place of results and images of a repaired chain when its next turn begins.

    First what is old: results shorten to a preview, images to a line. If all results are still longer than
    they may be together, those before the last turn are cut, turn by turn to the same length, so that half
    of the room is free again.
    """
    turns = _turns_of(chain)
    changed: dict[str, str] = {}
    for turn in turns[: _first_recent(len(turns), settings)]:
        if turn.images:
            changed[prompt_key(turn.number)] = IMAGE_LEFT_OUT
        for result in turn.results:
            if _can_age(result, settings):
                result.text, result.images = _old_form(result, settings), 0
                changed[result.call] = result.text
    most = settings.all_results_max_chars
    if sum(turn.chars for turn in turns) > most:
        room = max(0, most // 2 - turns[-1].chars)
        changed |= dict(_cut_evenly(turns[:-1], room, settings))
    return changed


def _cut_evenly(turns: Sequence[_Turn], room: int, settings: MewCode) -> Iterator[tuple[str, str]]:
    """Yield what the results are cut to, so that the turns fit into `room` characters, the short ones whole.

    None becomes shorter than an old one's preview; one that is cut loses its images too.
    """
    of_turn = _level([turn.chars for turn in turns], room)
    for turn in turns:
        level = _level([len(result.text) for result in turn.results], of_turn)
        for result in turn.results:
            head, _ = without_head(result.text)
            of_result = max(level - len(head), _shortest(settings))
            if result.beyond(of_result):
                shorter = squeezed(result.text, of_result - MARK_CHARS)
                yield result.call, _without_images(shorter, result.images)


def _level(sizes: Sequence[int], room: int) -> int:
    """Return the size to which the larger ones must come down, so that all fit into `room`."""
    left = len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return room // left
        room -= size
        left -= 1
    return max(sizes, default=0)


def _turns_of(chain: Sequence[Message]) -> list[_Turn]:
    turns: list[_Turn] = []
    for message in chain:
        if message.role == "user" and message.is_prompt:
            images = any(block.get("type") == "image" for block in message.blocks())
            turns.append(_Turn(len(turns) + 1, images=images))
        elif turns:
            turns[-1].results += [_result_of(block) for block in message.tool_results()]
    return turns


def _first_recent(turns: int, settings: MewCode) -> int:
    """Return how many turns are old as the one after `turns` others begins; it grows in steps."""
    step = settings.trim_after_turns
    return max(0, (turns - step) // step * step)


def _can_age(result: _Result, settings: MewCode) -> bool:
    """Tell a result that becomes shorter when it is old."""
    return result.images > 0 or _is_long(result, settings)


def _is_long(result: _Result, settings: MewCode) -> bool:
    return result.beyond(max(settings.trim_min_chars, _shortest(settings))) > 0


def _numbers(settings: MewCode) -> tuple[int, int]:
    """Return the settings on which it depends whether a result can be shortened."""
    return settings.trim_min_chars, settings.trim_preview_chars


def _shortest(settings: MewCode) -> int:
    """Return the characters of a preview, with the line that says what was left out."""
    return settings.trim_preview_chars + MARK_CHARS


def _old_form(result: _Result, settings: MewCode) -> str:
    text = aged(result.text, settings.trim_preview_chars) if _is_long(result, settings) else result.text
    return _without_images(text, result.images)


def _without_images(text: str, images: int) -> str:
    """Return the text of a result with a line for each image that it had."""
    return "\n".join([text] * bool(text) + [IMAGE_LEFT_OUT] * images)


def _result_of(block: Block) -> _Result:
    content = block.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    text = content if isinstance(content, str) else "\n".join(str(p["text"]) for p in parts if "text" in p)
    images = sum(part.get("type") == "image" for part in parts)
    return _Result(str(block.get("tool_use_id")), text, images)
