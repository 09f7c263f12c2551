from pathlib import Path
from typing import Any

import pytest
from credential_samples import UPPER, made

from mewcode_magic.errors import CredentialRefused
from mewcode_magic.memory import MemoryStore

KEY = "AKIA" + made(UPPER, 16)


@pytest.fixture
def store(project: Path, home: Path) -> MemoryStore:
    return MemoryStore(project, home)


@pytest.mark.parametrize(
    "cell",
    [
        f"%remember the deploy key is {KEY}",
        f"%remember the token for db is password={KEY}",
        f"%%remember\nDeploying:\n- key {KEY}",
        f"%remember --name {KEY} how to deploy",
        f"%remember --description 'key {KEY}' how to deploy",
    ],
)
def test_remember_refuses_a_credential_in_one_line_without_its_value(
    run: Any, store: MemoryStore, cell: str
) -> None:
    ran = run(cell)
    assert isinstance(ran.error, CredentialRefused)
    assert "AWS access key" in ran.text
    assert "%remember --force" in ran.text
    assert KEY.lower() not in ran.text.lower()
    assert len(ran.text.strip().splitlines()) == 1
    assert store.list() == []


def test_remember_force_saves_it_and_says_that_it_is_masked(run: Any, store: MemoryStore) -> None:
    ran = run(f"%remember --force the deploy key is {KEY}")
    assert ran.error is None
    assert "masked when it is sent: AWS access key in the body, line 1" in ran.text
    assert KEY not in ran.text
    (memory,) = store.list()
    assert memory.body == f"the deploy key is {KEY}"
    assert KEY in run(f"%memory show {memory.slug}").text


def test_remember_without_force_updates_what_was_forced_but_for_new_credentials(
    run: Any, store: MemoryStore
) -> None:
    run(f"%remember --name deploy --force the deploy key is {KEY}")
    assert run(f"%remember --name deploy since May the deploy key is {KEY}").error is None
    assert isinstance(
        run("%remember --name deploy the password is " + made(UPPER, 9)).error, CredentialRefused
    )
    memory = store.get("deploy")
    assert memory is not None
    assert memory.body == f"since May the deploy key is {KEY}"


def test_memory_check_lists_a_file_with_a_credential(run: Any, home: Path) -> None:
    path = home / "memory" / "deploy.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: deploy\ndescription: how to\ntype: user\n---\nThe key is {KEY}.")
    text = run("%memory check").text
    assert f"{path} (credential)" in text
    assert "AWS access key in the body, line 1" in text
    assert KEY not in text
