"""Resource spiral: calls without gain, calls that cost ever more, the same question reworded."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from statistics import median

from msgspec import Struct, field

from ...core import Issue, Seen, Stuck
from ..agent_history import push
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..failure import refused_for_form
from ..fingerprint import alike

FAR = 4.0
"""A call that costs this many times the alarm's amount counts as a recurrence, even if others cost as much."""


class Spending(Struct):
    """The turns since the last gain; `used` since the last call, and `calls` with the usage of each: tokens, dollars,
    step."""

    idle: list[int] = field(default_factory=list)
    idled: int = 0
    answered: int = -1
    batch: int = -1
    since: int | None = None
    used: list[float] = field(default_factory=lambda: [0.0, 0.0])
    calls: list[tuple[float, float, int]] = field(default_factory=list)


class ResourceSpiral(StatefulDetector[Spending]):
    """Watches for turns without gain, leaps in spend, and the same question reworded repeatedly."""

    type = "resource_spiral"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Spending())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, state = seen.step, self.state
        usage = step.usage
        if usage is not None:
            state.used[0] += usage.tokens
            state.used[1] += usage.cost_usd or 0.0
        turn = self.history.turn
        if turn is None:
            return ()
        if state.since is None:
            state.since = turn.asked
        found = self._idle(turn)
        if turn.query:
            found = self._questions(turn) + found
        if state.used[0] or state.used[1]:
            found += self._leap(turn)
        return found

    def _questions(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """The same question reworded repeatedly, with little new in the answers."""
        tuning = self.tuning
        if turn.news > tuning.query_news and not turn.failed:
            return ()
        since = max(self.state.since or 0, self.history.past.prompt_step)
        asked = [
            one
            for one in self.history.turns[-2 : -2 - tuning.query_window : -1]
            if one.query and one.tool == turn.tool and one.asked >= since and one.batch != turn.batch
        ]
        likeness = [(one.step, alike(one.words, turn.words)) for one in asked if not _differ(one.words, turn.words)]
        steps = [turn.step] + [step for step, share in likeness if share >= tuning.query_alike]
        severity = tuning.severity(len(steps))
        if severity is None and turn.news <= tuning.query_stale:
            severity = "medium" if any(share >= tuning.query_same for _, share in likeness) else None
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.tool} was asked for the same thing {len(steps)} times in different words, and the answers add "
                "less and less. Use what they gave, or look elsewhere.",
                key=f"{turn.tool}:questions",
                severity=severity,
                confidence=tuning.confidence(len(steps)),
                evidence=steps[::-1],
                details={"count": len(steps), "tool": turn.tool},
                stuck=Stuck(kind="pattern", key=f"questions {turn.tool}", tool=turn.tool),
            ),
        )

    def _idle(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """Consecutive turns in which nothing was written, learned or changed."""
        state, tuning = self.state, self.tuning
        if turn.effect == "answer":
            state.answered = turn.step  # turns after the answer do not count
        if turn.gain or self.history.past.prompt_step > (state.idle[-1] if state.idle else turn.step):
            state.idle.clear()
            state.idled = 0
        if turn.gain:
            return ()
        if state.answered > self.history.past.prompt_step:
            return ()
        if turn.waits or turn.waiting or turn.batch == state.batch or self._tries(turn):
            return ()
        state.batch = turn.batch
        state.idled = max(state.idled + 1, self.history.past.empty)
        push(state.idle, turn.step, 8)
        severity = tuning.severity(state.idled - tuning.idle_turns + tuning.medium_after)
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{state.idled} calls in a row changed nothing and returned nothing new. "
                "Stop and say what is missing before spending more.",
                key="idle",
                severity=severity,
                confidence=tuning.confidence(state.idled - tuning.idle_turns + tuning.medium_after),
                evidence=state.idle,
                details={"count": state.idled, "tool": turn.tool},
                stuck=Stuck(
                    kind="pattern",
                    key=f"idle {turn.program or turn.tool}",
                    tool=turn.tool,
                    program=turn.program,
                    targets=turn.targets,
                ),
            ),
        )

    def _tries(self, turn: CompletedCall) -> bool:
        """Whether a tool rejected the call for its form, and the call differs from the previous ones."""
        if not turn.failed or not refused_for_form(turn.message):
            return False
        return all(before.key != turn.key for before in self.history.turns[-2:-8:-1])

    def _leap(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """Calls that repeatedly double in cost, or one that costs ten times the median."""
        state, tuning = self.state, self.tuning
        push(state.calls, (state.used[0], state.used[1], turn.step), tuning.spend_window)
        state.used = [0.0, 0.0]
        unit = 1 if state.calls[-1][1] else 0
        if state.calls[-1][unit] < (tuning.spend_tokens, tuning.spend_dollars)[unit]:
            return ()
        calls = [call[unit] for call in state.calls]
        last = list(pairwise(calls[-tuning.spend_doublings - 1 :]))
        doubles = len(last) == tuning.spend_doublings and all(after >= 2 * before > 0 for before, after in last)
        usual = median(calls)
        leaps = len(calls) >= tuning.spend_least and calls[-1] > tuning.spend_times * usual
        if not doubles and not leaps:
            return ()
        spent = f"${calls[-1]:,.{2 if calls[-1] >= 0.1 else 4}f}" if unit else f"{calls[-1]:,.0f} tokens"
        how = f"each of the last {tuning.spend_doublings} calls cost at least twice as much as the one before"
        if not doubles:
            how = f"that is {calls[-1] / usual:,.0f} times what a call usually costs in this run"
        return (
            self.issue(
                turn.step,
                f"The last call used {spent}: {how}. Send less context, ask for less at once, or say why it is needed.",
                key="spend",
                severity="high" if doubles else "medium",
                confidence=0.9,
                evidence=[step for *_, step in state.calls[-tuning.spend_doublings - 1 :]],
                details={"growth": round(calls[-1] / usual, 1), "usage": spent},
                stuck=Stuck(kind="pattern", key="spend per call", needed=2, level=calls[-1]),
            ),
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        """For spend per call: whether this call again costs far more than most."""
        calls = self.state.calls
        if stuck.key != "spend per call" or self.history.turn is None or not calls:
            return standing
        unit = 1 if calls[-1][1] else 0
        if calls[-1][2] != self.history.turn.step:
            return False
        last = calls[-1][unit]
        return last > 2 * median(call[unit] for call in calls) or last >= FAR * stuck.level


def _differ(one: set[bytes], other: set[bytes]) -> bool:
    """Whether two questions name other numbers: the year before is another question."""
    numbers, others = ({word for word in said if word.isdigit()} for said in (one, other))
    return bool(numbers and others) and numbers.isdisjoint(others)


detector = ResourceSpiral
