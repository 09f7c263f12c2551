from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from memory_files import FISCAL, POLARS

from mewcode_magic.memory import Changes, Memory

FILE = Path("/somewhere/memory/prefers-polars.md")


def test_changes_are_told_one_line_each() -> None:
    old, new = replace(POLARS, path=FILE), replace(POLARS, path=FILE, description="use polars\n<b>")
    changes = Changes.between({"user/a": old, "project/b": FISCAL}, {"user/a": new, "user/c": old})
    assert changes.notices() == [
        f"New user memory 'prefers-polars' ({FILE}): when writing dataframe code, use polars",
        f"Changed user memory 'prefers-polars' ({FILE}): use polars <b>",
        "The project memory 'fiscal-year' is gone: it holds no longer.",
    ]


def test_many_changes_are_counted() -> None:
    after = {f"user/{n}": replace(POLARS, name=f"m{n}") for n in range(25)}
    notices = Changes.between({}, after).notices()
    assert len(notices) == 21
    assert notices[-1] == "5 more memories changed."


keys = st.dictionaries(
    st.sampled_from("abcd"),
    st.sampled_from([POLARS, FISCAL, replace(POLARS, body="x")]),
)


@given(keys, keys)
def test_each_key_is_in_at_most_one_list(before: dict[str, Memory], after: dict[str, Memory]) -> None:
    changes = Changes.between(before, after)
    assert bool(changes) == (before != after)
    assert len(changes.added) == len(after.keys() - before.keys())
    assert len(changes.removed) == len(before.keys() - after.keys())
    assert len(changes.changed) == sum(before[key] != after[key] for key in before.keys() & after.keys())
