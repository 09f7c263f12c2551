"""`Remember` saves, updates and deletes by the same rules as the user's own magics."""

from pathlib import Path
from typing import Any

import pytest

from mewcode_magic.errors import InvalidMemory, MemoryAmbiguous, MemoryNotFound
from mewcode_magic.tools import Remember, ToolContext, ToolResult


def remember(context: ToolContext, **arguments: Any) -> ToolResult:
    run = Remember().run(Remember.Arguments(**arguments), context)
    with pytest.raises(StopIteration) as end:
        next(run)
    result = end.value.value
    assert isinstance(result, ToolResult)
    return result


def test_save_writes_the_memory_and_answers_with_its_path(context: ToolContext, home: Path) -> None:
    result = remember(
        context, action="save", type="user", name="likes tea", description="when offering drinks", body="Tea."
    )
    assert not result.is_error
    assert "likes-tea.md" in result.text
    memory = context.memory.get("likes tea")
    assert memory is not None
    assert (memory.type, memory.body, memory.source) == ("user", "Tea.", context.session_id)
    assert (home / "memory" / "likes-tea.md").is_file()


def test_save_derives_what_is_left_out(context: ToolContext) -> None:
    remember(context, action="save", body="I prefer polars over pandas.")
    (memory,) = context.memory.list()
    assert memory.type == "user"
    assert memory.name
    assert memory.description


def test_save_with_a_slug_updates_that_memory_and_keeps_the_rest(context: ToolContext) -> None:
    remember(context, action="save", type="project", name="ci", description="when CI is asked of", body="old")
    remember(context, action="save", slug="ci", body="new body of it")
    (memory,) = context.memory.list()
    assert (memory.name, memory.type, memory.description) == ("ci", "project", "when CI is asked of")
    assert memory.body == "new body of it"


def test_save_with_a_slug_changes_the_type_where_one_is_given_and_keeps_the_expiry(
    context: ToolContext, home: Path
) -> None:
    remember(
        context, action="save", type="project", name="ci", description="d", body="old", expires="2099-01-31"
    )
    remember(context, action="save", slug="ci", type="feedback", body="new")
    (memory,) = context.memory.list()
    assert (memory.type, memory.place, memory.body) == ("feedback", "user", "new")
    assert memory.expires is not None
    assert (home / "memory" / "ci.md").is_file()


def test_delete_takes_the_type_of_a_name_in_both_places(context: ToolContext) -> None:
    for type_ in ("project", "user"):
        remember(context, action="save", type=type_, name=f"ci {type_}", description="d", body=f"b {type_}")
    home_file = context.memory.folder("user") / "ci-user.md"
    project_file = context.memory.folder("project") / "ci-project.md"
    for file, type_ in ((home_file, "user"), (project_file, "project")):
        file.write_text(f"---\nname: ci\ndescription: d\ntype: {type_}\n---\nof {type_}", encoding="utf-8")
    with pytest.raises(MemoryAmbiguous):
        remember(context, action="delete", name="ci")
    remember(context, action="delete", name="ci", type="user")
    assert [m.type for m in context.memory.list()] == ["project"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"action": "save"}, InvalidMemory),
        ({"action": "save", "body": "x", "type": "secret"}, InvalidMemory),
        ({"action": "save", "body": "x", "expires": "soon"}, InvalidMemory),
        ({"action": "save", "body": "x", "slug": "none-such"}, MemoryNotFound),
        ({"action": "save", "body": "x", "slug": "../evil"}, MemoryNotFound),
        ({"action": "delete"}, InvalidMemory),
        ({"action": "delete", "name": "none such"}, MemoryNotFound),
    ],
)
def test_bad_arguments_raise_what_becomes_an_error_result(
    context: ToolContext, arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        remember(context, **arguments)
    assert context.memory.list() == []


def test_delete_can_be_undone(context: ToolContext) -> None:
    remember(context, action="save", type="project", name="ci", description="d", body="b")
    assert "ci" in remember(context, action="delete", name="ci").text
    assert context.memory.list() == []
    context.memory.restore("ci")
    assert [m.name for m in context.memory.list()] == ["ci"]
