"""Tidying: what is removed by itself when a run starts: incidents that are old, runs beyond the disk budget."""

from __future__ import annotations

import logging
import threading

from ..config import Config
from ..core import InterlockError
from ..journal import Pruned, Store

log = logging.getLogger("interlock")


def clean_up_store(store: Store, config: Config, now: float) -> threading.Thread:
    """Remove old incidents and runs beyond the budget, in a thread: that may take long."""
    thread = threading.Thread(target=_clean_up, args=(store, config, now), name="interlock-prune", daemon=True)
    thread.start()
    return thread


def _clean_up(store: Store, config: Config, now: float) -> None:
    try:
        if any(store.root.glob("*/incidents/*")):
            from .incidents import Incidents

            Incidents(store).remove_older_than(config.interventions.emergency_stop.preserve_incident_data_days, now)
        failed: list[Pruned] = []
        for gone in store.prune(max_bytes=config.store.max_bytes, failed=failed):
            log.info("run removed", extra={"run_id": gone.run_id, "bytes": gone.bytes, "why": gone.why})
        for kept in failed:
            log.warning("a run could not be removed: %s", kept.problem, extra={"run_id": kept.run_id})
    except (InterlockError, OSError) as error:
        log.warning("the store could not be cleaned up: %s", error)
