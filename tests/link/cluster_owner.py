"""An owner in a process of its own: a run on the hub that iterates whenever it may, and notes when it did."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from interlock.config.model import Hub
from interlock.control import Frame, new_state
from interlock.core import RunSpec
from interlock.journal import Journal, RunFolder, Store
from interlock.link import Endpoint, JournalLog
from interlock.link.hub_link import HubLink

from .owned import TestActuator


def main(root: str, run_id: str, url: str) -> None:
    store = Store(Path(root))
    try:
        folder = store.create(RunSpec(run_id=run_id))
    except Exception:
        folder = RunFolder(Path(root) / run_id)
    journal = Journal.open(folder)
    frame = Frame(id=run_id, mode="loop", iter=1, max=None, model="claude-haiku-4-5")
    endpoint = Endpoint(new_state(run_id, stack=(frame,)), JournalLog(journal), TestActuator(folder))
    endpoint.start()
    threading.Thread(target=_iterate, args=(endpoint, Path(root) / f"{run_id}.ticks"), daemon=True).start()
    HubLink(Hub(url=url, unsigned=True), endpoint, journal).start()
    threading.Event().wait()


def _iterate(endpoint: Endpoint, file: Path) -> None:
    """Note the moments before and after an iteration was allowed to start."""
    with file.open("a", buffering=1) as ticks:
        while True:
            before = time.time()
            if endpoint.enter("tick"):
                ticks.write(f"{before} {time.time()}\n")
                endpoint.leave("tick")
            time.sleep(0.005)


if __name__ == "__main__":
    main(*sys.argv[1:])
