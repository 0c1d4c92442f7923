"""A new front for a parked run whose front is gone (link/adoption.py starts it).

Its argument is FOLDER: takes over the run unless it has a front, resumes it and stays
until it ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from msgspec.structs import replace

from ...core import InterlockError
from ...journal import RunFolder, hold_front
from ..proxy.environment import stand_ins
from .launch import Launch, read_launch

OWNER_S = 60.0
"""How long a run's owner may take to release it."""


def main() -> None:
    """Take over one run."""
    folder = RunFolder(Path(sys.argv[1]))
    lock = hold_front(folder.path)
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
