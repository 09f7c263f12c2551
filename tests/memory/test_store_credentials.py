"""No credential is written without force, and none that stands in a file by other ways is sent."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from credential_samples import ALNUM, UPPER, key_block, made
from memory_files import POLARS, write

from mewcode_magic.app import Mew
from mewcode_magic.config import MewCode
from mewcode_magic.errors import CredentialRefused, InvalidMemory
from mewcode_magic.events import ToolEnded
from mewcode_magic.memory import Memory, MemoryStore, Recalling, legacy_memories
from mewcode_magic.model import Scripted

KEY, OTHER = ("AKIA" + made(UPPER, 16) for _ in range(2))
MASK = "[credential: AWS access key]"
DEPLOY = Memory("deploy", "how to deploy", "project", f"Use this:\n\n{KEY}")


def stored(folder: Path) -> str:
    """Return what all files below a folder hold, their names included."""
    return "\n".join(f"{p}\n{p.read_bytes()!r}" for p in folder.rglob("*") if p.is_file())


# -- writing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "memory"),
    [
        ("name, line 1", replace(POLARS, name=f"key {KEY}")),
        ("description, line 1", replace(POLARS, description=f"the key is {KEY}")),
        ("body, line 3", DEPLOY),
        ("frontmatter", replace(POLARS, extra={"deploy": {"keys": ["none", KEY]}})),
        ("frontmatter", replace(POLARS, extra={KEY: "x"})),
        ("frontmatter", replace(POLARS, source=KEY)),
    ],
)
def test_credential_in_any_part_is_refused(
    store: MemoryStore, part: str, memory: Memory, home: Path, project: Path
) -> None:
    with pytest.raises(CredentialRefused) as refused:
        store.save(memory)
    told = str(refused.value)
    assert f"AWS access key in the {part}" in told
    assert "leave it out" in told
    assert "%remember --force" in told
    assert KEY not in told
    assert "\n" not in told
    assert KEY not in stored(home) + stored(project)
    assert store.list() == []


def test_private_key_in_the_frontmatter_is_refused(store: MemoryStore) -> None:
    with pytest.raises(CredentialRefused, match="private key"):
        store.save(replace(POLARS, extra={"key": key_block("RSA PRIVATE KEY")}))


def test_refused_update_leaves_what_stood(store: MemoryStore) -> None:
    before = store.save(replace(DEPLOY, body="Ask the team.")).memory
    with pytest.raises(CredentialRefused):
        store.save(DEPLOY)
    assert store.get("deploy") == before


def test_force_writes_it_and_says_that_it_is_masked(store: MemoryStore) -> None:
    saved = store.save(DEPLOY, force=True)
    assert KEY in saved.path.read_text("utf-8")
    assert any("AWS access key in the body, line 3" in note for note in saved.notes)
    assert KEY not in " ".join(saved.notes)


def test_what_was_forced_may_stay_when_the_rest_is_updated(store: MemoryStore) -> None:
    store.save(DEPLOY, force=True)
    saved = store.save(replace(DEPLOY, description="when deploying", body=f"{DEPLOY.body}\n\nOn Mondays."))
    assert saved.action == "updated"
    assert KEY in saved.memory.body


def test_another_credential_beside_the_forced_one_is_refused(store: MemoryStore) -> None:
    store.save(DEPLOY, force=True)
    with pytest.raises(CredentialRefused, match=r"\(AWS access key in the body, line 4\)"):
        store.save(replace(DEPLOY, body=f"{DEPLOY.body}\n{OTHER}"))


def test_what_was_forced_is_refused_in_the_other_place_and_under_another_name(store: MemoryStore) -> None:
    forced = store.save(replace(DEPLOY, type="user"), force=True).memory
    with pytest.raises(CredentialRefused):  # where a team may see it
        store.save(replace(forced, type="project"))
    with pytest.raises(CredentialRefused):
        store.save(replace(DEPLOY, type="user", name="other", body=f"Also here: {KEY}"))
    assert store.save(replace(forced, type="project"), force=True).action == "moved"


def test_what_stands_in_a_file_by_hand_may_stay_when_the_rest_is_updated(
    store: MemoryStore, home: Path
) -> None:
    write(home / "memory/deploy.md", f"---\nname: deploy\ntype: user\nkey: {KEY}\n---\nOld.")
    saved = store.save(Memory("deploy", "how to deploy", "user", "New."))
    assert saved.memory.extra == {"key": KEY}


def test_mask_does_not_replace_what_it_stands_for(store: MemoryStore) -> None:
    forced = store.save(DEPLOY, force=True).memory
    sent = store.sendable(forced)
    with pytest.raises(InvalidMemory, match="would replace what it stands for"):
        store.save(replace(sent, body=f"{sent.body}\n\nOn Mondays."))
    assert store.get("deploy") == forced


def test_restored_memory_keeps_its_credential(store: MemoryStore) -> None:
    store.save(DEPLOY, force=True)
    store.delete("deploy")
    assert KEY in store.restore("deploy").body


# -- sending -------------------------------------------------------------------------------------------


@pytest.fixture
def by_hand(home: Path) -> Path:
    """A file with a credential in each part that can be sent."""
    text = f"---\nname: n {KEY}\ndescription: d {KEY}\ntype: user\n---\n\nfirst\nb {KEY}"
    return write(home / "memory/deploy.md", text)


def test_mask_that_a_memory_has_already_may_stay_in_it(store: MemoryStore, home: Path) -> None:
    write(home / "memory/deploy.md", f"---\nname: deploy\ntype: user\n---\nThe key is {MASK}.")
    (memory,) = store.list()
    assert store.save(replace(memory, description="how to deploy")).action == "updated"


def test_sendable_masks_the_texts_and_leaves_the_file(store: MemoryStore, by_hand: Path) -> None:
    before = by_hand.read_bytes()
    (memory,) = store.list()
    sent = store.sendable(memory)
    assert (sent.name, sent.description, sent.body) == (f"n {MASK}", f"d {MASK}", f"first\nb {MASK}")
    assert (sent.path, sent.slug, sent.place) == (memory.path, memory.slug, memory.place)
    assert memory.body == f"first\nb {KEY}"
    assert by_hand.read_bytes() == before


def test_credential_in_a_file_name_is_listed_and_masked_wherever_it_would_be_sent(
    project: Path, home: Path
) -> None:
    write(home / f"memory/{KEY}.md", "---\nname: zebra\ndescription: d\ntype: user\n---\n\nIt is striped.")
    model = Scripted(["answer"] * 2)
    mew = Mew(project, home, model=model)
    assert [p.text for p in mew.memory.check() if "AWS access key in the file name" in p.text]
    events = list(mew.ask("a striped zebra?"))
    sent = orjson.dumps([r.messages for r in model.requests]).decode()
    assert "It is striped." in sent
    list(mew.ask("a striped zebra?"))
    session = mew.session
    assert [len(message.recalled) for message in session.messages] == [1, 0, 0, 0]
    mew.close()
    for told in (str(events), sent, session.path.read_text("utf-8")):
        assert KEY not in told


def test_sendable_follows_the_file(store: MemoryStore, by_hand: Path) -> None:
    store.sendable(store.list()[0])
    write(by_hand, f"---\nname: n\ndescription: d\ntype: user\n---\nNow {OTHER}.")
    os.utime(by_hand, (1, 1))
    assert store.sendable(store.list()[0]).body == f"Now {MASK}."
    write(by_hand, "---\nname: n\ndescription: d\ntype: user\n---\nNothing.")
    assert store.sendable(store.list()[0]) == store.list()[0]


def test_memory_without_a_credential_is_sent_as_it_is(store: MemoryStore) -> None:
    memory = store.save(POLARS).memory
    assert store.sendable(memory) is memory


def test_index_is_masked_also_where_people_wrote_in_it(store: MemoryStore, by_hand: Path) -> None:
    write(by_hand.parent / "MEMORY.md", f"# Ours\nthe root key is {OTHER}\n")
    index = store.index("user")
    assert KEY not in index
    assert OTHER not in index
    assert f"the root key is {MASK}" in index
    assert f"- [n {MASK}](deploy.md) - d {MASK}" in index


def test_masked_index_stays_within_its_limit(project: Path, home: Path) -> None:
    for n in range(40):
        text = f"---\nname: m{n}\ndescription: pw is {made(ALNUM, 6)}\ntype: user\n---\nBody {n}."
        write(home / f"memory/m{n}.md", text)
    store = MemoryStore(project, home)
    for most in range(1_400, 1_500, 9):
        store.settings.index_max_bytes = most
        index = store.index("user")
        assert len(index.encode()) <= most
        assert "[credential: password]" in index
        assert "not shown" in index


def test_check_and_notices_name_the_file_and_never_the_value(
    store: MemoryStore, by_hand: Path, home: Path
) -> None:
    index = write(by_hand.parent / "MEMORY.md", f"- [n](deploy.md) - d {KEY}\n\nroot: {OTHER}\n")
    store.save(POLARS)
    found = {p.path: p.text for p in store.check() if p.kind == "credential"}
    assert found.keys() == {by_hand, index}
    assert "AWS access key in the name, line 1" in found[by_hand]
    assert "AWS access key in the body, line 2" in found[by_hand]
    assert "AWS access key in line 3" in found[index]
    told = " ".join(store.notices)
    assert str(by_hand) in told
    assert KEY not in told + str(found)
    assert OTHER not in told + str(found)


def test_older_memory_files_are_masked(project: Path, home: Path) -> None:
    write(home / "memories.md", f"### 用户偏好\n- 密码是 {made(ALNUM, 10)}\n- the key is {KEY}\n- tea\n")
    text = legacy_memories(project, home)
    assert "- 密码是 [credential: password]\n- the key is [credential: AWS access key]\n- tea" in text


# -- the whole way -------------------------------------------------------------------------------------


def call(**arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t1", "name": "Remember", "input": {"action": "save", **arguments}}


@pytest.fixture
def mew(project: Path, home: Path) -> Iterator[Mew]:
    saving = [call(type="project", name="deploy", description="how to deploy", body=f"Use {KEY}.")]
    made = Mew(project, home, model=Scripted([saving, *(f"answer {n}" for n in range(9))]))
    yield made
    made.close()


def test_agent_gets_an_error_and_has_no_way_round(mew: Mew, project: Path) -> None:
    events = list(mew.ask("remember how to deploy"))
    (ended,) = (event for event in events if isinstance(event, ToolEnded))
    assert ended.is_error
    assert "credential" in str(ended)
    assert mew.memory.list() == []
    assert not (project / ".mewcode" / "memory").exists() or KEY not in stored(
        project / ".mewcode" / "memory"
    )


def test_nothing_of_a_file_changed_by_hand_reaches_the_model_unmasked(
    project: Path, home: Path, by_hand: Path
) -> None:
    model = Scripted([f"answer {n}" for n in range(9)])
    mew = Mew(project, home, model=model)
    list(mew.ask("hello"))
    write(home / "memory/later.md", f"---\nname: later\ndescription: d {OTHER}\ntype: user\n---\nBody.")
    by_hand.unlink()
    list(mew.ask("hello again"))
    mew.close()
    first, second = (orjson.dumps([r.messages, r.system]).decode() for r in model.requests[:2])
    assert MASK in first
    assert f"d {MASK}" in second.replace(first, "")
    for value in (KEY, OTHER):
        assert value not in first + second


def test_forced_text_stands_in_the_body_alone(mew: Mew, home: Path, project: Path) -> None:
    text = f"The deploy key is {KEY}."
    with pytest.raises(CredentialRefused):
        mew.remember(text)
    saved = mew.remember(text, force=True)
    assert saved.memory.body == text
    assert KEY.lower() not in str(saved.path).lower()
    index = (saved.path.parent / "MEMORY.md").read_text("utf-8")
    assert KEY not in index
    assert MASK in saved.memory.description


def test_credential_that_was_written_by_hand_is_masked_when_recalled(
    store: MemoryStore, by_hand: Path
) -> None:
    options = {"settings": MewCode(), "now": datetime.now(UTC)}
    recalled = Recalling("first", store, surfaced=[], **options).result()
    assert MASK in recalled.text
    assert KEY not in recalled.text
    assert Recalling("first", store, surfaced=recalled.surfaced, **options).result().memories == []
