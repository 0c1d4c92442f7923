"""The agent is held still while a checkpoint is taken or put back, and goes on whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import pytest

from interlock.config.schema import Checkpoints as Settings
from interlock.core import InvalidState

from .conftest import Open

AGENT = """
import itertools, pathlib, sys
path = pathlib.Path(sys.argv[1])
print("ready", flush=True)
for number in itertools.count():
    (path / "a").write_text(str(number))
    (path / "b").write_text(str(number))
"""


@pytest.fixture
def agent(workspace: Path) -> Iterator[psutil.Process]:
    """A process that changes the workspace without pause."""
    process = subprocess.Popen([sys.executable, "-c", AGENT, workspace], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield psutil.Process(process.pid)
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.wait()


def frozen(agent: psutil.Process) -> Callable[[], AbstractContextManager[None]]:
    @contextmanager
    def freeze() -> Iterator[None]:
        os.kill(agent.pid, signal.SIGSTOP)
        while agent.status() != psutil.STATUS_STOPPED:
            os.sched_yield()
        try:
            yield
        finally:
            os.kill(agent.pid, signal.SIGCONT)

    return freeze


def test_a_busy_agent_is_saved_and_put_back_exactly(
    open_checkpoints: Open, workspace: Path, agent: psutil.Process
) -> None:
    checkpoints = open_checkpoints(freeze=frozen(agent))
    saved = checkpoints.create()
    assert saved.not_covered == ()
    for _ in range(10):
        done = checkpoints.restore(saved.id)
        assert done.verified, done.wrong
        assert done.left_alone == ()


def test_the_agent_goes_on_after_a_failure(open_checkpoints: Open, workspace: Path, agent: psutil.Process) -> None:
    checkpoints = open_checkpoints(Settings(budget_files=1), freeze=frozen(agent))
    for name in ("one", "two"):
        (workspace / name).touch()
    with pytest.raises(InvalidState, match="over budget"):
        checkpoints.create()
    while agent.status() == psutil.STATUS_STOPPED:
        os.sched_yield()
    assert agent.is_running()
