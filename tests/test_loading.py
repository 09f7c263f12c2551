"""What loading costs and leaves behind, in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mewcode_magic.sessions import SessionStore

HEAVY = {"anthropic", "httpx2", "ipywidgets", "numpy", "pandas"}
LATER = {"detect_secrets", "importlib.metadata", "jsonschema", "markdown_it", "nbformat", "sqlite3", "yaml"}

PROGRAM = """
import json, sys, threading
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
before = set(sys.modules)
waited_for = set()  # what the shell's own thread imported, not one behind it
class Finder:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            waited_for.add(name)
sys.meta_path.insert(0, Finder())
for cell in sys.argv[1:]:
    assert shell.run_cell(cell, store_history=True).success
print(json.dumps(sorted(waited_for & (set(sys.modules) - before))))
"""


def run_python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the interpreter; what it prints comes back."""
    command = [sys.executable, "-W", "error::ResourceWarning", *arguments]
    environment = os.environ | {"TERM": "dumb"} | variables
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)


def modules_of(*cells: str, **variables: str) -> set[str]:
    """Return the modules that cells import and wait for."""
    ran = run_python("-c", PROGRAM, *cells, **variables)
    assert ran.returncode == 0, ran.stderr
    modules: Any = json.loads(ran.stdout.splitlines()[-1])
    return set(modules)


def files_in(*folders: Path) -> set[Path]:
    return {path for folder in folders for path in folder.rglob("*")}


@pytest.mark.parametrize("name", ["mewcode", "mewcode_magic"])
def test_loading_imports_nothing_heavy(project: Path, home: Path, name: str) -> None:
    modules = modules_of(f"%load_ext {name}", "1 + 1")
    assert "mewcode_magic" in modules
    assert modules & (HEAVY | LATER) == set()
    assert "mewcode_magic.app" not in modules


def test_loading_with_a_key_imports_nothing_heavy(project: Path, home: Path) -> None:
    modules = modules_of("%load_ext mewcode", ANTHROPIC_API_KEY="sk-ant-secret")
    assert modules & (HEAVY | LATER) == set()


def test_talking_offline_needs_neither_sdk_nor_widgets(project: Path, home: Path) -> None:
    cells = ["%load_ext mewcode", "%agent hello", "%remember I like tea", "%sessions", "%memory", "%mewcode"]
    assert modules_of(*cells) & HEAVY == set()


def test_official_memory_tool_needs_the_sdk_only_when_it_is_called(project: Path, home: Path) -> None:
    cells = ["%load_ext mewcode", "%agent hello", "%context"]
    assert modules_of(*cells, MEWCODE_MEMORY_TOOL="anthropic") & HEAVY == set()
    assert "anthropic" in modules_of(*cells, "%agent remember I like tea", MEWCODE_MEMORY_TOOL="anthropic")


def test_loading_leaves_no_files(project: Path, home: Path, tmp_path: Path) -> None:
    modules_of("1", HOME=str(tmp_path / "user"))
    before = files_in(tmp_path)
    modules_of("%load_ext mewcode", "1 + 1", "%mewcode", "%context", "%sessions", "%memory", "%sessions new")
    assert files_in(tmp_path) == before


def test_leaving_the_interpreter_closes_the_session(project: Path, home: Path) -> None:
    modules_of("%load_ext mewcode", "%agent hello")
    store = SessionStore(project)
    (info,) = store.list()
    assert info.messages == 2
    assert not store.is_open_elsewhere(info.id)


@pytest.mark.parametrize("name", ["mewcode", "mewcode_magic"])
def test_ipython_loads_it_as_it_starts(project: Path, home: Path, name: str) -> None:
    ran = run_python("-m", "IPython", f"--ext={name}", "-c", "%agent what is this?")
    assert ran.returncode == 0
    assert "Offline" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr
    assert [info.title for info in SessionStore(project).list()] == ["what is this?"]


def test_ipython_starts_although_a_variable_is_bad(project: Path, home: Path) -> None:
    ran = run_python("-m", "IPython", "--ext=mewcode", "-c", "print(40 + 2)", MEWCODE_MAX_TOKENS="many")
    assert "42" in ran.stdout
    assert "MEWCODE_MAX_TOKENS is 'many', which does not fit" in ran.stdout + ran.stderr
