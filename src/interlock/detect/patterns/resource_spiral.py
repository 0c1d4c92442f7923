"""Resource spiral: more and more is spent for the same or less progress."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct, field

from ...core import Issue, Seen
from ..detector import Remembering, Setting
from ..fingerprint import alike
from ..history import push
from ..turn import Turn

BYTES_PER_TOKEN = 4
"""Where the source gives no usage, the text stands for it."""


class Spending(Struct):
    """What the current sample has spent and gained, the samples before it as (spend per progress, step), and the
    turns since anything was gained."""

    warmed: int = 0
    turns: int = 0
    spend: float = 0.0
    gains: int = 0
    idle: list[int] = field(default_factory=list)
    idled: int = 0
    since: int | None = None
    samples: list[tuple[float, int]] = field(default_factory=list)


class ResourceSpiral(Remembering[Spending]):
    """Watches spend per progress grow, and questions that are asked in ever new words."""

    type = "resource_spiral"

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Spending())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step, state = seen.step, self.state
        usage = step.usage
        state.spend += usage.tokens if usage is not None else len(step.content) / BYTES_PER_TOKEN
        turn = self.history.turn
        if turn is None:
            return ()
        if state.since is None:
            state.since = turn.asked
        found = self._questions(turn) + self._idle(turn)
        if state.warmed < self.tuning.growth_warm:
            # A context that fills from nothing grows fast and means nothing.
            state.warmed, state.spend = state.warmed + 1, 0.0
            return found
        state.turns += 1
        state.gains += turn.gain
        if state.turns >= self.tuning.growth_turns:
            push(state.samples, (state.spend / (1 + state.gains), turn.step), self.tuning.growth_samples + 1)
            state.turns, state.spend, state.gains = 0, 0.0, 0
            found += self._growth(turn.step)
        return found

    def _questions(self, turn: Turn) -> tuple[Issue, ...]:
        """The same question in other words, again and again, with less and less in the answers."""
        tuning = self.tuning
        if not turn.query or (turn.news > tuning.query_news and not turn.failed):
            return ()
        since = max(self.state.since or 0, self.history.past.prompt_step)
        asked = [
            one
            for one in self.history.turns[-2 : -2 - tuning.query_window : -1]
            if one.query and one.tool == turn.tool and one.asked >= since
        ]
        likeness = [(one.step, alike(one.words, turn.words)) for one in asked]
        steps = [turn.step] + [step for step, share in likeness if share >= tuning.query_alike]
        severity = tuning.severity(len(steps))
        if severity is None and turn.news <= tuning.query_stale:
            severity = "medium" if any(share >= tuning.query_same for _, share in likeness) else None
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.tool} was asked for the same thing {len(steps)} times in other words, and the answers bring "
                "less and less. Read what they gave, or look elsewhere.",
                key=f"{turn.tool}:questions",
                severity=severity,
                confidence=tuning.confidence(len(steps)),
                evidence=steps[::-1],
                details={"count": len(steps), "tool": turn.tool},
            ),
        )

    def _idle(self, turn: Turn) -> tuple[Issue, ...]:
        """Turn after turn without anything written, learnt or changed."""
        state, tuning = self.state, self.tuning
        if turn.gain or self.history.past.prompt_step > (state.idle[-1] if state.idle else turn.step):
            state.idle.clear()
            state.idled = 0
        if turn.gain:
            return ()
        if turn.waits:
            return ()
        state.idled += 1
        push(state.idle, turn.step, 8)
        severity = tuning.severity(state.idled - tuning.idle_turns + tuning.medium_after)
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{state.idled} calls in a row changed nothing and brought nothing new. "
                "Stop and say what is missing before spending more.",
                key="idle",
                severity=severity,
                confidence=tuning.confidence(state.idled - tuning.idle_turns + tuning.medium_after),
                evidence=state.idle,
                details={"count": state.idled, "tool": turn.tool},
            ),
        )

    def _growth(self, step: int) -> tuple[Issue, ...]:
        """Spend per progress, sample by sample."""
        samples, tuning = self.state.samples, self.tuning
        if len(samples) <= tuning.growth_samples:
            return ()
        growths = [after / max(before, 1.0) for (before, _), (after, _) in pairwise(samples)]
        mean = sum(growths) / len(growths)
        if mean <= tuning.growth or min(growths) <= 1.0:
            return ()
        return (
            self.issue(
                step,
                f"Each bit of progress costs {mean:.1f} times as much as the one before. "
                "Drop needless work and go in smaller steps.",
                key="growth",
                severity="high" if mean > 2 * tuning.growth else "medium",
                confidence=min(mean / (2 * tuning.growth), 1.0),
                evidence=[at for _, at in samples],
                details={"growth": round(mean, 2)},
            ),
        )


detector = ResourceSpiral
