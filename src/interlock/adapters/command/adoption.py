"""Adoption: a new front for a parked run whose front is gone, after a kill, a log-out or a reboot.

python -m interlock.adapters.command.adoption FOLDER: takes over the run unless it has a front, resumes it and stays
until it ends. `interlock serve` starts this process for each parked run without a front.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from msgspec.structs import replace

from ...core import InterlockError
from ...journal import RunFolder, parked_runs
from ..proxy.environment import stand_ins
from .launch import Launch, has_front, hold_front, read_launch

OWNER_S = 60.0
"""How long a run's owner may take to release it."""


def adopt(folder: RunFolder) -> None:
    """Start a separate process that takes over the run."""
    subprocess.Popen(
        [sys.executable or "python3", "-P", "-m", "interlock.adapters.command.adoption", str(folder.path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def adopt_orphans(store: Path) -> int:
    """Adopt every parked run of a store that has neither owner nor front; returns how many."""
    return sum(adopt_orphan(folder) for folder in parked_runs(store))


def adopt_orphan(folder: RunFolder) -> bool:
    """Adopt a parked run if it has neither owner nor front; returns whether it did."""
    orphaned = folder.owner() is None and not has_front(folder)
    if orphaned:
        adopt(folder)
    return orphaned


def main() -> None:
    """Take over one run."""
    folder = RunFolder(Path(sys.argv[1]))
    lock = hold_front(folder)
    stored = read_launch(folder) if lock is not None else None
    if stored is None:
        return
    deadline = time.monotonic() + OWNER_S
    while folder.owner() is not None:
        if time.monotonic() > deadline:
            return
        time.sleep(0.1)
    os.environ.update(stored.environment)
    with contextlib.suppress(OSError):
        os.chdir(stored.spec.cwd or "/")
    from ..hooks.recognition import recognise
    from .front import continue_run

    proxied = stored.proxied
    if proxied is not None and stored.has_keys:
        proxied = replace(proxied, keys=stand_ins(os.environ, proxied.upstreams))
    launch = Launch(
        **{**stored.shared(), "proxied": proxied}, store=folder.path.parent, wiring=recognise(stored.spec.argv)
    )
    missing = tuple(name for name in stored.lacks if name not in os.environ)
    with contextlib.suppress(InterlockError):
        continue_run(launch, stored, missing)


if __name__ == "__main__":
    main()
