"""What is imported before a widget is asked for."""

import subprocess
import sys


def test_ipywidgets_is_imported_only_when_a_widget_is_asked_for() -> None:
    code = "import sys, mewcode_magic.widgets; sys.exit('ipywidgets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
