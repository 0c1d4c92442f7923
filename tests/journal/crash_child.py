"""Appends numbered batches for ever, and tells every durable one over stdout. Meant to be killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from interlock.journal import Journal, JournalEntry, RunFolder, RunSummary, committer

committer.LARGE_WAL_PAGES = 6  # so that kills fall into checkpoints too


def write(folder: RunFolder, batches: int | None) -> None:
    with Journal.open(folder) as journal:
        with journal.reader() as reader:
            last = reader.last()
        batch = msgspec.json.decode(last.body)["batch"] if last else 0
        while batches is None or batches > 0:
            batch += 1
            parts = 1 + batch % 4
            entries = [
                JournalEntry("part", {"batch": batch, "part": part, "parts": parts, "fill": "x" * (batch * 37 % 3000)})
                for part in range(parts)
            ]
            durable = batch % 3 == 0
            seq = journal.append(entries, durable=durable, summary=RunSummary(run_id=folder.run_id, steps=batch))
            if durable:
                os.write(1, f"{seq} {batch}\n".encode())
            if batches is not None:
                batches -= 1


if __name__ == "__main__":
    mode, place = sys.argv[1:]
    os.write(1, b"0 0\n")
    while True:
        write(RunFolder(Path(place)), None if mode == "write" else 5)
