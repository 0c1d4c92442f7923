"""The end of a run, as recorded or else from its records."""

from __future__ import annotations

from ..core import InterlockError
from ..journal import JournalReader, RunFolder
from ..journal_records import EndRecord
from ..runtime import read_end


def read_ending(folder: RunFolder) -> EndRecord:
    """How a run ended and what did not happen in it; nothing if its journal cannot be read."""
    try:
        with JournalReader.open(folder) as reader:
            return read_end(reader)
    except InterlockError:
        return EndRecord("running", "")
