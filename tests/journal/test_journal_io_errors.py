"""A system call fails, whichever: what was called durable is there, and nothing that is there is wrong."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CODES = pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
STICKY = pytest.mark.parametrize("sticky", [0, 1], ids=["once", "from then on"])
SCENARIOS = pytest.mark.parametrize("scenario", ["journal", "checkpoints"])


@pytest.fixture
def place() -> Iterator[Path]:
    """In memory where there is such a file system: a real fsync only takes time."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="il-", dir=shared if shared.is_dir() else None) as root:
        yield Path(root)


def fail(scenario: str, place: Path, code: int, sticky: int, first: int, step: int) -> None:
    """Let every so many-th system call of a scenario fail, one in each attempt."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    made = place / "io_errors.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, HERE / "io_errors.c", "-ldl"], check=True)
    env = {**os.environ, "LD_PRELOAD": str(made), "FAIL_UNDER": str(place / "place")}
    given = [scenario, str(code), str(sticky), str(first), str(step)]
    command = [sys.executable, "-m", "tests.journal.io_runner", *given]
    done = subprocess.run(command, env=env, cwd=HERE.parents[1], capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 5


@SCENARIOS
def test_a_call_that_fails_breaks_no_promise(place: Path, scenario: str) -> None:
    fail(scenario, place, errno.EIO, 0, 3, 17)


@pytest.mark.torture
@pytest.mark.timeout(1500)
@CODES
@STICKY
@SCENARIOS
def test_whichever_call_fails_no_promise_is_broken(place: Path, scenario: str, sticky: int, code: int) -> None:
    fail(scenario, place, code, sticky, 1, 1)
