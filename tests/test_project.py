"""Which folder is the project."""

from pathlib import Path

import pytest
from instruction_files import give_away

from mewcode_magic.errors import SettingError
from mewcode_magic.project import find_project_root, project_folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder with two folders below it, `top/middle/below`."""
    (tmp_path / "top" / "middle" / "below").mkdir(parents=True)
    return tmp_path / "top"


def found(folder: Path) -> Path:
    """Return the project of the lowest folder."""
    return find_project_root(folder / "middle" / "below", folder.parent / "home")


@pytest.mark.parametrize("sign", [".mewcode", ".git"])
def test_nearest_ancestor_with_a_sign_is_the_project(top: Path, sign: str) -> None:
    (top / sign).mkdir()
    assert found(top) == top
    (top / "middle" / sign).mkdir()
    assert found(top) == top / "middle"


def test_git_file_of_a_worktree_is_a_sign(top: Path) -> None:
    (top / ".git").write_text("gitdir: elsewhere", encoding="utf-8")
    assert found(top) == top


def test_instruction_file_makes_a_project_only_where_there_is_no_other_sign(top: Path) -> None:
    (top / "middle" / "MEWCODE.md").write_text("Be brief.", encoding="utf-8")
    assert found(top) == top / "middle"
    (top / ".git").mkdir()
    assert found(top) == top


def test_folder_without_any_sign_is_its_own_project(top: Path) -> None:
    assert found(top) == top / "middle" / "below"


def test_home_is_no_project_because_of_its_own_folder(top: Path) -> None:
    (top / ".mewcode").mkdir()
    (top / ".mewcode" / "MEWCODE.md").touch()
    below = top / "middle" / "below"
    assert find_project_root(below, top / ".mewcode") == below
    assert find_project_root(top / ".mewcode", top / ".mewcode") == top / ".mewcode"
    (top / "alias").symlink_to(top / ".mewcode")
    assert find_project_root(below, top / "alias") == below


def test_home_that_is_a_repository_is_a_project(top: Path) -> None:
    (top / ".mewcode").mkdir()
    (top / ".git").mkdir()
    assert find_project_root(top / "middle", top / ".mewcode") == top


@pytest.mark.parametrize("sign", [".mewcode", ".git", "MEWCODE.md"])
def test_sign_of_another_user_counts_unless_the_folder_is_everybodys(
    top: Path, monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    if sign == "MEWCODE.md":
        (top / sign).touch()
    else:
        (top / sign).mkdir()
    give_away(top / sign, monkeypatch)
    top.chmod(0o777)
    assert found(top) == top
    top.chmod(0o1777)
    assert found(top) == top / "middle" / "below"


def test_given_folder_wins_over_the_working_directory(project: Path, top: Path, home: Path) -> None:
    assert project_folder("", home) == project
    assert project_folder(top, home) == top
    assert project_folder("../top/middle", home) == top / "middle"
    assert project_folder(top / "later", home) == top / "later"


@pytest.mark.parametrize("given", ["file", "~no-such-user/project"])
def test_folder_that_cannot_be_one_is_one_clear_error(project: Path, home: Path, given: str) -> None:
    (project / "file").touch()
    with pytest.raises(SettingError, match=given):
        project_folder(given, home)


def test_working_directory_that_was_removed_is_one_clear_error(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SettingError, match="working directory was removed"):
        project_folder("", home)
    assert project_folder(project, home) == project
