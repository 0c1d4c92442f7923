"""Kept output stays within its bound, exact where it is kept, and can be read while it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.output import GAP, STDOUT, Latest, OutputReader, OutputWriter, Printed


def disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_what_fits_is_read_as_it_was_written(tmp_path: Path) -> None:
    writer = OutputWriter(tmp_path / "output", 100_000)
    for n in range(100):
        writer.add(Printed(float(n), STDOUT, b"line %d \xff\x00\n" % n))
    pieces = list(OutputReader(tmp_path / "output").read())
    assert b"".join(piece.data for piece in pieces) == b"".join(b"line %d \xff\x00\n" % n for n in range(100))
    assert [piece.time for piece in pieces] == [float(n) for n in range(100)]


@pytest.mark.parametrize("size", [1, 37, 4_000, 70_000])
def test_the_bound_holds_at_every_moment_and_both_ends_stay(tmp_path: Path, size: int) -> None:
    bound, folder = 64_000, tmp_path / "output"
    writer = OutputWriter(folder, bound)
    whole = b""
    for n in range(3 if size > bound else 300_000 // max(size, 30)):
        data = (b"%08d " % n * (size // 9 + 1))[: max(size, 9)]
        writer.add(Printed(1.0, STDOUT, data))
        whole += data
        if n % 97 == 0:
            assert disk(folder) <= bound
    assert disk(folder) <= bound
    pieces = list(OutputReader(folder).read())
    at = next((n for n, piece in enumerate(pieces) if piece.stream == GAP), len(pieces))
    head = b"".join(piece.data for piece in pieces[:at])
    tail = b"".join(piece.data for piece in pieces[at + 1 :])
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(tail) > 0


def test_a_reader_follows_a_writer_over_segments(tmp_path: Path) -> None:
    folder = tmp_path / "output"
    writer, reader = OutputWriter(folder, 8_000), OutputReader(folder)
    seen: list[bytes] = []
    for n in range(500):
        writer.add(Printed(1.0, STDOUT, b"%06d\n" % n))
        seen += [piece.data for piece in reader.read()]
    assert seen == [b"%06d\n" % n for n in range(500)]


def test_a_successor_goes_on_after_a_piece_that_was_cut_off(tmp_path: Path) -> None:
    folder = tmp_path / "output"
    writer = OutputWriter(folder, 10_000)
    writer.add(Printed(1.0, STDOUT, b"one\n"))
    with (folder / "head").open("ab") as file:
        file.write(b"2.000 out 400\nhalf of")
    OutputWriter(folder, 10_000).add(Printed(3.0, STDOUT, b"two\n"))
    assert [piece.data for piece in OutputReader(folder).read()] == [b"one\n", b"two\n"]


def test_what_is_not_whole_yet_is_told_apart(tmp_path: Path) -> None:
    writer = OutputWriter(tmp_path / "output", 10_000)
    writer.set_latest(Latest(5.0, "Proceed? [y/N] "))
    assert OutputReader(tmp_path / "output").latest() == Latest(5.0, "Proceed? [y/N] ")
    assert OutputReader(tmp_path / "nothing").latest() == Latest()
    assert (tmp_path / "output").stat().st_mode & 0o077 == 0
