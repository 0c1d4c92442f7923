"""Removes old incidents, and runs beyond the disk budget, when a run starts."""

from __future__ import annotations

import contextlib
import logging
import threading
import time

from ..config import Config
from ..core import InterlockError
from ..journal import Pruned, Store

log = logging.getLogger("interlock")


AGAIN_S = 10.0
"""A run that starts this soon after another does not measure the store again."""

MEASURED = ".measured"


def clean_up_store(store: Store, config: Config, now: float, *, measure: bool = True) -> threading.Thread:
    """Remove old incidents, and runs beyond the budget, in a thread because it may take long."""
    given = (store, config, now, measure)
    thread = threading.Thread(target=_clean_up, args=given, name="interlock-prune", daemon=True)
    thread.start()
    return thread


def clean_up_at_start(store: Store, config: Config, now: float) -> threading.Thread:
    """`clean_up_store` when a run starts; skips measuring the store if another run has just measured it."""
    stamp = store.root / MEASURED
    try:
        again = abs(time.time() - stamp.stat().st_mtime) < AGAIN_S
    except OSError:
        again = False
    if not again:
        with contextlib.suppress(OSError):
            stamp.touch(mode=0o600)
    return clean_up_store(store, config, now, measure=not again)


def _clean_up(store: Store, config: Config, now: float, measure: bool) -> None:
    try:
        if any(store.root.glob("*/incidents/*")):
            from .incidents import Incidents

            Incidents(store).remove_older_than(config.interventions.emergency_stop.preserve_incident_data_days, now)
        if not measure:
            return
        failed: list[Pruned] = []
        for gone in store.prune(max_bytes=config.store.max_bytes, failed=failed):
            log.info("run removed", extra={"run_id": gone.run_id, "bytes": gone.bytes, "why": gone.why})
        for kept in failed:
            log.warning("a run could not be removed: %s", kept.problem, extra={"run_id": kept.run_id})
    except (InterlockError, OSError) as error:
        log.warning("the store could not be cleaned up: %s", error)
