"""Warms up a process with an empty run, so that its forks, which become owners and fronts, start faster.

The forks inherit what is created on first use: patterns, statements, decoders, tables.
"""

from __future__ import annotations

import contextlib
import gc
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ...config import Config, load
from ...core import Context, RunSpec
from ...journal import new_run_id
from ...link import listen
from ...process import can_fork
from .containment_choice import rehearse_sandbox
from .owner import Owner
from .owner_messages import BeginRun, steps_path

MEMORY = Path("/dev/shm")
"""A folder in memory."""

FOLDERS = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")

THREADS_S = 5.0
"""How long the rehearsal's threads may take to end. A process with several threads should not fork."""


def rehearse_run() -> None:
    """Run an owner without a command; it leaves nothing behind."""
    with contextlib.suppress(OSError), _elsewhere() as folder:
        _own(folder)
    # The threads of the rehearsed run end once it is collected.
    gc.collect()
    until = time.monotonic() + THREADS_S
    while not can_fork() and time.monotonic() < until:
        time.sleep(0.001)


def rehearse_front() -> None:
    """Load a configuration, and build a sandbox without a command."""
    with contextlib.suppress(OSError), _elsewhere():
        rehearse_sandbox(load(None))


def _own(folder: Path) -> None:
    for name in ("runs", "work", "sockets"):
        (folder / name).mkdir(mode=0o700)
    control = folder / "sockets" / "control.sock"
    steps_path(control).parent.mkdir(mode=0o700)
    work = str(folder / "work")
    owner = Owner(
        BeginRun(
            spec=RunSpec(run_id=new_run_id(), argv=("true",), workspace=work, cwd=work, adapter="process"),
            store=str(folder / "runs"),
            config=Config(),
            context=Context(original_prompt="", workspace=work),
            contained=True,
        ),
        listen(control),
        listen(steps_path(control)),
    )
    owner.start()
    owner.settle()
    owner.finish(0)


@contextlib.contextmanager
def _elsewhere() -> Iterator[Path]:
    """Use an empty temporary folder in place of the user's folders."""
    before = {name: os.environ.get(name) for name in FOLDERS}
    with tempfile.TemporaryDirectory(prefix="il-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        os.environ.update(dict.fromkeys(FOLDERS, folder))
        try:
            yield Path(folder)
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value
