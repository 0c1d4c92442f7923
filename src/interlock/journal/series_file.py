"""The series of a long run, summed up to some record, in a file alongside its journal: no reader starts at the first.

It holds nothing that the journal does not say. It counts only if it is whole and the journal has, at that record, the
very chain that it was made from; else everything is summed again.
"""

from __future__ import annotations

from collections import Counter

import msgspec
from msgspec import Struct

from ..core import InterlockError, msgpack_decoder, read_small
from .chain import digest
from .durable_files import write_whole
from .folder import RunFolder
from .reader import JournalReader
from .series import SeriesTally

VERSION = 1
"""To be raised whenever something is counted differently: what was summed before is summed again then."""

MOST_BYTES = 4_000_000


class _File(Struct, array_like=True):
    version: int
    run_id: str
    chain: bytes
    tally: SeriesTally


def _counter(_wanted: type, value: dict[str, int]) -> Counter[str]:
    return Counter(value)


_DECODER = msgpack_decoder(_File, _counter)


def load_series(folder: RunFolder, reader: JournalReader) -> SeriesTally:
    """What is summed already; nothing where there is a doubt."""
    try:
        stored = read_small(folder.series, MOST_BYTES)
        if digest(stored[16:]) != stored[:16]:
            return SeriesTally()
        read = _DECODER.decode(stored[16:])
    except (OSError, InterlockError, msgspec.MsgspecError):
        return SeriesTally()
    fits = read.version == VERSION and read.run_id == reader.run_id and read.chain == reader.link(read.tally.seq)
    return read.tally if fits else SeriesTally()


def store_series(folder: RunFolder, reader: JournalReader, tally: SeriesTally) -> None:
    """Keep what is summed; without a chain there would be no telling whether it fits."""
    chain = reader.link(tally.seq)
    if chain is not None:
        data = msgspec.msgpack.encode(_File(VERSION, reader.run_id, chain, tally))
        write_whole(folder.series, digest(data) + data)
