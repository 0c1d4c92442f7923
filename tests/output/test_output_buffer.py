"""What keeps the output loses nothing of it, and never stops the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.output import GAP, STDOUT, OutputReader
from interlock.output.output_buffer import OutputBuffer
from interlock.output.stored_streams import StoredStreams

OUT = (STDOUT, None)


def kept(folder: Path) -> bytes:
    return b"".join(piece.data for piece in OutputReader(folder).read() if piece.stream != GAP)


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


def test_the_lines_before_name_the_secret_that_follows_them(tmp_path: Path) -> None:
    streams = StoredStreams(str(tmp_path / "output"), 100_000)
    for line in (b"export \\\n", b"DB_PASSWORD=\\\n", b"hunter2isverylong9\n"):
        streams.store([(1.0, OUT, line)], 0)
    streams.finish()
    assert b"DB_PASSWORD" in kept(tmp_path / "output")
    assert b"hunter2" not in kept(tmp_path / "output")


def test_dropped_bytes_are_a_gap(tmp_path: Path) -> None:
    streams = StoredStreams(str(tmp_path / "output"), 100_000)
    streams.store([(1.0, OUT, b"one\n")], 0)
    streams.store([(3.0, OUT, b"three\n")], 4)
    streams.finish()
    pieces = [(piece.stream, piece.data) for piece in OutputReader(tmp_path / "output").read()]
    assert pieces == [(STDOUT, b"one\n"), (GAP, b"4"), (STDOUT, b"three\n")]


def test_where_nothing_can_be_kept_whoever_prints_does_not_wait(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("not a folder")
    buffer = OutputBuffer(str(tmp_path / "output"), 100_000)
    for _ in range(20):
        buffer.put(OUT, bytes(1_000_000))
    buffer.flush()
    buffer.close()


def test_a_defect_in_what_reads_the_output_does_not_stop_whoever_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(StoredStreams, "store", fail)
    buffer = OutputBuffer(str(tmp_path / "output"), 100_000)
    for _ in range(20):
        buffer.put(OUT, bytes(1_000_000))
    buffer.flush()
    buffer.close()
