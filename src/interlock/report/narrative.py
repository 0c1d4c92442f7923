"""The narrative: what happened, why, and what it cost, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterable

from ..control import Abort, Done
from ..core import ENDED, short_name
from ..journal_records import EndRecord, ParkedRecord, UnwedgeRecord
from .changes import RunChanges
from .document import Chain, RungUse
from .episodes import Problem
from .story import Story
from .words import dollars, plain, plural

ENDINGS = {
    "COMPLETE": "It completed.",
    "USER_CANCELLED": "A person cancelled it.",
    "EMERGENCY_STOP": "Interlock stopped it.",
    "CRITICAL_FAILURE": "It failed.",
    "ERROR": "It ended with an error.",
    "MAX_ITERATIONS": "It was stopped at a limit.",
    "STUCK": "It was stopped because it was stuck.",
    "NO_MORE_ISSUES": "It had nothing more to do.",
    "UNPROVEN": "It ended without proof that it is done.",
    "MAX_ISSUES": "It was stopped after too many issues.",
}


REFUSALS = {"block": "blocked", "deny": "refused", "modify": "to be changed", "warn": "warned about"}

SEARCHED_MOMENTS = 5000
"""Newest moments that are searched for parks and hangs."""

NAMED_PROBLEMS = 5
"""Problems that the narrative names; the section below has all."""


def narrate(
    story: Story,
    ladder: Iterable[RungUse],
    episodes: tuple[Problem, ...],
    chains: tuple[Chain, ...],
    changed: RunChanges,
) -> tuple[str, ...]:
    """The run in sentences."""
    parts = [
        _ending(story),
        _parks_and_hangs(story),
        _refusals(story),
        _stuck(episodes) or _issues(story, chains),
        _interventions(tuple(ladder)),
        _screen_checks(story),
        _files(story, changed),
        _cost(story),
    ]
    return tuple(part for part in parts if part)


def length(seconds: float) -> str:
    """A duration for people."""
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 2 * 86_400:
        return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"
    return f"{seconds / 86_400:.1f} days"


def known_cost(amount: float, unpriced_tokens: int) -> str:
    """The known cost, as in every list of runs: with a plus if some tokens have no known price, unknown if none has
    one."""
    if unpriced_tokens and not amount:
        return "unknown"
    return dollars(amount) + ("+" if unpriced_tokens else "")


def duration(story: Story) -> float:
    """Seconds from the run's first record to its last."""
    first = story.page(after=0, limit=1)
    last = story.page(limit=1)
    return max(0.0, last[0].time - first[0].time) if first and last else 0.0


def _ending(story: Story) -> str:
    run = story.summary
    took = f"The run made {plural(run.steps, 'step')} in {length(duration(story))}."
    if run.status in ENDED:
        if run.reason == "USER_CANCELLED" and run.ended_by != "cancelled by you":
            return f"{took} It was {run.ended_by}."
        return f"{took} {ENDINGS.get(run.reason or _reason(story), 'It has ended.')}"
    if run.shown == "lost":
        return f"{took} Its owner is gone: it is not supervised."
    if run.doing is not None and run.doing.word == "parked" and run.doing.wake is not None:
        return f"{took} It is {run.doing.words}."
    if run.status == "paused":
        why = f": {run.waiting.rstrip('.')}" if run.waiting else ""
        return f"{took} It is paused and waits for a person{why}."
    return f"{took} It is {run.shown}."


def _parks_and_hangs(story: Story) -> str:
    """How often it was parked, and which hangs Interlock acted on."""
    moments = story.page(kinds=frozenset(("state", "intervention")), limit=SEARCHED_MOMENTS)
    bodies = [moment.body for moment in moments]
    parks = sum(isinstance(body, ParkedRecord) and body.source != "hang" for body in bodies)
    parked = f"It was parked at a usage limit {'once' if parks == 1 else f'{parks:,} times'}." if parks else ""
    hangs: dict[str, list[str]] = {}
    for body in bodies:
        if isinstance(body, UnwedgeRecord) and body.answer != "said":
            hangs.setdefault(body.wedged, []).append(body.answer)
    named = [f"{kind} ({', '.join(dict.fromkeys(answers))})" for kind, answers in hangs.items()]
    return " ".join(filter(None, (parked, f"It hung: {_list(named)}." if named else "")))


def _reason(story: Story) -> str:
    """Why a run has ended, from its records, if its summary does not say."""
    ends = story.page(kinds=frozenset(("state",)), limit=20)
    return next((end.reason for line in reversed(ends) if isinstance(end := line.body, EndRecord | Abort | Done)), "")


def _refusals(story: Story) -> str:
    verdicts = story.sums.verdicts
    reviewed = verdicts.total()
    if not reviewed:
        return ""
    kinds = [f"{verdicts[name]:,} {word}" for name, word in REFUSALS.items() if verdicts[name]]
    said = f", {_list(kinds)}" if kinds else ", all allowed"
    reviews = (
        "1 call was reviewed before it ran" if reviewed == 1 else f"{reviewed:,} calls were reviewed before they ran"
    )
    return f"{reviews}{said}."


def _stuck(episodes: tuple[Problem, ...]) -> str:
    if not episodes:
        return ""
    named = [
        f"{each.what} ({each.achieved})" for each in sorted(episodes, key=lambda each: not each.open)[:NAMED_PROBLEMS]
    ]
    if len(episodes) > NAMED_PROBLEMS:
        named.append(f"{len(episodes) - NAMED_PROBLEMS:,} more")
    first = min(each.opened_step for each in episodes)
    return f"It had {plural(len(episodes), 'problem')}, from step {first} on: {_list(named)}."


def _issues(story: Story, chains: tuple[Chain, ...]) -> str:
    total = story.sums.issues.total()
    if not total:
        return "No issues found."
    kinds = [f"{plain(name)} ({count:,})" for name, count in story.sums.issues.most_common(8)]
    since = f", from step {min(chain.first_step for chain in chains)} on" if chains else ""
    return f"{plural(total, 'issue')} {'was' if total == 1 else 'were'} found{since}: {_list(kinds)}."


def _interventions(ladder: tuple[RungUse, ...]) -> str:
    made = sum(rung.made for rung in ladder)
    held = sum(rung.held_back for rung in ladder)
    if not made:
        return f"Interlock did not intervene; {plural(held, 'intervention')} would have been due." if held else ""
    used = [rung for rung in ladder if rung.made]
    strongest = max(used, key=lambda rung: rung.level)
    judged = sum(rung.worked + rung.failed for rung in ladder)
    worked = sum(rung.worked for rung in ladder)
    said = f"Interlock intervened {_times(made)}"
    if len(used) == 1:
        said += f" ({short_name(strongest.type)})"
    else:
        said += f", from {short_name(min(used, key=lambda rung: rung.level).type)} to {short_name(strongest.type)}"
    if judged:
        said += f"; {worked:,} of the {judged:,} whose effect is known worked"
    return f"{said}."


def _screen_checks(story: Story) -> str:
    checks = story.sums.looks
    if not checks.total():
        return ""
    said = f"The screen was checked {_times(checks.total())}"
    done = checks["recovered"] + checks["failed"]
    if not done:
        return f"{said}; nothing had to be done."
    return f"{said}; obstacles were handled {_times(done)}, {_times(checks['recovered'])} successfully."


def _files(story: Story, changed: RunChanges) -> str:
    restored = story.counts.get("restored", 0)
    paths = {diff.path for stretch in changed.stretches for diff in stretch.files}
    said = ""
    if paths:
        said = f"{plural(len(paths), 'file')} changed between checkpoints."
    if restored:
        said += f" The files were rolled back {_times(restored)}."
    return said.strip()


def _cost(story: Story) -> str:
    sums, run = story.sums, story.summary
    tokens = sums.input_tokens + sums.output_tokens
    if not tokens:
        return "The agent did not report token usage."
    said = f"It used {tokens:,} tokens ({sums.input_tokens:,} read, {sums.output_tokens:,} written)"
    cost = run.cost_usd or sums.cost_usd
    if cost or not run.unpriced_tokens:
        budget = f" of {dollars(run.max_cost_usd)}" if run.max_cost_usd else ""
        at_least = "at least " if run.unpriced_tokens else ""
        return f"{said}, which cost {at_least}{dollars(cost)}{budget}."
    return f"{said}; their cost is unknown."


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
