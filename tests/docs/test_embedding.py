"""The example of the page about embedding runs, and what it shows happens."""

import os
import subprocess
import sys
from pathlib import Path

from interlock.core import extensions
from interlock.core.extensions import ExtensionPoint

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "embed" / "framework.py"
PAGE = (ROOT / "docs" / "embedding.md").read_text()


def test_the_framework_runs_calls_in_parallel_and_refuses_the_dangerous_one(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[:2] == ["say hello", "hello"]
    assert any(line.startswith("Refused by Interlock:") for line in said)


def test_the_framework_itself_is_small():
    text = EXAMPLE.read_text()
    framework = text[text.index("CAN =") : text.index("def bash")]
    assert len([line for line in framework.splitlines() if line.strip()]) <= 30


def test_the_page_names_every_extension_point():
    points = [point for point in vars(extensions).values() if isinstance(point, ExtensionPoint)]
    assert len(points) == 4
    for point in points:
        assert f"`{point.group}`" in PAGE
