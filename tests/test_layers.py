"""The import direction: a module imports only from lower layers, or from its own subfolder."""

import ast
from pathlib import Path

import mewcode_magic

PACKAGE = Path(mewcode_magic.__file__).parent

# From the bottom up. Names in one line do not import one another. `__init__` is what every import runs first;
# its one arrow upwards is `load_ipython_extension`, which IPython calls.
LAYERS = [
    ["__init__", "errors", "messages", "clock", "prompts", "background", "words"],
    ["files", "events"],
    ["config", "project", "credentials", "git", "patterns"],
    ["sessions", "memory", "instructions", "kernel", "reading"],
    ["model", "tools", "context"],
    ["turn", "afterwards", "doctor", "joined"],
    ["conversation"],
    ["briefing", "recorded"],
    ["conversations"],
    ["app"],
    ["render", "widgets"],
    ["magics"],
    ["_mewcode"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def unit(path: Path) -> str:
    """Return the module or subfolder at the package's top that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Return the units that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            names |= {f"{node.module}.{a.name}" for a in node.names}
    parts = [name.split(".") for name in names if name.split(".")[0] == "mewcode_magic"]
    return {p[1] if p[1] in LEVEL else "__init__" for p in parts if len(p) > 1}


def test_imports_point_downwards() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 10
    upward = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in files
        for name in sorted(imported(path))
        if name != unit(path)
        and LEVEL[name] >= LEVEL[unit(path)]
        and (unit(path), name) != ("__init__", "magics")
    ]
    assert upward == []


def test_every_module_has_a_layer() -> None:
    assert {unit(path) for path in PACKAGE.rglob("*.py")} <= LEVEL.keys()
