"""The process that keeps what a command prints: reads it from its input, as keeping_process.py writes it."""

from __future__ import annotations

import os

from .chunks import Piece
from .keeping_process import READY, REFUSED, UNFINISHED
from .kept_streams import KeptStreams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO


def main(arguments: list[str]) -> None:
    """Keep what comes; the arguments are the folder and the bound."""
    folder, bound = arguments
    with open(0, "rb") as pieces, open(1, "wb", buffering=0) as answers:
        try:
            kept = KeptStreams(folder, int(bound), pieces.read(int(pieces.readline())))
            answers.write(READY)
            while _keep_next(kept, pieces, answers):
                pass
        except OSError:
            answers.write(REFUSED)
    # There is nothing to tidy up.
    os._exit(0)


def _keep_next(kept: KeptStreams, pieces: IO[bytes], answers: IO[bytes]) -> bool:
    count, dropped = map(int, pieces.readline().split() or (UNFINISHED, 0))
    if count > 0:
        kept.keep([_read(pieces) for _ in range(count)], dropped)
        left = kept.left()
        length = UNFINISHED if left is None else len(left)
        answers.write(b"%d %d\n" % (kept.writer.filling_head, length) + (left or b""))
        return True
    if count == 0:
        kept.finish()
        answers.write(READY)
    return False


def _read(pieces: IO[bytes]) -> Piece:
    at, stream, columns, rows, length = pieces.readline().split()
    size = (int(columns), int(rows)) if int(columns) else None
    return float(at), (stream.decode(), size), pieces.read(int(length))
