"""A run's folder and its SQLite file; reading and following it."""

from .chain import Head
from .database import UnreadableJournal
from .durable_files import locked, write_durably, write_whole
from .entry import LOST, JournalEntry
from .folder import RunFolder
from .ids import new_run_id
from .interface import JournalProblem, JournalReading, JournalWriting
from .lock import OwnerInfo, RunLock
from .presence import is_viewed, mark_viewed
from .prune import Pruned
from .reader import JournalReader
from .signing import OwnerKey, is_signed, owner_key
from .store import Store, default_root
from .summary import RunSummary
from .writer import Journal

__all__ = [
    "LOST", "Head", "Journal", "JournalEntry", "JournalProblem", "JournalReader", "JournalReading", "JournalWriting",
    "OwnerInfo", "OwnerKey", "Pruned", "RunFolder", "RunLock", "RunSummary", "Store", "UnreadableJournal",
    "default_root", "is_signed", "is_viewed", "locked", "mark_viewed", "new_run_id", "owner_key", "write_durably",
    "write_whole",
]  # fmt: skip
