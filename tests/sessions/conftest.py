"""A store in an empty project."""

from pathlib import Path

import pytest

from mewcode_magic.sessions import SessionStore


@pytest.fixture
def store(project: Path) -> SessionStore:
    """The sessions of an empty project, which is the working directory too."""
    return SessionStore(project)
