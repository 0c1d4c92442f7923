"""A check whose own program changes during the run proves nothing."""

import importlib.util
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.runtime.check_runner import CheckRunner
from interlock.runtime.check_setup import changed_setup, read_setup

FIXTURE = "import pytest\n\n@pytest.fixture\ndef a():\n    return 1\n"
HOOK = "import os\n\ndef pytest_sessionfinish(session, exitstatus):\n    os._exit(0)\n"


@pytest.mark.parametrize(
    ("command", "file", "text"),
    [
        ("./check.sh", "check.sh", "exit 0"),
        ("LANG=C ./check.sh --all", "check.sh", "exit 0"),
        ("make lint && ./check.sh", "check.sh", "exit 0"),
        ("sh -e check.sh", "check.sh", "exit 0"),
        ("python3 tools/check.py", "tools/check.py", "pass"),
        ("python -m pytest -q", "pytest/__main__.py", "raise SystemExit(0)"),
        ("python -m pytest -q", "pytest.py", "raise SystemExit(0)"),
        ("pytest -q", "conftest.py", HOOK),
        ("pytest -q", "tests/conftest.py", FIXTURE + HOOK),
        ("pytest -q", "conftest.py", "import sys\nsys.exit(0)\n"),
        ("pytest -q", "conftest.py", "from helper import *\n"),
        ("pytest -q", "conftest.py", "pytest_plugins = ['helper']\n"),
        ("pytest -q", "tests/conftest.py", "@pytest.fixture(autouse=True)\ndef a():\n    pytest.skip()\n"),
        ("pytest -q", "tools/conftest.py", HOOK),
        ("python3 -m pytest -q", "pluggy.py", "raise SystemExit(0)"),
        ("python3 -m unittest", "argparse.py", "raise SystemExit(0)"),
    ],
)
def test_what_a_check_runs_counts(tmp_path: Path, command: str, file: str, text: str) -> None:
    for folder in ("tests", "tools", "pytest"):
        (tmp_path / folder).mkdir()
    (tmp_path / "check.sh").write_text("exit 1")
    before = read_setup(str(tmp_path), [command])
    (tmp_path / file).write_text(text)
    changed = changed_setup(before, read_setup(str(tmp_path), [command]))
    assert [name.removeprefix("./") for name in changed] == [file]


@pytest.mark.parametrize(
    ("command", "file", "text"),
    [
        ("pytest -q tests/test_a.py", "tests/test_a.py", "def test_a(): assert 1 + 1 == 2"),
        ("pytest -q", "tests/conftest.py", FIXTURE),
        ("python -m pytest tests", "src/app.py", "x = 1"),
        ("sh -c 'true'", "true", "x"),
    ],
)
def test_code_tests_and_fixtures_may_change(tmp_path: Path, command: str, file: str, text: str) -> None:
    for folder in ("tests", "src"):
        (tmp_path / folder).mkdir()
    before = read_setup(str(tmp_path), [command])
    (tmp_path / file).write_text(text)
    assert changed_setup(before, read_setup(str(tmp_path), [command])) == []


def test_compiled_files_of_the_agent_are_not_run_in_place_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("right = False\n")
    (tmp_path / "fake.py").write_text("right = True\n")
    cached = importlib.util.cache_from_source(str(tmp_path / "a.py"))
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(tmp_path / "fake.py"), cached, invalidation_mode=unchecked)
    command = f"{sys.executable} -c 'import a, sys; sys.exit(not a.right)'"
    assert subprocess.run(command, shell=True, cwd=tmp_path, check=False).returncode == 0
    assert not CheckRunner(str(tmp_path), 60).run((command,))[0].passed
