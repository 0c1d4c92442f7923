"""What docs/frameworks.md shows of each framework stands in its example; the example without a framework runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from interlock.adapters.registry import PYTHON

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "frameworks.md").read_text()
MOST_LINES = 3
SHOWN = re.compile(r"^```py\n(.*?)^```\n\nThe whole program: \[(examples/[\w-]+/agent.py)\]", re.MULTILINE | re.DOTALL)


def test_every_framework_is_shown() -> None:
    assert {example for _, example in SHOWN.findall(PAGE)} == {f"examples/{client.name}/agent.py" for client in PYTHON}


def test_every_framework_is_an_extra_with_a_lock_and_the_lock_of_development_has_none_of_them() -> None:
    names = {client.name for client in PYTHON}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert names <= set(extras)
    assert {lock.stem for lock in (ROOT / "requirements" / "agents").glob("*.lock")} == names
    light = re.search(r"^LIGHT_EXTRAS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert light is not None
    filled = {extra for extra, parts in extras.items() if parts}
    assert set(light[1].split()) == filled - names, "what `make lock` puts into the lock of development"


@pytest.mark.parametrize(("shown", "example"), SHOWN.findall(PAGE), ids=[example for _, example in SHOWN.findall(PAGE)])
def test_what_is_shown_stands_in_the_example_and_is_short(shown: str, example: str) -> None:
    program = (ROOT / example).read_text().splitlines()
    assert len(shown.splitlines()) <= MOST_LINES
    for line in shown.splitlines():
        assert line in program


def test_the_example_without_a_framework_runs(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    (tmp_path / "diary.txt").write_text("dear diary")
    commands = ["echo hi > a.txt; cat a.txt", *["cat missing.txt"] * 3, "rm -rf ~/"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "supervisor" / "agent.py"), *commands],
        cwd=work, env=environment, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "hi\n" in done.stdout
    assert "Refused: " in done.stdout
    assert "Take a different approach" in done.stdout
    assert (tmp_path / "diary.txt").exists()
