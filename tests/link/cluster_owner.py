"""An owner in a process of its own: a run on the hub that iterates whenever it may, and notes when it did."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import TextIO

from interlock.config.schema import Hub
from interlock.control import LogEntry, StackFrame, new_state
from interlock.core import RunSpec
from interlock.journal import Journal, RunFolder, Store
from interlock.link import Endpoint, JournalLog
from interlock.link.hub_endpoint import HubLink

from .owned import TestActuator


def main(root: str, run_id: str, url: str) -> None:
    store = Store(Path(root))
    try:
        folder = store.create(RunSpec(run_id=run_id))
    except Exception:
        folder = RunFolder(Path(root) / run_id)
    journal = Journal.open(folder)
    frame = StackFrame(id=run_id, mode="loop", iter=1, max=None, model="claude-haiku-4-5")
    endpoint = Endpoint(new_state(run_id, stack=(frame,)), JournalLog(journal), TestActuator(folder))
    notes = (Path(root) / f"{run_id}.ticks").open("a", buffering=1)
    endpoint.follow(lambda _, entry: _note_result(notes, entry))
    endpoint.start()
    notes.write(f"{'open' if endpoint.state.status == 'running' else 'shut'} {time.monotonic()}\n")
    threading.Thread(target=_iterate, args=(endpoint, notes), daemon=True).start()
    HubLink(Hub(url=url, unsigned=True), endpoint, journal).start()
    threading.Event().wait()


def _note_result(notes: TextIO, entry: LogEntry) -> None:
    """A RESULT is durable: from here on the run stands still, or may go on. The wall clock may jump, this one not."""
    if entry.kind == "result" and b'"status":"success"' in entry.body:
        word = "shut" if b'"command":"pause"' in entry.body else "open"
        notes.write(f"{word} {time.monotonic()}\n")


def _iterate(endpoint: Endpoint, notes: TextIO) -> None:
    """Note the moments before and after an iteration was allowed to start."""
    while True:
        before = time.monotonic()
        if endpoint.enter("tick"):
            notes.write(f"tick {before} {time.monotonic()}\n")
            endpoint.leave("tick")
        time.sleep(0.005)


if __name__ == "__main__":
    main(*sys.argv[1:])
