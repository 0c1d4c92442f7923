"""Which run a person means by what was typed."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import BadInput, NotFound
from .summary import RunSummary

NEAR = 60.0
"""How alike (0..100) a name must be to be offered instead."""


def find_run(ref: str, runs: Sequence[RunSummary]) -> RunSummary:
    """The run with this id, name or unique beginning of either; runs come newest first.

    Of several with one name the live one is meant, and if none lives the newest.
    """
    if not ref:
        raise BadInput("no run specified", todo="Specify an id, a name, or a unique prefix. See interlock ps --all.")
    for run in runs:
        if run.run_id == ref:
            return run
    if named := [run for run in runs if run.name == ref]:
        live = [run for run in named if run.owner_pid is not None]
        if len(live) > 1:
            raise _ambiguous(f"{len(live)} live runs are named {ref!r}", live)
        return (live or named)[0]
    begun = [run for run in runs if run.run_id.startswith(ref)] or [run for run in runs if run.name.startswith(ref)]
    if len(begun) > 1:
        raise _ambiguous(f"{len(begun)} runs begin with {ref!r}", begun)
    if begun:
        return begun[0]
    raise NotFound(f"there is no run {ref!r}", todo=_nearest(ref, runs))


def _ambiguous(what: str, runs: Sequence[RunSummary]) -> BadInput:
    shown = ", ".join(f"{run.run_id} ({run.name or run.task[:30] or run.status})" for run in runs[:8])
    return BadInput(f"{what}: {shown}{', ...' if len(runs) > 8 else ''}", todo="Use its id.")


def _nearest(ref: str, runs: Sequence[RunSummary]) -> str:
    from rapidfuzz import process

    known = [name for run in runs for name in (run.name, run.run_id) if name]
    near = list(dict.fromkeys(name for name, _, _ in process.extract(ref, known, limit=3, score_cutoff=NEAR)))
    return f"Did you mean {' or '.join(near)}?" if near else "See interlock ps --all."
