"""What keeps the output is there only while there is something to keep, and loses nothing by that."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from interlock.output import GAP, STDOUT, OutputReader
from interlock.output.output_buffer import OutputBuffer
from interlock.output.storing_process import StoringProcess, StoringProcessDied

OUT = (STDOUT, None)


def kept(folder: Path) -> bytes:
    return b"".join(piece.data for piece in OutputReader(folder).read() if piece.stream != GAP)


def begun(folder: Path) -> StoringProcess:
    process = StoringProcess(str(folder), 100_000)
    assert process.start()
    return process


def test_everything_is_kept_when_it_is_flushed_and_the_rest_at_the_end(tmp_path: Path) -> None:
    buffer = OutputBuffer(str(tmp_path / "output"), 1_000_000)
    for n in range(1000):
        buffer.put(OUT, b"line %d\n" % n)
    buffer.flush()
    whole = b"".join(b"line %d\n" % n for n in range(1000))
    assert kept(tmp_path / "output") == whole
    buffer.put(OUT, b"no end")
    buffer.close()
    assert kept(tmp_path / "output") == whole + b"no end"


def test_one_that_rests_has_no_process_and_its_successor_knows_the_lines_before(tmp_path: Path) -> None:
    lines = [
        b"export \\\n",
        b"DB_PASSWORD=\\\n",
        b"hunter2isverylong9\n",
        b"Authorization:\n",
        b"Bearer abcdefgh1234\n",
    ]
    for name, rests in (("whole", False), ("rested", True)):
        process = begun(tmp_path / name)
        for line in lines:
            assert process.start()
            assert process.store([(1.0, OUT, line)], 0)
            if rests:
                (child,) = children()
                process.rest()
                assert child not in children()
        process.finish()
    assert kept(tmp_path / "rested") == kept(tmp_path / "whole")
    assert b"hunter2" not in kept(tmp_path / "rested")


@pytest.mark.parametrize("text", [b"half of a line", b"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9\n"])
def test_it_does_not_rest_while_something_is_not_whole(tmp_path: Path, text: bytes) -> None:
    process = begun(tmp_path / "output")
    process.store([(1.0, OUT, text)], 0)
    before = children()
    process.rest()
    assert (process.rests, children()) == (0, before)
    process.finish()
    assert kept(tmp_path / "output")


def test_what_a_killed_one_was_given_is_a_gap_and_the_next_goes_on(tmp_path: Path) -> None:
    process = begun(tmp_path / "output")
    process.store([(1.0, OUT, b"one\n")], 0)
    (child,) = children()
    os.kill(child, signal.SIGKILL)
    with pytest.raises(StoringProcessDied):
        process.store([(2.0, OUT, b"two\n")], 0)
    assert process.start()
    process.store([(3.0, OUT, b"three\n")], 4)
    process.finish()
    pieces = [(piece.stream, piece.data) for piece in OutputReader(tmp_path / "output").read()]
    assert pieces == [(STDOUT, b"one\n"), (GAP, b"4"), (STDOUT, b"three\n")]


def test_where_nothing_can_be_kept_whoever_prints_does_not_wait(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("not a folder")
    buffer = OutputBuffer(str(tmp_path / "output"), 100_000)
    for _ in range(20):
        buffer.put(OUT, bytes(1_000_000))
    buffer.flush()
    buffer.close()


def children() -> set[int]:
    """Ours that keep; other tests may have left some that do something else."""
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {int(pid) for pid in pids if b"output.store_output" in Path(f"/proc/{pid}/cmdline").read_bytes()}
