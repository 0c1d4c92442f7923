"""Writes a journal and a gate file while system calls fail, and says what was promised."""

from __future__ import annotations

import sys
from pathlib import Path

from interlock.control import Desired
from interlock.core import InterlockError
from interlock.journal import Journal, JournalEntry, RunFolder
from interlock.link.gate_file import FileGate


def main(path: Path) -> None:
    folder = RunFolder(path)
    try:
        journal = Journal.open(folder)
    except InterlockError:
        return
    with journal:
        for number in range(12):
            journal.append([JournalEntry("step", {"n": number, "x": "y" * 3000})])
            try:
                journal.append([JournalEntry("result", {"n": number})], durable=True)
            except InterlockError:
                continue
            sys.stdout.write(f"durable {number}\n")
            sys.stdout.flush()
    gate = FileGate(folder.gate)
    for revision in range(1, 4):
        try:
            gate.set_desired(Desired(status="paused", revision=revision, shut=True))
        except OSError:
            continue
        sys.stdout.write(f"gate {revision}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
