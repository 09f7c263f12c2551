import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from session_files import ID, TYPED_ID, boundary, call, files, records, role, told, typed, write

from mewcode_magic.errors import StorageError
from mewcode_magic.sessions import SessionStore
from mewcode_magic.sessions.export import convert_session, id_in, write_session
from mewcode_magic.sessions.records import Dialect

STAMP = "2026-06-18T09:15:00+00:00"

CONVERSATION: list[dict[str, Any]] = [
    role("system_prompt", "be good"),
    role("user", "load \u2028 it {now}", injected=[{"type": "text", "text": "note"}], notebook="a.ipynb"),
    role("assistant", call("t1", say="Look."), model="m", usage={"input_tokens": 3}, mood="good"),
    role("tool_result", "1", tool_use_id="t1", is_error=True, variables=["df"]),
    role("tool_result", [{"type": "text", "text": "2"}], tool_use_id="t2"),
    boundary(
        "s",
        [{"role": "user", "content": "kept"}, {"role": "tool_result", "tool_use_id": "t0", "content": "x"}],
    ),
    role("title", "Loading"),
    role("assistant", "done", interrupted=True),
]


def converted(store: SessionStore, name: str, dialect: Dialect) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in convert_session(store.info(name), dialect).lines]


def test_role_session_becomes_a_typed_one_with_every_key(store: SessionStore) -> None:
    write(store, *CONVERSATION)
    assert converted(store, ID, "typed") == [
        typed("system_prompt", "be good", STAMP),
        typed(
            "user",
            "load \u2028 it {now}",
            STAMP,
            injected=[{"type": "text", "text": "note"}],
            notebook="a.ipynb",
        ),
        typed("assistant", call("t1", say="Look."), STAMP, model="m", usage={"input_tokens": 3}, mood="good"),
        typed("tool_result", "1", STAMP, tool_use_id="t1", is_error=True, variables=["df"]),
        typed("tool_result", [{"type": "text", "text": "2"}], STAMP, tool_use_id="t2", is_error=False),
        typed(
            "compact_boundary",
            {
                "summary": "s",
                "keep": [
                    {"type": "user", "content": "kept"},
                    {"type": "tool_result", "content": "x", "tool_use_id": "t0", "is_error": False},
                ],
            },
            STAMP,
        ),
        typed("title", "Loading", STAMP),
        typed("assistant", "done", STAMP, interrupted=True),
    ]


def test_role_session_comes_back_as_it_was(store: SessionStore) -> None:
    path = write(store, *CONVERSATION)
    lines = convert_session(store.info(ID), "typed").lines
    (store.folder / f"{TYPED_ID}.jsonl").write_bytes(b"".join(lines))
    assert converted(store, TYPED_ID, "role") == records(path)


def test_records_that_have_the_dialect_stay_byte_for_byte(store: SessionStore) -> None:
    odd = b'{ "role":"user", "ts": 1781774100.5, "content":"a" }\r\n'
    write(store, odd, typed("assistant", "b"))
    lines = convert_session(store.info(ID), "role").lines
    assert lines[0] == odd.replace(b"\r\n", b"\n")
    assert orjson.loads(lines[1]) == role("assistant", "b")


def test_typed_prompt_of_blocks_becomes_a_string_and_what_stands_before_it(store: SessionStore) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    write(store, role("user", [image, {"type": "text", "text": "what is this?"}]))
    (record,) = converted(store, ID, "typed")
    assert (record["content"], record["injected"]) == ("what is this?", [image])


def test_damaged_lines_are_left_out_and_counted(store: SessionStore) -> None:
    write(
        store, role("user", "a"), b'{"role":"assi\n', role("wizard", "x"), role("assistant", "b"), b'{"role'
    )
    done = convert_session(store.info(ID), "typed")
    assert [orjson.loads(line)["content"] for line in done.lines] == ["a", "b"]
    assert done.skipped == 3


def test_boundary_of_another_program_keeps_what_can_be_read(store: SessionStore) -> None:
    broken: list[Any] = [
        {"role": "tool_result", "content": "of no call"},
        7,
        {"role": "user", "content": "b"},
    ]
    write(store, boundary("s", broken))
    (record,) = converted(store, ID, "typed")
    assert record["content"]["keep"] == [{"type": "user", "content": "b"}]


def test_record_without_a_time_has_that_of_the_one_before(store: SessionStore) -> None:
    write(store, role("user", "a"), role("assistant", "b", None))
    assert [r["timestamp"] for r in converted(store, ID, "typed")] == [STAMP, STAMP]


@pytest.mark.parametrize(
    ("name", "dialect", "expected"),
    [
        (ID, "role", ID),
        (ID, "typed", "session_20260618_091500_ab12"),
        (TYPED_ID, "typed", TYPED_ID),
        (TYPED_ID, "role", r"20260618-091500-[0-9a-f]{4}"),
        ("mine", "typed", r"session_2026061\d_\d{6}_[0-9a-f]{4}"),
        ("mine", "role", r"2026061\d-\d{6}-[0-9a-f]{4}"),
    ],
)
def test_id_has_the_form_of_the_dialect(
    store: SessionStore, name: str, dialect: Dialect, expected: str
) -> None:
    write(store, role("user", "a"), name=name)
    found = id_in(store.info(name), dialect)
    assert re.fullmatch(expected, found)


def test_file_has_the_meta_that_the_terminal_program_needs(store: SessionStore, tmp_path: Path) -> None:
    write(store, *CONVERSATION)
    target = tmp_path / f"{TYPED_ID}.jsonl"
    write_session(convert_session(store.info(ID), "typed"), target)
    meta = orjson.loads(target.with_suffix(".meta").read_bytes())
    assert (meta["id"], meta["title"], meta["created_at"]) == (TYPED_ID, "Loading", STAMP)
    assert meta["message_count"] == 4


@pytest.mark.parametrize("dialect", ["role", "typed"])
def test_exported_session_replays_the_same(store: SessionStore, tmp_path: Path, dialect: Dialect) -> None:
    write(store, *CONVERSATION)
    other = SessionStore(tmp_path / "other")
    other.folder.mkdir(parents=True)
    name = id_in(store.info(ID), dialect)
    write_session(convert_session(store.info(ID), dialect), other.folder / f"{name}.jsonl")
    assert told(other.read(name).messages) == told(store.read(ID).messages)
    resumed = other.resume(name)
    assert resumed.session.title == "Loading"
    resumed.session.close()


def test_file_that_stands_is_kept_unless_it_may_be_replaced(store: SessionStore, tmp_path: Path) -> None:
    write(store, role("user", "a"))
    target = tmp_path / "x.jsonl"
    target.write_text("mine")
    with pytest.raises(StorageError, match=r"x\.jsonl is there already.*--force"):
        write_session(convert_session(store.info(ID), "typed"), target)
    assert target.read_text() == "mine"
    assert "x.meta" not in files(tmp_path)
    write_session(convert_session(store.info(ID), "typed"), target, overwrite=True)
    assert records(target) == [typed("user", "a", STAMP)]
