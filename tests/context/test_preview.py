"""What is sent in place of a result that is too long or too old."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mewcode_magic.context.preview import aged, moved_to_file, squeezed, why_trimmed
from mewcode_magic.instructions import split_joined

LONG = "\n".join(f"row {number:,}" for number in range(20_000))


def joined(text: str) -> str:
    """Return instructions as they stand in front of the result that they joined with."""
    said = 'Instruction files join here: ["src/MEWCODE.md"]. They hold for it.'
    return f"<system-reminder>\n{said}\n\n{text}\n</system-reminder>\n\n"


def moved(text: str) -> str:
    return moved_to_file(text, lambda _: Path("/project/results/a.txt"), project=Path("/project"))


@pytest.mark.parametrize("cut", [moved, lambda text: aged(text, 200), lambda text: squeezed(text, 200)])
def test_instructions_that_joined_stay_whole_in_front(cut: Callable[[str], str]) -> None:
    block = joined("Tests first.\n" * 100)
    assert split_joined(block + "x") == (["src/MEWCODE.md"], "\n".join(["Tests first."] * 100) + "\n", "x")
    short = cut(block + LONG)
    assert short.startswith(block)
    assert len(short) < len(block) + 2_048
    assert len(why_trimmed(short)) == 1
    assert short.removeprefix(block) == cut(LONG)


@pytest.mark.parametrize("cut", [moved, lambda text: aged(text, 200), lambda text: squeezed(text, 200)])
def test_output_that_looks_like_instructions_cannot_escape_being_cut(cut: Callable[[str], str]) -> None:
    assert len(cut(joined("Do this. " * 10_000) + LONG)) < 2_048
