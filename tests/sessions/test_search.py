"""Searching all sessions: what is found, in which order, with which passage; what becomes of the index."""

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from session_files import ID, TYPED_ID, boundary, call, line, role, typed, write

from mewcode_magic.sessions import Found, SessionStore

INDEX = ".search.sqlite"


def ids(found: list[Found]) -> list[str]:
    return [one.info.id for one in found]


def marked(one: Found) -> list[str]:
    """Return what is marked in a passage."""
    return [one.passage[begin:end] for begin, end in one.marks]


def names(count: int) -> list[str]:
    return [f"20260618-09150{n}-000{n}" for n in range(count)]


# -- what is found -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "name"),
    [
        ([role("user", "hello"), role("assistant", "The churn model is ready.")], ID),
        ([typed("user", "hello"), typed("assistant", "The churn model is ready.")], TYPED_ID),
        ([role("assistant", [{"type": "text", "text": "The churn model is ready."}])], ID),
        ([typed("assistant", [{"type": "text", "text": "The churn model is ready."}])], TYPED_ID),
    ],
)
def test_what_was_said_is_found_in_both_dialects(store: SessionStore, records: Any, name: str) -> None:
    write(store, *records, name=name)
    (found,) = store.search("churn models")
    assert (found.info.id, found.role, found.hits, found.missing) == (name, "assistant", 1, ())
    assert found.passage == "The churn model is ready."
    assert marked(found) == ["churn", "model"]


def test_only_what_was_said_and_results_are_searched(store: SessionStore) -> None:
    write(
        store,
        role(
            "user",
            "<system-reminder>wrappedword</system-reminder>hello",
            injected=[{"type": "text", "text": "injectedword"}],
            notebook="notebookword.ipynb",
        ),
        role(
            "assistant",
            [
                {"type": "thinking", "thinking": "thoughtword", "signature": "signatureword"},
                *call("argumentword", say="spokenword"),
            ],
        ),
        role(
            "tool_result",
            [
                {"type": "text", "text": "resultword"},
                {"type": "image", "source": {"type": "base64", "data": "imageword"}},
            ],
            tool_use_id="argumentword",
        ),
        role("system_prompt", "systemword"),
        boundary("boundaryword", [role("user", "keptword", None)]),
    )
    never = ["wrapped", "injected", "notebook", "thought", "signature", "argument"]
    never += ["image", "system", "boundary", "kept"]
    assert [word for word in never if store.search(f"{word}word")] == []
    assert [found.role for found in store.search("spokenword resultword")] == ["assistant"]
    assert [found.role for found in store.search("resultword")] == ["tool_result"]


def test_result_in_a_message_of_another_program_is_a_result(store: SessionStore) -> None:
    write(store, typed("user", [{"type": "tool_result", "tool_use_id": "t", "content": "revenue 12"}]))
    assert [found.role for found in store.search("revenue")] == ["tool_result"]


def test_damaged_lines_cost_only_themselves(store: SessionStore) -> None:
    write(
        store,
        role("user", "first churn"),
        b'{"role": "user", "content": "torn\n',
        b'{"role": "assistant", "content": "not \xff utf8 churn", "ts": 1}\n',
        b'\0\0\0{"role": "user", "content": "behind NUL churn", "ts": 2}\n',
        b'{"role": "user", "content": "half \\ud83d of a churn", "ts": 3}\n',
        b"[1, 2]\n",
        role("unheard_of", "churn"),
        role("user", "last churn"),
    )
    (found,) = store.search("churn")
    assert found.hits == 5


def test_last_line_without_an_end_is_found_once_it_is_whole(store: SessionStore) -> None:
    text = line(role("user", "the churn model"))
    path = write(store, role("user", "hello"), text[:30])
    assert store.search("churn") == []
    with path.open("ab") as file:
        file.write(text[30:-1])
    assert store.search("churn")[0].hits == 1
    with path.open("ab") as file:
        file.write(b"\n" + line(role("user", "churn again")))
    assert store.search("churn")[0].hits == 2


@pytest.mark.parametrize(
    ("said", "sought", "marks"),
    [
        ("We deployed it", "deployment", ["deployed"]),
        ("call getDataFrame()", "frame", ["getDataFrame"]),
        ("the file churn_rate.csv", "churn_rate", ["churn", "rate"]),
        ("请先做数据清洗再分析", "数据清洗", ["数据清洗"]),
        ("売上データを読み込む", "データ", ["データ"]),
        ("Ｆｕｌｌ width", "full", ["Full"]),
        ("le café est là", "cafe", ["café"]),
        ("the threshold matters", "thresh", ["threshold"]),
        ("to be or not to be", "to be", ["to", "be", "to", "be"]),
    ],
)
def test_words_are_found_in_other_forms(
    store: SessionStore, said: str, sought: str, marks: list[str]
) -> None:
    write(store, role("user", said))
    found = store.search(sought)
    assert [marked(one) for one in found] == [marks]


HARMLESS = [
    "",
    " ",
    "?!…",
    "😀",
    '"',
    "'",
    '"unclosed',
    "AND",
    "NOT churn",
    "churn OR",
    "NEAR(a b)",
    "words : churn",
    "{said} : churn",
    "^churn*",
    "churn -model +x",
    "(((",
    "a\0b",
    "\ud800",
    "%s; DROP TABLE said",
    "x" * 10_000,
    "churn " * 2_000,
    "长" * 10_000,
    "ab\u19b0cd",
    "½ ² ﬁ",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_text_is_never_an_operator_nor_an_error(store: SessionStore, text: str) -> None:
    write(store, role("user", "the churn model, said words in a near drop table"))
    told: list[str] = []
    found = store.search(text, tell=told.append)
    assert told == []
    assert ids(found) in ([], [ID])
    if "churn" in text:
        assert ids(found) == [ID]


def test_no_session_is_found_without_any_and_nothing_is_made(store: SessionStore, project: Path) -> None:
    assert store.search("churn") == []
    assert not (project / ".mewcode").exists()


# -- the order -----------------------------------------------------------------------------------------


def test_title_then_user_then_agent_then_result_come_first(store: SessionStore) -> None:
    titled, user, agent, result = names(4)
    write(
        store,
        role("user", "hello"),
        role("user", "churn"),
        role("title", "All about churn"),
        name=titled,
    )
    write(store, role("user", "hello"), role("user", "churn"), name=user)
    write(store, role("user", "hello"), role("assistant", "churn"), name=agent)
    write(
        store,
        role("user", "hello"),
        *[role("tool_result", "churn", tool_use_id=f"t{n}") for n in range(30)],
        name=result,
    )
    found = store.search("churn")
    assert ids(found) == [titled, user, agent, result]
    assert [one.hits for one in found] == [1, 1, 1, 30]
    assert [one.role for one in found] == ["user", "user", "assistant", "tool_result"]


def test_sessions_with_all_words_push_out_those_with_some(store: SessionStore) -> None:
    whole, half, other = names(3)
    write(store, role("user", "the churn"), role("assistant", "a threshold"), name=whole)
    write(store, role("user", "the churn"), name=half)
    write(store, role("user", "polars"), name=other)
    assert ids(store.search("churn threshold")) == [whole]
    some = store.search("churn threshold polars")
    assert ids(some)[0] == whole
    assert some[0].missing == ("polars",)


def test_words_in_one_record_come_before_words_apart(store: SessionStore) -> None:
    apart, together = names(2)
    write(store, role("user", "churn"), role("user", "threshold"), name=apart)
    write(store, role("user", "churn threshold"), role("user", "hello"), name=together)
    assert ids(store.search("churn threshold")) == [together, apart]


def test_limit_takes_the_best_and_of_equals_the_latest(store: SessionStore) -> None:
    for n, name in enumerate(names(5)):
        write(store, role("user", "churn", 1_781_774_100 + n), name=name)
    assert ids(store.search("churn", limit=2)) == names(5)[:2:-1]
    assert store.search("churn", limit=0) == []


# -- the passage ---------------------------------------------------------------------------------------


def test_passage_is_one_short_line_around_the_hits(store: SessionStore) -> None:
    filler = "lorem ipsum dolor\n\tsit amet\x1b[31m " * 200
    write(store, role("user", f"{filler} model {filler} the churn model of May {filler}"))
    (found,) = store.search("churn model")
    assert marked(found) == ["churn", "model"]
    assert len(found.passage) <= 162
    assert found.passage[0] == found.passage[-1] == "…"
    assert found.passage.isprintable()
    assert found.passage.index("churn") < 30


def test_passage_is_the_title_if_no_record_holds_as_much(store: SessionStore) -> None:
    write(store, role("user", "the churn"), role("title", "Quarterly churn threshold"))
    (found,) = store.search("quarterly churn threshold")
    assert (found.role, found.passage, found.hits) == ("title", "Quarterly churn threshold", 1)
    assert marked(found) == ["Quarterly", "churn", "threshold"]


# -- the index follows the files -----------------------------------------------------------------------


def test_what_is_appended_is_found(store: SessionStore) -> None:
    path = write(store, role("user", "hello"))
    assert store.search("churn") == []
    for count in (1, 2, 3):
        with path.open("ab") as file:
            file.write(line(role("user", "churn")))
        assert store.search("churn")[0].hits == count
    assert store.search("hello")[0].hits == 1


def replaced(path: Path, data: bytes) -> None:
    """Replace a file as editors do it."""
    new = path.with_name("new")
    new.write_bytes(data)
    new.replace(path)


def rewritten(path: Path, data: bytes) -> None:
    """Write a file anew in its place."""
    path.write_bytes(data)


@pytest.mark.parametrize("change", [replaced, rewritten])
@pytest.mark.parametrize("text", ["polars", "chorn", "much longer than it was before: polars"])
def test_what_is_no_longer_there_is_not_found(
    store: SessionStore, change: Callable[[Path, bytes], None], text: str
) -> None:
    path = write(store, role("user", "churn"), role("user", "hello"))
    assert store.search("churn")
    change(path, line(role("user", text)) + line(role("user", "hello")))
    os.utime(path, ns=(1, time.time_ns()))
    assert store.search("churn") == []
    assert store.search(text)[0].hits == 1
    assert store.search("hello")[0].hits == 1


def test_deleted_sessions_drop_out_and_come_back(store: SessionStore) -> None:
    write(store, role("user", "churn"))
    assert store.search("churn")
    store.delete(ID)
    assert store.search("churn") == []
    trash = store.folder / ".trash"
    (trash / f"{ID}.jsonl").rename(store.folder / f"{ID}.jsonl")
    assert store.search("churn")[0].hits == 1


def test_renamed_titles_and_new_summaries_follow(store: SessionStore) -> None:
    write(store, role("user", "hello"))
    store.rename(ID, "Churn in May")
    assert [one.role for one in store.search("churn")] == ["title"]
    store.rename(ID, "Polars")
    assert store.search("churn") == []
    assert store.search("polars")
    store.summarize(ID, "How the threshold was chosen")
    assert [one.role for one in store.search("threshold")] == ["summary"]


def test_index_moves_and_is_copied_with_the_project(store: SessionStore, tmp_path: Path) -> None:
    write(store, role("user", "churn"))
    assert store.search("churn")
    for transfer in (shutil.copytree, shutil.move):
        target = tmp_path / transfer.__name__
        transfer(store.project, target)
        moved = SessionStore(target)
        with (moved.folder / f"{ID}.jsonl").open("ab") as file:
            file.write(line(role("user", "churn too")))
        told: list[str] = []
        assert moved.search("churn", tell=told.append)[0].hits == 2
        assert told == []
    assert str(tmp_path).encode() not in (moved.folder / INDEX).read_bytes()


def test_index_holds_no_texts_and_is_private(store: SessionStore) -> None:
    write(store, role("user", "zebra yonder xylophone"))
    store.search("zebra")
    index = store.folder / INDEX
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    assert b"zebra yonder" not in index.read_bytes()


def test_index_does_not_grow_with_sessions_that_are_gone(store: SessionStore) -> None:
    filler = " ".join(f"word{n}" for n in range(300))
    sizes = []
    for _ in range(4):
        for n in range(120):
            write(store, role("user", f"churn {filler}"), name=f"20260618-091500-{n:04x}")
        store.search("churn")
        sizes.append((store.folder / INDEX).stat().st_size)
        for path in store.folder.glob("*.jsonl"):
            path.unlink()
        write(store, role("user", "left"))
        assert ids(store.search("left")) == [ID]
        assert store.search("churn") == []
    assert max(sizes) < 3 * sizes[0]


# -- the index as others leave it ----------------------------------------------------------------------


def garbage(index: Path) -> None:
    index.write_bytes(b"no database at all" * 1_000)


def truncated(index: Path) -> None:
    os.truncate(index, index.stat().st_size // 2)


def overwritten(index: Path) -> None:
    with index.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (index.stat().st_size - 4096))


def without_tables(index: Path) -> None:
    database = sqlite3.connect(index)
    database.execute("DROP TABLE sessions")
    database.commit()
    database.close()


@pytest.mark.parametrize("damage", [garbage, truncated, overwritten, without_tables])
def test_damaged_index_is_built_anew(store: SessionStore, damage: Callable[[Path], None]) -> None:
    filler = " ".join(f"word{n}" for n in range(3_000))
    write(store, role("user", f"churn {filler}"))
    store.search("churn")
    damage(store.folder / INDEX)
    told: list[str] = []
    assert ids(store.search("churn", tell=told.append)) == [ID]
    assert len(told) == 1
    assert f"{INDEX}, was damaged" in told[0]
    assert ids(store.search("churn", tell=told.append)) == [ID]
    assert len(told) == 1


def test_index_of_another_format_is_built_anew(store: SessionStore) -> None:
    write(store, role("user", "churn"))
    store.search("churn")
    database = sqlite3.connect(store.folder / INDEX)
    database.execute("PRAGMA user_version = 999")
    database.close()
    told: list[str] = []
    assert store.search("churn", tell=told.append)[0].hits == 1
    assert told == []


def folder_there(index: Path) -> None:
    index.mkdir()


def link_there(index: Path) -> None:
    index.symlink_to(index.parent.parent / "elsewhere")


@pytest.mark.parametrize("obstacle", [folder_there, link_there])
def test_index_that_cannot_be_made_is_done_without(
    store: SessionStore, obstacle: Callable[[Path], None]
) -> None:
    write(store, role("user", "churn"))
    obstacle(store.folder / INDEX)
    told: list[str] = []
    assert ids(store.search("churn", tell=told.append)) == [ID]
    assert len(told) == 1
    assert "could not be used" in told[0]
    assert not (store.folder.parent / "elsewhere").exists()


def test_locked_index_is_done_without(store: SessionStore) -> None:
    path = write(store, role("user", "churn"))
    store.search("churn")
    with path.open("ab") as file:
        file.write(line(role("user", "churn")))
    other = sqlite3.connect(store.folder / INDEX, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    told: list[str] = []
    assert store.search("churn", tell=told.append)[0].hits == 2
    assert len(told) == 1
    assert "locked" in told[0]
    other.close()
    assert store.search("churn", tell=told.append)[0].hits == 2
    assert len(told) == 1


def test_file_that_cannot_be_read_does_not_stop_the_search(store: SessionStore) -> None:
    broken, sound = names(2)
    path = write(store, role("user", "churn"), name=broken)
    write(store, role("user", "churn"), name=sound)
    path.unlink()
    path.symlink_to(store.folder / "nowhere")
    assert ids(store.search("churn")) == [sound]


# -- several at once, and ends in the middle -----------------------------------------------------------

SEARCHING = textwrap.dedent(
    """
    import sys
    from mewcode_magic.sessions import SessionStore
    print("ready", flush=True)
    sys.stdin.readline()
    told = []
    found = SessionStore(sys.argv[1]).search("churn", limit=1000, tell=told.append)
    print(len(found), sum(one.hits for one in found), told)
    """
)


def many(store: SessionStore, count: int = 60) -> None:
    """Write sessions of several batches together, with two hits each."""
    filler = " ".join(f"word{n}" for n in range(30_000))
    for n in range(count):
        write(
            store,
            role("user", "churn"),
            role("assistant", filler),
            role("user", "churn"),
            name=f"20260618-091500-{n:04x}",
        )


def searching(store: SessionStore, *before: str) -> "subprocess.Popen[str]":
    """Start a process that searches when it is told to; `before` stands in front of its command."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", SEARCHING, str(store.project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_that_search_at_once_find_the_same(store: SessionStore) -> None:
    many(store)
    processes = [searching(store) for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0] for process in processes]
    assert [text.split("[")[0] for text in said] == ["60 120 "] * 3
    assert sum(one.hits for one in store.search("churn", limit=100)) == 120


def test_index_that_must_not_be_written_is_read(store: SessionStore) -> None:
    path = write(store, role("user", "churn"))
    store.search("churn")
    (store.folder / INDEX).chmod(0o400)
    store.folder.chmod(0o500)
    as_a_user = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    try:
        assert searching(store, *as_a_user).communicate("go\n", timeout=60)[0] == "1 1 []\n"
        with path.open("ab") as file:
            file.write(line(role("user", "churn")))
        said = searching(store, *as_a_user).communicate("go\n", timeout=60)[0]
        assert said.startswith("1 2 ['The index of the sessions, ")
        assert "readonly" in said
    finally:
        store.folder.chmod(0o700)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_search_that_is_ended_leaves_an_index_to_go_on_with(store: SessionStore, how: signal.Signals) -> None:
    many(store)
    process = searching(store)
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    index = store.folder / INDEX
    while not (index.exists() and index.stat().st_size > 100_000) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(how)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode != 0
    assert how == signal.SIGKILL or "KeyboardInterrupt" in stderr
    told: list[str] = []
    found = store.search("churn", limit=100, tell=told.append)
    assert (len(found), sum(one.hits for one in found), told) == (60, 120, [])


def test_session_that_is_open_is_found_as_far_as_it_is_written(store: SessionStore) -> None:
    from mewcode_magic.messages import Message

    session = store.create()
    for count in (1, 2):
        session.append(Message(role="user", content=f"churn {json.dumps(count)}"))
        assert store.search("churn")[0].hits == count
    session.close()
