"""Runs with io_errors.c preloaded: each system call of a scenario fails in its turn, and what was promised is checked.

Usage: python -m tests.journal.io_runner SCENARIO ERRNO STICKY FIRST STEP, with FAIL_UNDER as the folder to work in.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from interlock.checkpoint import Checkpoints
from interlock.config.schema import Checkpoints as Settings
from interlock.control import Desired
from interlock.core import InterlockError, ManualClock, RunSpec
from interlock.journal import Journal, JournalEntry, JournalReader, RunFolder, Store
from interlock.journal.verify import verify_journal
from interlock.link.gate_file import FileGate, read_gate

from ..checkpoint.picture import Seen, picture

Promise = Callable[[str], None]
PLACE = Path(os.environ["FAIL_UNDER"])
RECORDS, REVISIONS = 8, 3

faults = ctypes.CDLL(None)


class JournalAndGate:
    """A run that records, and is paused."""

    folder = RunFolder(PLACE / "runs" / "r")

    def prepare(self) -> None:
        Store(PLACE / "runs").create(RunSpec(run_id="r"))

    def act(self, promise: Promise) -> None:
        with Journal.open(self.folder) as journal:
            for number in range(RECORDS):
                journal.append([JournalEntry("step", {"n": number, "x": "y" * 3000})])
                try:
                    journal.append([JournalEntry("result", {"n": number})], durable=True)
                except InterlockError:
                    continue
                promise(f"durable {number}")
        gate = FileGate(self.folder.gate)
        for revision in range(1, REVISIONS + 1):
            try:
                gate.set_desired(Desired(status="paused", revision=revision, shut=True))
            except OSError:
                continue
            promise(f"gate {revision}")

    def check(self, promised: list[str]) -> None:
        with JournalReader.open(self.folder) as reader:
            kept = {f"durable {msgspec.json.decode(record.body)['n']}" for record in reader.read(kinds={"result"})}
        lost = {words for words in promised if words.startswith("durable")} - kept
        assert not lost, f"promised and gone: {lost}"
        found = verify_journal(self.folder)
        # Where its key could not be read, it says that it is not signed.
        assert found.verdict in ("intact", "not signed"), found.words
        gates = [int(words.split()[1]) for words in promised if words.startswith("gate")]
        gate = read_gate(self.folder.gate) if gates else None
        assert not gates or (gate is not None and gate.shut and gate.revision >= gates[-1])


class CheckpointStore:
    """A workspace that changes between a checkpoint, another one and a rollback to the first."""

    work = PLACE / "work"

    def prepare(self) -> None:
        self._write(1)
        with closing(self._open()) as checkpoints:
            checkpoints.create("1")

    def act(self, promise: Promise) -> None:
        with closing(self._open()) as checkpoints:
            self._write(2)
            made = checkpoints.create("2")
            promise("created 2" if not made.not_covered else f"not covered {made.not_covered}")
            self._write(3)
            promise("changed")
            done = checkpoints.restore("1")
            promise("restored" if done.verified and not done.not_covered else f"not all of it: {done}")

    def check(self, promised: list[str]) -> None:
        if "restored" in promised:
            assert self._seen() == self._expected(1), "it is not what the checkpoint had"
        with closing(self._open()) as checkpoints:
            if not any(words.startswith("not all") for words in promised):
                could_be = (1, 3) if "changed" in promised else (1, 2)
                assert self._seen() in [self._expected(number) for number in could_be], "half a rollback"
            assert checkpoints.verify().problems == ()
            for number in (1, 2) if "created 2" in promised else (1,):
                assert checkpoints.restore(str(number)).verified
                assert self._seen() == self._expected(number), f"checkpoint {number} is not what it was"

    def _open(self) -> Checkpoints:
        return Checkpoints.open(self.work, PLACE / "store", config=Settings(), clock=ManualClock())

    def _write(self, number: int, work: Path | None = None) -> None:
        faults.io_disarm()
        work = work or self.work
        shutil.rmtree(work / "odd", ignore_errors=True)
        (work / "src").mkdir(parents=True, exist_ok=True)
        for name in ("a", "b", "c"):
            (work / "src" / name).write_text(f"{name} {number}\n" * 200)
        (work / "large").write_bytes(bytes([number]) * 300_000)
        (work / "large").chmod(0o600 + number)
        if number % 2:
            (work / "odd").mkdir()
            (work / "odd" / "link").symlink_to(f"../src/{number}")
        faults.io_rearm()

    def _seen(self) -> dict[bytes, Seen]:
        return picture(self.work, times=False)

    def _expected(self, number: int) -> dict[bytes, Seen]:
        place = PLACE / f"expected {number}"
        for version in range(1, number + 1):
            self._write(version, place)
        return picture(place, times=False)


def in_a_fork(act: Callable[[Promise], None]) -> list[str]:
    """What it says until it ends, which has to be well."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            act(lambda words: os.write(write, f"{words}\n".encode()) and None)
            os.write(write, f"calls {faults.io_count()}\n".encode())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(write)
    with open(read) as lines:
        said = lines.read().splitlines()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "it failed"
    return said


def attempt(scenario: JournalAndGate | CheckpointStore, number: int, code: int, sticky: int) -> int:
    """Let one call fail; how many calls there were."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    in_a_fork(lambda _: scenario.prepare())

    def act(promise: Promise) -> None:
        faults.io_arm(number, code, sticky)
        try:
            scenario.act(promise)
        except (InterlockError, OSError) as error:
            promise(f"error {error}")

    *promised, calls = in_a_fork(act)
    assert number or not any(words.startswith("error") for words in promised), promised
    try:
        in_a_fork(lambda _: scenario.check(promised))
    except AssertionError:
        sys.exit(f"call {number} failed with errno {code}{', and all later ones' * sticky}; promised: {promised}")
    return int(calls.split()[1])


def main(name: str, code: str, sticky: str, first: str, step: str) -> None:
    scenario = JournalAndGate() if name == "journal" else CheckpointStore()
    calls = attempt(scenario, 0, 0, 0)
    tried = range(int(first), calls + 1, int(step))
    for number in tried:
        attempt(scenario, number, int(code), int(sticky))
    sys.stdout.write(f"{len(tried)} of {calls} calls\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
