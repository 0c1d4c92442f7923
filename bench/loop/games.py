"""Games: which agents are played at which pace under whom, in two processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from interlock.config import Config
from interlock.core.decoding import from_plain

from . import evidence, healthy, heeding, stubborn, waiting  # noqa: F401  each makes its agents known
from .driver import HORIZON, PATIENT, play_supervised, settings
from .judge import ATTENDED, EXAMPLE, OURS, Verdict, judge
from .peers import PEERS, play_peer
from .script import AGENTS, NEVER

PACES = (0.4, 15.0, 90.0)
SEEDS = ("severity", "pattern_specific")
UNDER = (OURS, *SEEDS, *PEERS)

EXAMPLE_VALUES: dict[str, object] = {
    "interventions": {
        "enabled": True,
        "observe": False,
        "max_interventions_per_execution": 10,
        "on_limit": "pause",
        "intervention_cooldown_seconds": 30,
        "soft_correction": {"enabled": True, "max_attempts": 3},
        "context_reinforcement": {"enabled": True, "reinforcement_strength": "medium", "include_examples": True},
        "resource_throttling": {
            "enabled": True,
            "reduction_factors": {"moderate": 0.85, "high": 0.7, "aggressive": 0.5, "severe": 0.25},
            "metrics_window_seconds": 60,
        },
        "checkpoint_rollback": {
            "enabled": True,
            "max_rollback_depth": 3,
            "checkpoint_retention_minutes": 30,
            "safe_checkpoint_criteria": {"min_success_rate": 0.8, "no_errors_duration_seconds": 60},
        },
        "emergency_stop": {
            "enabled": True,
            "auto_cleanup": False,
            "notification_channels": [],
            "preserve_incident_data_days": 30,
        },
        "strategy": {
            "type": "progressive",
            "effectiveness_threshold": 0.6,
            "effectiveness_steps": 10,
            "escalation_delay_seconds": 120,
        },
    },
    "runtime": {"step_timeout_ms": PATIENT.step_timeout_ms},
}
"""The example of the documentation, pasted whole."""

EXAMPLE_PATIENCE_S = 900
"""The waits of the example configuration, one after the other, and some: what its runs get beyond the horizon."""
FAST_EXAMPLES = ("edit-test", "failing-call", "alternating")
"""At the fastest pace the example's waits are thousands of calls: these agents are enough."""


@dataclass(frozen=True)
class Pairing:
    """One agent at one pace under one keeper."""

    agent: str
    pace: float
    under: str


def pairings(names: Sequence[str] = (), under: Sequence[str] = UNDER, paces: Sequence[float] = PACES) -> list[Pairing]:
    """Every agent at every pace, those that take long first."""
    found = []
    for name, agent in AGENTS.items():
        if names and name not in names:
            continue
        for at, pace in enumerate(PACES):
            if pace in paces:
                own = agent.paces[at] if agent.paces is not None else pace
                found += [Pairing(name, own, one) for one in under]
    return found


def examples(names: Sequence[str] = (), paces: Sequence[float] = PACES) -> list[Pairing]:
    """The stubborn agents under the example configuration."""
    ours = [one for one in pairings(names, (EXAMPLE,), paces) if AGENTS[one.agent].kind == "stubborn"]
    return [one for one in ours if one.pace > PACES[0] or one.agent in FAST_EXAMPLES]


def attended(names: Sequence[str] = ()) -> list[Pairing]:
    """The stubborn agents where an alert reaches a person."""
    ours = pairings(names, (ATTENDED,), PACES[1:2])
    return [one for one in ours if AGENTS[one.agent].kind == "stubborn" and AGENTS[one.agent].at_most == NEVER]


def play_one(pairing: Pairing) -> Verdict:
    """Play and judge."""
    agent = AGENTS[pairing.agent]
    if pairing.under in PEERS:
        return judge(play_peer(agent, pairing.pace, pairing.under), agent)
    pace, under = pairing.pace, pairing.under
    if under == EXAMPLE:
        horizon = HORIZON + int(EXAMPLE_PATIENCE_S / pace)
        return judge(play_supervised(agent, pace, under, from_plain(EXAMPLE_VALUES, Config), horizon=horizon), agent)
    if under == ATTENDED:
        return judge(play_supervised(agent, pace, under, settings(OURS), alerts=[]), agent)
    return judge(play_supervised(agent, pace, under, settings(under)), agent)


def play_all(wanted: Sequence[Pairing], workers: int | None = None) -> Iterable[Verdict]:
    """Play everything, in the order that was asked for; progress goes to stderr."""
    workers = workers or min(2, os.cpu_count() or 1)
    if workers == 1 or len(wanted) < 4:
        yield from map(play_one, wanted)
        return
    with ProcessPoolExecutor(workers) as pool:
        for number, verdict in enumerate(pool.map(play_one, wanted, chunksize=4), 1):
            if number % 50 == 0 or number == len(wanted):
                print(f"{number} of {len(wanted)} games", file=sys.stderr, flush=True)
            yield verdict
