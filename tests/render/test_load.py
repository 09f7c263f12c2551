import subprocess
import sys


def test_importing_loads_nothing_slow() -> None:
    code = "import sys, mewcode_magic.render; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "mewcode_magic.render.turn" in loaded
    assert {"markdown_it", "IPython", "ipywidgets", "anthropic", "numpy", "nbformat"}.isdisjoint(loaded)
