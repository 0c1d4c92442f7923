"""A run's folder and its SQLite file; reading and following it."""

from .database import Unreadable
from .durable import write_durably, write_whole
from .entry import LOST, Entry
from .folder import RunFolder
from .ids import new_run_id
from .interface import Reading, Trouble, Writing
from .lock import OwnerInfo, RunLock
from .presence import is_viewed, mark_viewed
from .prune import Pruned
from .reader import JournalReader
from .store import Store, default_root
from .summary import RunSummary
from .writer import Journal

__all__ = [
    "LOST", "Entry", "Journal", "JournalReader", "OwnerInfo", "Pruned", "Reading",
    "RunFolder", "RunLock", "RunSummary", "Store", "Trouble", "Unreadable", "Writing", "default_root", "is_viewed",
    "mark_viewed", "new_run_id", "write_durably", "write_whole",
]  # fmt: skip
