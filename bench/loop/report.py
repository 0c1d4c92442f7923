"""Report: the tables of CLOSED_LOOP.md, and the goals that are missed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from .games import PACES, SEEDS, UNDER
from .judge import ATTENDED, EXAMPLE, MOST_OPPORTUNITIES, MOST_RELAPSE_ANSWERS, OURS, Verdict
from .script import AGENTS, KINDS

SHORT = {
    "soft_correction": "hint",
    "context_reinforcement": "reminder",
    "resource_throttling": "throttle",
    "checkpoint_rollback": "rollback",
    "emergency_stop": "stop",
}
RIGHT = 0.98
"""The share of outcomes that must agree with the script."""

HEAD = (
    "# The ladder in the loop\n\n"
    f"Written by `make bench-loop`. Scripted agents, each at {', '.join(f'{pace:g}' for pace in PACES)} s a call, "
    "drive the real supervisor with default settings on an injected clock: real journal, real checkpoints, at most 240 "
    "calls. The agents hear what they are told and wait where they must. Each script knows the truth: whether it is "
    "stuck, and what helped.\n\n"
    "Goals: stubborn agents get every rung in order and are held or stopped within "
    f"{MOST_OPPORTUNITIES} opportunities of the first alarm; heeding ones get as many answers as they need and none "
    f"after; relapsing ones at most {MOST_RELAPSE_ANSWERS}, climbing; healthy ones none; {RIGHT:.0%} of the recorded "
    "outcomes are true; no message twice.\n\n"
    "What to keep in mind: the agents and their mix are ours, so the totals compare answers to the same scripts and do "
    "not say how often agents get stuck. A script decides the truth of an outcome from its own state, not from texts, "
    "but by the same count as the product: three opportunities without the problem, or a check that really got better, "
    "mean that an answer worked.\n"
)


def shown(verdict: Verdict) -> str:
    """One game in one line."""
    state = "ok  " if not verdict.misses else "MISS"
    rungs = " ".join(
        f"{SHORT.get(rung, rung)}:{how}" for rung, how in zip(verdict.rungs, verdict.outcomes, strict=True)
    )
    line = f"{state} {verdict.agent} at {verdict.pace:g} s under {verdict.under}: {verdict.end} after "
    line += f"{verdict.calls} calls, {verdict.opportunities} opportunities, "
    line += f"{verdict.wasted_calls} wasted; {rungs or 'no answer'}"
    line += f"; outcomes {verdict.right}/{verdict.judged} (truth: {' '.join(verdict.truths)})" if verdict.truths else ""
    return line + "".join(f"\n       - {miss}" for miss in verdict.misses)


def missed_goals(verdicts: Sequence[Verdict], *, whole: bool) -> list[str]:
    """The goals that are missed, in words; those that compare need the whole bench."""
    ours = [verdict for verdict in verdicts if verdict.under == OURS]
    missed = [
        f"{verdict.agent} at {verdict.pace:g} s ({verdict.under}): {miss}"
        for verdict in verdicts
        if verdict.under in (OURS, EXAMPLE, ATTENDED)
        for miss in verdict.misses
    ]
    judged, right = sum(one.judged for one in ours), sum(one.right for one in ours)
    if judged and right < RIGHT * judged:
        missed.append(f"{right} of {judged} outcomes are true ({right / judged:.1%}), {RIGHT:.0%} are asked for")
    return missed + (_missed_comparisons(verdicts) if whole else [])


def _missed_comparisons(verdicts: Sequence[Verdict]) -> list[str]:
    missed = []
    stubborn = {under: _waste(verdicts, under, "stubborn") for under in UNDER}
    for at, what in enumerate(("calls", "tokens")):
        missed += [
            f"{stubborn[OURS][at]:,} {what} wasted on stubborn agents, more than half of {under}'s "
            f"{stubborn[under][at]:,}"
            for under in ("no supervision", *SEEDS)
            if stubborn[OURS][at] * 2 > stubborn[under][at]
        ]
        total = {under: _waste(verdicts, under)[at] for under in UNDER}
        best = min(total, key=lambda under: total[under])
        if total[best] < total[OURS]:
            missed.append(f"{total[OURS]:,} {what} wasted over all agents, {best} wastes {total[best]:,}")
    healthy = _waste(verdicts, OURS, "healthy")[0]
    if healthy:
        missed.append(f"{healthy} calls of healthy agents wasted")
    return missed


def _waste(verdicts: Iterable[Verdict], under: str, kind: str = "") -> tuple[int, int]:
    found = [one for one in verdicts if one.under == under and kind in ("", one.kind)]
    return sum(one.wasted_calls for one in found), sum(one.wasted_tokens for one in found)


def report(verdicts: Sequence[Verdict], missed: Sequence[str]) -> str:
    """The whole file."""
    ours = [one for one in verdicts if one.under == OURS]
    judged, right = sum(one.judged for one in ours), sum(one.right for one in ours)
    share = f"{right / judged:.1%}" if judged else "none judged"
    parts = [HEAD, _goals(missed), f"Outcomes recorded against the truth: {right} of {judged} ({share}).\n"]
    parts.append(_comparison(verdicts))
    parts += [_agents(kind, [one for one in ours if one.kind == kind]) for kind in KINDS]
    for under in (EXAMPLE, ATTENDED):
        games = [one for one in verdicts if one.under == under]
        parts += [_agents("stubborn", games, f"Stubborn agents, {under}")] if games else []
    return "\n".join(parts)


def _goals(missed: Sequence[str]) -> str:
    if not missed:
        return "All goals are met.\n"
    return "\n".join([f"## Missed goals: {len(missed)}", "", *(f"- {goal}" for goal in missed)]) + "\n"


def _comparison(verdicts: Sequence[Verdict]) -> str:
    """Calls and tokens wasted under everybody."""
    header = [
        "",
        *(f"{kind}: calls / tokens" for kind in KINDS),
        "all: calls / tokens",
        "heeding ended",
        "healthy ended",
    ]
    rows = []
    for under in UNDER:
        cells = [_pair(*_waste(verdicts, under, kind)) for kind in (*KINDS, "")]
        for kind in ("heeding", "healthy"):
            games = [one for one in verdicts if one.under == under and one.kind == kind]
            cells.append(f"{sum(one.ended_wrongly for one in games)} of {len(games)}")
        rows.append([under, *cells])
    notes = (
        "Wasted are calls that brought nothing once the agent was stuck, useful ones that a rollback took back, and "
        "all calls of an agent that was healthy, or would have heeded, and was stopped or paused instead."
    )
    return _table("Calls and tokens wasted", header, rows, notes)


def _pair(calls: int, tokens: int) -> str:
    return f"{calls:,} / {tokens / 1e6:.2f} M"


def _agents(kind: str, verdicts: Sequence[Verdict], title: str = "") -> str:
    header = [
        "agent",
        "what it does",
        "pace",
        "answers",
        "end",
        "calls",
        "opportunities",
        "outcomes true",
        "wasted",
        "misses",
    ]
    rows = []
    for name, games in groupby(verdicts, key=lambda one: one.agent):
        for at, one in enumerate(games):
            rungs = " ".join(SHORT.get(rung, rung) for rung in one.rungs) or "none"
            rows.append([
                name if at == 0 else "",
                AGENTS[name].about if at == 0 else "",
                f"{one.pace:g} s",
                rungs,
                one.end,
                str(one.calls),
                "" if one.opportunities is None or kind != "stubborn" else str(one.opportunities),
                f"{one.right} of {one.judged}" if one.judged else "",
                str(one.wasted_calls),
                "; ".join(one.misses),
            ])  # fmt: skip
    return _table(title or f"{kind.capitalize()} agents", header, rows)


def _table(title: str, header: list[str], rows: list[list[str]], notes: str = "") -> str:
    from table import as_markdown

    return as_markdown(title, header, rows, notes)
