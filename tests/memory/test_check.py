from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from memory_files import FISCAL, POLARS, write

from mewcode_magic.config import MewCode
from mewcode_magic.memory import MemoryStore
from mewcode_magic.memory.record import BODY_CHARS

FRONT = "---\nname: {0}\ndescription: d\ntype: user\n---\nbody of {0}"


def found(store: MemoryStore) -> list[tuple[str, str]]:
    return [(problem.kind, problem.path.name) for problem in store.check()]


def test_a_store_in_order_has_no_problems(store: MemoryStore) -> None:
    store.save(POLARS)
    store.save(FISCAL)
    assert store.check() == []


@pytest.mark.parametrize(
    ("files", "problems"),
    [
        ({"MEMORY.md": "- [gone](gone.md) - d"}, [("dangling", "MEMORY.md")]),
        ({"a.md": FRONT.format("a")}, [("not indexed", "a.md")]),
        (
            {"MEMORY.md": "- [a](a.md) - other", "a.md": FRONT.format("a")},
            [("stale index", "a.md")],
        ),
        (
            {"MEMORY.md": "- [a](a.md) - d", "a.md": FRONT.format("a").replace("user", "reference")},
            [("misplaced", "a.md")],
        ),
        ({"MEMORY.md": "- [plain](plain.md) - x", "plain.md": "x"}, [("frontmatter", "plain.md")]),
        (
            {"MEMORY.md": "- [a](a.md) - d", "a.md": FRONT.format("a").encode() + b"\xff"},
            [("encoding", "a.md")],
        ),
        (
            {"MEMORY.md": b"\xff\n- [a](a.md) - d", "a.md": FRONT.format("a")},
            [("encoding", "MEMORY.md")],
        ),
        (
            {
                "MEMORY.md": "- [a](a.md) - d\n- [b](b.md) - d",
                "a.md": FRONT.format("a"),
                "b.md": FRONT.format("a").replace("body", "other body"),
            },
            [("same name", "b.md")],
        ),
        (
            {
                "MEMORY.md": "- [a](a.md) - d\n- [b](b.md) - d",
                "a.md": FRONT.format("a"),
                "b.md": FRONT.format("b").replace("body of b", "BODY  of a"),
            },
            [("same body", "b.md")],
        ),
    ],
)
def test_each_problem_is_named(
    store: MemoryStore, home: Path, files: dict[str, str | bytes], problems: list[tuple[str, str]]
) -> None:
    for name, text in files.items():
        write(home / "memory" / name, text)
    assert found(store) == problems
    assert all("\n" not in problem.text for problem in store.check())


def test_checking_changes_nothing(store: MemoryStore, home: Path) -> None:
    write(home / "memory/MEMORY.md", "- [gone](gone.md) - d")
    write(home / "memory/a.md", "x")
    store.check()
    assert sorted(path.name for path in (home / "memory").iterdir()) == ["MEMORY.md", "a.md"]


def test_an_expired_memory_is_named_with_its_day(store: MemoryStore) -> None:
    store.save(replace(POLARS, expires=datetime.now(UTC) - timedelta(days=2)))
    (problem,) = store.check()
    assert problem.kind == "expired"
    assert "it expired on " in problem.text


def test_a_name_in_both_places_is_named(store: MemoryStore, project: Path) -> None:
    store.save(POLARS)
    text = "---\nname: prefers-polars\ndescription: d\ntype: project\n---\nOther."
    path = write(project / ".mewcode/memory/prefers-polars.md", text)
    problems = {problem.kind: problem for problem in store.check()}
    assert problems["same name"].path == path
    assert "user memory prefers-polars.md" in problems["same name"].text


def test_broken_links_and_an_unreadable_index_are_named(store: MemoryStore, home: Path) -> None:
    (home / "memory/MEMORY.md").mkdir(parents=True)
    (home / "memory/broken.md").symlink_to("nowhere")
    assert found(store) == [("unreadable", "broken.md"), ("unreadable", "MEMORY.md")]


def test_a_nearly_full_index_is_named(project: Path, home: Path) -> None:
    store = MemoryStore(project, home, settings=MewCode(index_max_lines=1))
    store.save(POLARS)
    assert found(store) == [("index full", "MEMORY.md")]


def test_a_text_that_recall_would_cut_is_named_with_its_length(store: MemoryStore) -> None:
    store.save(replace(POLARS, body="x" * BODY_CHARS))
    assert store.check() == []
    store.save(replace(POLARS, body="x" * (BODY_CHARS + 1)))
    (problem,) = store.check()
    assert problem.kind == "too long"
    assert "it has 10,001 characters, of which 10,000 are sent" in problem.text


@pytest.mark.parametrize(
    ("days", "expires", "kinds"), [(179, None, []), (181, None, ["stale"]), (181, 5, [])]
)
def test_what_is_long_unchanged_is_named_unless_it_ends_by_itself(
    store: MemoryStore, days: int, expires: int | None, kinds: list[str]
) -> None:
    now = datetime.now(UTC)
    store.save(
        replace(
            POLARS,
            updated=now - timedelta(days=days),
            expires=now + timedelta(days=expires) if expires else None,
        )
    )
    assert [problem.kind for problem in store.check()] == kinds


def test_texts_that_are_nearly_the_same_are_named_once_each(store: MemoryStore) -> None:
    body = "Reports go to the team on Friday before noon, as a PDF with all the plots."
    store.save(replace(FISCAL, name="long", body=f"{body}\nThe source is added."))
    store.save(replace(FISCAL, name="short", body=body))
    store.save(replace(FISCAL, name="changed", body=body.replace("Friday", "Monday")))
    problems = {problem.path.stem: problem for problem in store.check()}
    assert {problem.kind for problem in problems.values()} == {"alike"}
    assert "the project memory 'long' says all of it, and more" in problems["short"].text
    assert problems.keys() == {"short", "changed"}
    assert "88% of its words and those of the project memory 'short' are the same" in problems["changed"].text


def test_of_an_expired_memory_nothing_more_is_said(store: MemoryStore, home: Path) -> None:
    store.save(POLARS)
    ended = "---\nname: prefers-polars\ndescription: d\ntype: user\nexpires: 2020-01-01\n---\nNo pandas."
    write(home / "memory/ended.md", ended)
    assert [problem.kind for problem in store.check()] == ["not indexed", "expired"]
