"""Shell completion: the names of runs and incidents."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

Offered = list[tuple[str, str]]
"""Words, each with a description."""

MOST = 50
"""Words that are offered at most."""


def offer_runs(incomplete: str) -> Offered:
    """Runs by name, or by id where they have none: the live ones first."""
    return _quietly(lambda: _runs(incomplete, live_only=False))


def offer_live_runs(incomplete: str) -> Offered:
    """The runs that can be steered."""
    return _quietly(lambda: _runs(incomplete, live_only=True))


def offer_incidents(incomplete: str) -> Offered:
    """The open incidents by id."""
    return _quietly(lambda: _incidents(incomplete))


def _runs(incomplete: str, *, live_only: bool) -> Offered:
    from ..config import examine
    from ..core import ENDED
    from .runs import the_store

    runs = the_store(examine().config).runs()
    live = [run for run in runs if run.status not in (*ENDED, "unreadable")]
    chosen = live if live_only else [*live, *(run for run in runs if run not in live)]
    words: dict[str, str] = {}
    for run in chosen:
        for word in (run.name, run.run_id) if incomplete else (run.name or run.run_id,):
            if word and word.startswith(incomplete) and " " not in word:
                words.setdefault(word, f"{run.shown}: {' '.join((run.waiting or run.task).split())[:60]}")
    return list(words.items())[:MOST]


def _incidents(incomplete: str) -> Offered:
    from ..config import examine
    from ..runtime import Incidents
    from .runs import the_store

    stored = [each for each in Incidents(the_store(examine().config)).all() if each.status == "open"]
    return [(each.id, each.report.summary[:60]) for each in stored if each.id.startswith(incomplete)][:MOST]


def _quietly(find: Callable[[], Offered]) -> Offered:
    """Return no words on any error: an error message in the middle of a command line helps nobody."""
    with suppress(Exception):
        return find()
    return []
