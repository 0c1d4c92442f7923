"""Loss: after a power cut, drop the newest checkpoints whose contents had not reached the disk."""

from __future__ import annotations

from ..core import boot_id
from .audit import StoreAudit
from .history import CheckpointHistory
from .store import CheckpointStore


def drop_lost(store: CheckpointStore, history: CheckpointHistory) -> list[str]:
    """Check what was written last before the machine went down; says what had to be dropped."""
    if store.get_meta("boot") in (None, boot_id()):
        return []
    audit = StoreAudit(store, history)
    bad = dict(audit.bad_contents(after=int(store.get_meta("flushed") or 0)))
    first = next((problem.checkpoint for problem in audit.affected(bad)), None) if bad else None
    with store.transaction(durable=True):
        store.db.executemany("DELETE FROM blob WHERE digest=?", [(digest,) for digest in bad])
        store.set_meta("boot", boot_id())
        if first is None:
            return []
        seq = history.find(first)
        lost = store.number("SELECT count(*) FROM checkpoint WHERE seq>=?", seq)
        store.db.execute("DELETE FROM extra WHERE id IN (SELECT id FROM checkpoint WHERE seq>=?)", (seq,))
        store.db.execute("DELETE FROM checkpoint WHERE seq>=?", (seq,))
        store.db.execute("DELETE FROM own WHERE seq>=?", (seq,))
        history.forget_runs()
    return [f"the machine crashed before {lost} checkpoint{'s' * (lost > 1)} reached the disk: dropped"]
