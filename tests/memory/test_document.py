from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mewcode_magic.errors import InvalidMemory
from mewcode_magic.memory import Memory
from mewcode_magic.memory.document import first_sentence, read_document, write_document


def read(text: str, slug: str = "some-file") -> Memory:
    return read_document(text, slug, "project")[0]


def faults(text: str) -> list[str]:
    return read_document(text, "some-file", "project")[1]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
times = st.none() | st.integers(0, 2**32).map(lambda second: datetime.fromtimestamp(second, UTC))
KNOWN = {"name", "description", "type", "created", "updated", "expires", "source", "metadata"}
line = st.text(min_size=1).filter(lambda text: Memory(text, "", "user", "").name != "")
memories = st.builds(
    Memory,
    line,
    line,
    st.sampled_from(["user", "feedback", "project", "reference"]),
    st.text(),
    created=times,
    expires=times,
    source=st.none() | line.map(lambda text: Memory(text, "", "user", "").name),
    extra=st.dictionaries(st.text().filter(lambda key: key not in KNOWN), values, max_size=3),
)


@given(memories)
@example(Memory("a: b # c", "'\"", "user", "---\nname: x\n---", extra={"---": "---\n---"}))
@example(Memory("404", "yes", "user", "+++\n{", source="1e3", extra={"<<": "x", "=": "y"}))
@example(Memory("- [x](y.md)", "! &a *b |", "user", "\u2028\u0085", extra={"a": "x" * 300, "b": " y\n\n z "}))
@example(Memory("n", "d", "user", "b", extra={"\x85": ["a\x85b"]}))
def test_any_memory_reads_as_it_was_written(memory: Memory) -> None:
    assert read(write_document(memory)) == memory


@given(st.binary())
@example(b"---\nname: [\n---\n")
@example(b"---\n- a\n- b\n---\nbody")
@example(b"---\n" + b"[" * 5000 + b"\n---\n")
@example(b"---\nname: !!python/object/apply:os.system ['true']\n---\n")
@example(b"---\ncreated: 2026-13-45\n---\n")
@example(b"---\nname: " + b"9" * 5000 + b"\n---\n")
@example(b"---\na: !!int ''\nb: !!timestamp x\nc: !!bool maybe\n---\n")
@example(b"---\n? [a]\n: b\n1: 2\n---\n")
@example(b"---\n<<: {name: 5}\n? !!str {=: a}\n: b\n---\n")
@example(b"---\nexpires: 9999-12-31\ncreated: 0001-01-01\n---\n")
@example(b"---\nname: a\nmetadata:\n  - type\n---\n")
@example(b"---\nmetadata: &m\n  type: *m\n---\n")
def test_any_bytes_are_some_memory_with_a_name(data: bytes) -> None:
    memory, _ = read_document(data.decode("utf-8", errors="replace"), "some-file", "user")
    assert memory.name
    assert memory.type in ("user", "feedback", "project", "reference")
    write_document(memory)


@given(st.text())
def test_any_frontmatter_is_some_memory(header: str) -> None:
    memory = read(f"---\n{header}\n---\nbody")
    assert memory.name
    write_document(memory)


@pytest.mark.parametrize(
    ("header", "description"),
    [
        ("description: use x: not y", "use x: not y"),
        ("description: 'it''s quoted'", "it's quoted"),
        ('description: "quoted: # all"', "quoted: # all"),
        ("description: prefers C # to Java", "prefers C # to Java"),
        ('description: "kept" # a real comment', "kept"),
        ("description: 🎉 前缀", "🎉 前缀"),
        ("description: 404", "404"),
        ("description: yes", "yes"),
        ("description: 2026-11-29", "2026-11-29"),
        ("description: |\n  two\n  lines", "two lines"),
        ("description: plain # that\n  goes on", "plain # that goes on"),
        ("description: [a, list]", "The body."),
        ("description:", "The body."),
        ("name: [broken\ndescription: still read", "still read"),
        ("description: *no-such-anchor", "*no-such-anchor"),
        ("description: @mentioned", "@mentioned"),
        ("description: `code`", "`code`"),
    ],
)
def test_description_as_people_write_it(header: str, description: str) -> None:
    assert read(f"---\n{header}\n---\nThe body.").description == description


def test_type_below_metadata_is_read_and_follows_a_change() -> None:
    memory = read("---\nname: n\nmetadata:\n  type: reference\n  author: team\n---\nbody")
    assert memory.type == "reference"
    changed = read(write_document(Memory("n", "d", "user", "body", extra=memory.extra)))
    assert changed.type == "user"
    assert changed.extra == {"metadata": {"type": "user", "author": "team"}}


def test_type_below_metadata_is_read_from_what_is_no_yaml() -> None:
    memory = read("---\nname: it's: broken: {\nmetadata:\n  type: reference\n---\nbody")
    assert memory.name == "it's: broken: {"
    assert memory.type == "reference"


@pytest.mark.parametrize(("place", "kind"), [("user", "user"), ("project", "project")])
@pytest.mark.parametrize("header", ["name: n", "type: note", "type: [user]"])
def test_type_missing_or_unknown_follows_from_the_place(header: str, place: Any, kind: str) -> None:
    memory, problems = read_document(f"---\n{header}\n---\nbody", "n", place)
    assert memory.type == kind
    assert len(problems) == 1


def test_type_is_read_in_any_case() -> None:
    assert read("---\ntype: Reference\n---\nbody").type == "reference"


def test_no_frontmatter_gives_name_of_file_and_first_sentence() -> None:
    memory = read("# Deploys\n\nOn Fridays only.", "team/how to deploy")
    assert (memory.name, memory.description, memory.type) == ("how to deploy", "Deploys", "project")
    assert memory.body == "# Deploys\n\nOn Fridays only."


@pytest.mark.parametrize(
    "text",
    ["---\nno end", "-----\nbetween two rules\n-----\nand more", "hello\n---\nname: x\n---\nbody", "---", ""],
)
def test_what_is_no_frontmatter_stays_in_the_body(text: str) -> None:
    memory = read(text)
    assert memory.body == text
    assert memory.name == "some-file"


def test_empty_frontmatter_is_no_part_of_the_body() -> None:
    assert read("---\n---\nbody").body == "body"


def test_windows_line_ends_are_read() -> None:
    memory = read("---\r\nname: n\r\ndescription: d\r\ntype: user\r\n---\r\n\r\none\r\ntwo\r\n")
    assert memory == Memory("n", "d", "user", "one\ntwo")


def test_unquoted_dates_are_times() -> None:
    memory = read("---\ncreated: 2026-01-02\nupdated: 2026-01-03T10:00:00Z\nexpires: 2026-01-04\n---\nb")
    assert memory.created == datetime(2026, 1, 2).astimezone()
    assert memory.updated == datetime(2026, 1, 3, 10, tzinfo=UTC)
    assert memory.expires == datetime(2026, 1, 4, 23, 59, 59, 999000).astimezone()


def test_an_unreadable_time_is_kept_as_it_is() -> None:
    text = "---\nname: n\ndescription: d\ntype: user\nexpires: next week\n---\nb"
    assert faults(text) == ["its time 'expires' is not ISO 8601"]
    memory = read(text)
    assert memory.expires is None
    assert read(write_document(memory)).extra == {"expires": "next week"}


def test_unknown_keys_of_every_kind_survive() -> None:
    extra = {"tags": ["a"], "n": 3, "deep": {"x": None}, "day": date(2026, 1, 1), "handler": 1, "content": 2}
    memory = read(write_document(Memory("n", "d", "user", "b", extra=extra)))
    assert memory.extra == extra


def test_tags_of_yaml_run_nothing(tmp_path: Path) -> None:
    target = tmp_path / "ran"
    memory = read(f"---\nname: n\nx: !!python/object/apply:os.mkdir ['{target}']\n---\nbody")
    assert memory.name == "n"
    assert not target.exists()


def test_aliases_that_multiply_are_not_followed() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    memory, problems = read_document("---\nname: n\n" + "\n".join(lines) + "\n---\nbody", "f", "user")
    assert memory.name == "n"
    assert "line by line" in problems[0]


def test_a_value_that_yaml_does_not_know_is_refused() -> None:
    with pytest.raises(InvalidMemory, match="cannot be written"):
        write_document(Memory("n", "d", "user", "b", extra={"path": Path("x")}))


def test_file_is_written_for_people() -> None:
    memory = Memory(
        "emoji 😀: 前缀",
        "a description that is longer than the eighty columns at which YAML would like to fold a line",
        "user",
        "Body.",
        updated=datetime(2026, 11, 29, 10, tzinfo=UTC) + timedelta(milliseconds=5),
    )
    assert write_document(memory) == (
        "---\n"
        "name: 'emoji 😀: 前缀'\n"
        f"description: {memory.description}\n"
        "type: user\n"
        "updated: '2026-11-29T10:00:00.005+00:00'\n"
        "---\n\nBody.\n"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Use polars. Not pandas.", "Use polars."),
        ("One sentence\nover two lines. And more", "One sentence over two lines."),
        ("# A heading\nAnd text", "A heading"),
        ("- first\n- second", "first"),
        ("1. first\n2. second", "first"),
        ("See e.g. the file a.csv. Then stop", "See e.g. the file a.csv."),
        ("-5 degrees", "-5 degrees"),
        ("**Why:** because", "**Why:** because"),
        ("用中文写。谢谢", "用中文写。"),
        ("🎉", "🎉"),
        ("---\nafter a rule", "after a rule"),
        ("", ""),
    ],
)
def test_first_sentence_of_a_text(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_first_sentence_is_cut_between_words() -> None:
    sentence = first_sentence("word " * 100)
    assert sentence.endswith("word…")
    assert len(sentence) <= 200
