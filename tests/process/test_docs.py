"""The examples in the documentation run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "process-control.md"
EXAMPLES = [part.split("```")[0] for part in PAGE.read_text(encoding="utf-8").split("```python\n")[1:]]


@pytest.mark.parametrize("example", EXAMPLES, ids=["freeze", "limit", "attach"])
def test_the_example_runs(example: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::ResourceWarning", "-c", example],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    if "words" in example:
        assert done.stdout
