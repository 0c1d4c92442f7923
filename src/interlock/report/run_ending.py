"""The recorded end of a run; for one that has not ended, or that an older version recorded, from its records."""

from __future__ import annotations

from ..core import InterlockError
from ..journal import JournalReader, RunFolder
from ..journal_records import EndRecord, read_body
from ..runtime import LEDGER_KINDS, RunLedger

NO_END = EndRecord("running", "")


def read_ending(folder: RunFolder) -> EndRecord:
    """How a run ended and what did not happen in it; so far, if it has not ended."""
    try:
        with JournalReader.open(folder) as reader:
            record = reader.last("end")
            end = read_body(record) if record is not None else None
            if isinstance(end, EndRecord) and end.ending is not None:
                return end
            ledger = RunLedger()
            for each in reader.read(kinds=LEDGER_KINDS):
                if (body := read_body(each)) is not None:
                    ledger.note(body)
    except InterlockError:
        return NO_END
    if not isinstance(end, EndRecord):
        return EndRecord("running", "", not_done=ledger.not_done())
    return EndRecord(end.status, end.reason, end.message, ledger.ending(end.reason), ledger.not_done())
