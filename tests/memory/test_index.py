from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mewcode_magic.memory import Memory
from mewcode_magic.memory.index import IndexLine, capped, merged, parsed, size

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def memory(slug: str, description: str = "d", name: str = "", days: int = 0) -> Memory:
    when = NOW - timedelta(days=days)
    return Memory(name or slug, description, "user", "body", updated=when, file_slug=slug)


def texts(lines: list[IndexLine]) -> list[str]:
    return [line.text for line in lines]


def update(text: str, *memories: Memory) -> list[str]:
    return texts(merged(parsed(text), memories))


@pytest.mark.parametrize(
    ("text", "slug", "title", "description"),
    [
        ("- [Polars](prefers-polars.md) - use it", "prefers-polars", "Polars", "use it"),
        ("- [Polars](prefers-polars.md) — use it", "prefers-polars", "Polars", "use it"),
        ("* [a [b]](b.md) \N{EN DASH} x - y", "b", "a [b]", "x - y"),
        ("  + [x](sub/y.md)", "sub/y", "x", ""),
        ("- [x](./y.md): z", "y", "x", "z"),
        ("- [x](my%20note.md) - z", "my note", "x", "z"),
        ("- [x\\]](y.md) - --flag", "y", "x]", "--flag"),
    ],
)
def test_an_entry_in_the_ways_people_write_it(text: str, slug: str, title: str, description: str) -> None:
    assert parsed(text) == [IndexLine(text, slug, title, description)]


@pytest.mark.parametrize(
    "text",
    [
        "# Memory",
        "- a note",
        "- [docs](https://example.com/a.md)",
        "- [up](../README.md)",
        "- [absolute](/etc/a.md)",
        "see [a](a.md)",
        "- [ ] task",
        "- [picture](a.png)",
    ],
)
def test_what_is_no_entry_stays_a_line(text: str) -> None:
    assert parsed(text) == [IndexLine(text)]


def test_bom_and_windows_line_ends_are_read() -> None:
    assert texts(parsed("\ufeff# A\r\n- [b](b.md) - c\r\n")) == ["# A", "- [b](b.md) - c"]


def test_lines_keep_their_place_and_title_and_get_the_description() -> None:
    text = "# Mine\n- [Second](b.md) - old\n\n- [First](a.md) — d\nremember the milk\n"
    assert update(text, memory("a"), memory("b", "new")) == [
        "# Mine",
        "- [Second](b.md) - new",
        "",
        "- [First](a.md) — d",
        "remember the milk",
    ]


def test_new_memories_are_appended_oldest_first() -> None:
    assert update("- [a](a.md) - d", memory("new"), memory("old", days=3), memory("a")) == [
        "- [a](a.md) - d",
        "- [old](old.md) - d",
        "- [new](new.md) - d",
    ]


def test_new_memories_do_not_join_a_paragraph() -> None:
    assert update("Written by hand", memory("a")) == ["Written by hand", "", "- [a](a.md) - d"]


def test_lines_of_missing_files_and_second_lines_go() -> None:
    text = "- [gone](gone.md) - x\n- [a](a.md) - d\n- [again](a.md) - d"
    assert update(text, memory("a")) == ["- [a](a.md) - d"]


def test_a_description_that_is_empty_leaves_no_dash() -> None:
    assert update("", memory("a", "")) == ["- [a](a.md)"]


names = st.text(min_size=1).map(lambda text: Memory(text, "", "user", "").name).filter(bool)
slugs = st.from_regex(r"[^/\x00.\n\r][^/\x00\n\r]{0,20}", fullmatch=True).map(str.strip).filter(bool)


@given(name=names, description=names, slug=slugs)
def test_any_entry_reads_as_it_was_written(name: str, description: str, slug: str) -> None:
    (line,) = merged([], [memory(slug, description, name)])
    (read,) = parsed(line.text)
    assert (read.slug, read.title) == (slug, memory("x", name=name).name)
    assert merged([read], [memory(slug, description, name)]) == [line]


@given(st.text(), st.lists(names, max_size=4, unique=True))
def test_bringing_an_index_up_to_date_twice_changes_nothing_more(text: str, found: list[str]) -> None:
    memories = [memory(f"m{n}", name, days=n) for n, name in enumerate(found)]
    once = texts(merged(parsed(text), memories))
    assert texts(merged(parsed("\n".join(once)), memories)) == texts(parsed("\n".join(once)))


def test_what_fits_is_sent_whole() -> None:
    lines = merged(parsed("# Mine"), [memory("a")])
    assert capped(lines, max_lines=3, max_bytes=1000) == "# Mine\n\n- [a](a.md) - d"


@pytest.mark.parametrize("text", ["", "# Memory", "# Memory\n\n## More"])
def test_headings_alone_are_nothing(text: str) -> None:
    assert capped(parsed(text), max_lines=200, max_bytes=25_600) == ""


def test_too_many_lines_keep_the_newest_in_their_order() -> None:
    lines = merged([], [memory(f"m{n}", days=n) for n in range(10)])
    assert capped(lines, max_lines=4, max_bytes=25_600).split("\n") == [
        "- [m2](m2.md) - d",
        "- [m1](m1.md) - d",
        "- [m0](m0.md) - d",
        "(7 older memories are not shown; the files are in this folder)",
    ]


def test_too_many_bytes_keep_whole_lines_of_the_newest() -> None:
    lines = merged([], [memory(f"m{n}", "前缀" * 20, days=n) for n in range(10)])
    text = capped(lines, max_lines=200, max_bytes=500)
    assert len(text.encode()) <= 500
    *kept, last = text.split("\n")
    assert kept == texts(lines)[-len(kept) :]
    assert last == f"({10 - len(kept)} older memories are not shown; the files are in this folder)"


def test_a_line_that_never_fits_does_not_keep_out_the_others() -> None:
    lines = merged([], [memory("huge", "x" * 3000), memory("small", days=1)])
    assert capped(lines, max_lines=200, max_bytes=1000).split("\n") == [
        "- [small](small.md) - d",
        "(1 older memory is not shown; the files are in this folder)",
    ]


def test_memories_come_before_what_people_wrote() -> None:
    lines = merged(parsed("one\ntwo\nthree"), [memory("a")])
    assert capped(lines, max_lines=3, max_bytes=1000).split("\n") == [
        "one",
        "- [a](a.md) - d",
        "(2 other lines are not shown; the files are in this folder)",
    ]


@given(
    st.lists(st.tuples(names, st.integers(0, 100)), max_size=30),
    st.integers(1, 20),
    st.integers(100, 2000),
)
def test_an_index_is_never_larger_than_its_limits(found: list[tuple[str, int]], most: int, room: int) -> None:
    lines = merged([], [memory(f"m{n}", text, days=days) for n, (text, days) in enumerate(found)])
    text = capped(lines, max_lines=most, max_bytes=room)
    assert len(text.split("\n")) <= most
    assert len(text.encode()) <= room
    assert size(lines)[0] == len(found)
