"""Loop: the same calls with the same outcome, alone or in a cycle; edit rounds that change nothing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from msgspec import Struct, field

from ...core import Issue, Seen, Step, Stuck
from ..agent_history import push
from ..completed_call import CompletedCall
from ..detector import Setting, StatefulDetector
from ..failure import refused_for_form
from ..fingerprint import cut, fingerprint
from ..recurrence import Recurrence, follow
from ..statements import sentences
from ..stuck_tracking import MARKS, failure_of, got_better, repeat_mark, repeat_of
from ..waiting_calls import BUSY_POLLS

QUOTED = 80
"""Bytes of a repeated sentence that are quoted."""


NAMES = 64
"""Failing tests remembered of a check."""
OUTCOMES = 64
"""Results remembered, to tell those that are new."""
CHECKS = 16
"""Failing checks tracked at once."""


class FailingCheck(Struct):
    """A check that keeps failing: its failures, and how often one of them came back without progress."""

    marks: list[int] = field(default_factory=list)
    stalled: int = 0
    steps: list[int] = field(default_factory=list)
    fewest: int | None = None
    most: int | None = None
    turn: int = 0
    gains: int = 0
    prompts: int = 0
    batch: int = -1
    names: list[int] = field(default_factory=list)


class Rounds(Struct):
    """Turns by call and outcome; failing checks; counts of turns, new turns, informative turns and writes."""

    turns: int = 0
    fresh: int = 0
    gains: int = 0
    writes: int = 0
    threads: dict[int, Recurrence] = field(default_factory=dict)
    said: list[list[int]] = field(default_factory=list)
    said_at: list[int] = field(default_factory=list)
    prompts: int = 0
    since: int | None = None
    checks: dict[str, FailingCheck] = field(default_factory=dict)
    passed: dict[int, int] = field(default_factory=dict)
    answered: int = -1
    refused: dict[int, Recurrence] = field(default_factory=dict)
    outcomes: list[int] = field(default_factory=list)


class Loop(StatefulDetector[Rounds]):
    """Counts how often the same call had the same outcome.

    Between two occurrences there may be turns that are repetitions themselves (a cycle) and one that is not (noise).
    After a write the same call is a new experiment: then only an unchanged failure counts.
    """

    type = "loop"
    kinds = frozenset(("tool_call", "message", "tool_result"))
    refusals = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Rounds())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        turn = self.history.turn
        if turn is None:
            return self._says(seen.step) if seen.step.role == "assistant" and seen.step.content else ()
        if turn.refused:
            return self._refused(turn)
        if turn.timed_out:
            return ()
        if self.state.since is None:
            self.state.since = turn.asked
        thread = self._follow(turn)
        if turn.failed:
            # Both must see every failure; an alarm of the first makes one of the second redundant.
            stalls = self._stalls(turn)
            return self._rounds(turn, thread) or stalls
        if turn.effect in ("run", "write"):
            if self.state.checks:
                self.state.checks.pop(_check(turn), None)
            self.state.passed[turn.key] = self.state.turns
            if len(self.state.passed) > CHECKS:
                del self.state.passed[next(iter(self.state.passed))]
        elif turn.effect == "answer":
            self.state.answered = turn.step
        elif turn.effect == "think" and self.state.answered > self.history.past.prompt_step:
            return ()  # it has answered and is waiting to be dismissed
        return self._repeats(turn, thread) or self._near(turn)

    def _follow(self, turn: CompletedCall) -> Recurrence:
        state, tuning = self.state, self.tuning
        state.turns += 1
        thread = follow(state.threads, repeat_mark(turn))
        prompts = self.history.past.prompts
        known = thread.count > 0 and state.turns - thread.turn <= tuning.loop_span and prompts == thread.prompts
        if not known or (turn.failed and state.passed.get(turn.key, 0) > thread.turn):
            thread.clear()
        written = state.writes > thread.writes
        if known and (state.fresh - thread.fresh > tuning.loop_noise) and not (turn.failed and written):
            thread.clear()
        elif known and written:
            if not turn.failed or state.turns - thread.turn > tuning.round_span:
                thread.clear()
            else:
                # Investigating first makes the next attempt an informed one.
                thread.rounds += state.gains == thread.gains
        thread.add(turn.step, turn.batch)
        if not known:
            # What brings something new is progress; what fails or brings nothing is noise.
            new = turn.gain and not turn.failed and turn.outcome not in state.outcomes
            state.fresh += tuning.loop_noise + 1 if new else 1
            push(state.outcomes, turn.outcome, OUTCOMES)
            # A write identical to an earlier one changes nothing.
            state.writes += turn.wrote
            state.gains += turn.taught and not turn.wrote
        thread.turn, thread.fresh, thread.gains = state.turns, state.fresh, state.gains
        thread.writes, thread.prompts = state.writes, prompts
        return thread

    def _refused(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """The same call again, although Interlock did not let it run."""
        asked = follow(self.state.refused, turn.key)
        if self.history.past.prompts != asked.prompts:
            asked.clear()
        asked.prompts = self.history.past.prompts
        asked.add(turn.step, turn.batch)
        severity = self.tuning.severity(asked.count)
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"It asked {asked.count} times for a call of {turn.tool} that Interlock refused. "
                "The answer stays the same: find another way, or say why it is needed and stop.",
                key=f"{turn.tool}:refused:{turn.key:x}",
                severity=severity,
                confidence=self.tuning.confidence(asked.count),
                evidence=asked.steps,
                started=asked.started,
                details={"count": asked.count, "tool": turn.tool, "refused": True},
                stuck=repeat_of(turn),
            ),
        )

    def _repeats(self, turn: CompletedCall, thread: Recurrence) -> tuple[Issue, ...]:
        if turn.waiting:
            return ()  # judged by time, see long_wait
        free = self.tuning.patience if turn.effect == "think" else 0
        what, advice = "in the same way", "Use what it returned, or take a different approach."
        if turn.waits:
            free = BUSY_POLLS - self.tuning.medium_after + 1
            what, advice = "without a pause", "Wait instead of asking: sleep first, or use a call that waits."
        severity = self.tuning.severity(thread.count - free)
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.tool} was called {thread.count} times {what} and the result did not change. {advice}",
                key=f"{turn.tool}:{turn.key:x}",
                severity=severity,
                confidence=self.tuning.confidence(thread.count),
                evidence=thread.steps,
                started=thread.started,
                details={"count": thread.count, "tool": turn.tool},
                stuck=repeat_of(turn),
            ),
        )

    def _rounds(self, turn: CompletedCall, thread: Recurrence) -> tuple[Issue, ...]:
        if thread.rounds == 0 or turn.waiting:
            return ()  # the same call failing again without a change in between is repetitive_errors
        severity = self.tuning.severity(thread.rounds)
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{thread.rounds} changes in a row did not change the failure of {turn.tool}: "
                f"{turn.message.rstrip('. ') or 'no message'}. Look for the cause elsewhere before editing again.",
                key=f"{turn.tool}:{turn.error:x}",
                severity=severity,
                confidence=self.tuning.confidence(thread.count),
                evidence=thread.steps,
                started=thread.started,
                details=_failing(turn, thread.count) | {"rounds": thread.rounds},
                stuck=failure_of(turn),
            ),
        )

    def _stalls(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """Runs of one check that keep failing in the same ways, even if these alternate or differ only in numbers."""
        state, tuning = self.state, self.tuning
        if turn.waiting or turn.effect not in ("run", "write") or turn.program == turn.tool:
            return ()
        name, prompts = _check(turn), self.history.past.prompts
        failing = state.checks.pop(name, None) or FailingCheck()
        state.checks[name] = failing
        if len(state.checks) > CHECKS:
            del state.checks[next(iter(state.checks))]
        if failing.marks and (state.turns - failing.turn > tuning.round_span or prompts != failing.prompts):
            failing.marks, failing.stalled, failing.fewest, failing.most = [], 0, None, None
            failing.names.clear()
        others = [test for test in turn.failing if test not in failing.names]
        failing.names = [*failing.names, *others][-NAMES:]
        if others or turn.failure not in failing.marks or got_better(turn, failing.fewest, failing.most):
            failing.stalled = 0
            failing.steps.clear()
            push(failing.marks, turn.failure, MARKS)
        elif state.gains == failing.gains:
            failing.stalled += turn.batch != failing.batch
        push(failing.steps, turn.step, 8)
        if turn.failures is not None:
            failing.fewest = min(turn.failures, failing.fewest if failing.fewest is not None else turn.failures)
        failing.most = max(turn.passes or 0, failing.most or 0)
        failing.turn, failing.gains, failing.prompts = state.turns, state.gains, prompts
        failing.batch = turn.batch
        severity = tuning.severity(failing.stalled)
        if severity is None:
            return ()
        same = len(failing.marks) == 1
        what = "the same failure" if same else f"the same {len(failing.marks)} failures in turn"
        return (
            self.issue(
                turn.step,
                f"{failing.stalled + 1} runs of {name.strip()} gave {what}: "
                f"{turn.message.rstrip('. ') or 'no message'}. Look for the cause elsewhere before editing again.",
                key=f"{turn.tool}:{name.strip()}:{min(failing.marks):x}",
                severity=severity,
                confidence=tuning.confidence(failing.stalled),
                evidence=failing.steps,
                details=_failing(turn, failing.stalled + 1),
                stuck=failure_of(turn, tuple(failing.marks), names=tuple(failing.names)),
            ),
        )

    def _says(self, step: Step) -> tuple[Issue, ...]:
        """The same sentence before consecutive calls, or in consecutive messages."""
        state, tuning, prompts = self.state, self.tuning, self.history.past.prompts
        if prompts != state.prompts:
            state.said.clear()
            state.said_at.clear()
            state.prompts = prompts
        spoken = sentences(step.content)
        said = [fingerprint(sentence) for sentence in spoken]
        found: list[int] = []
        again = b""
        if said and not set(said).isdisjoint(chain.from_iterable(state.said)):
            for one, sentence in zip(said, spoken, strict=True):
                at = [index for index, before in zip(state.said_at, state.said, strict=True) if one in before]
                if len(at) > len(found):
                    found, again = at, sentence
        push(state.said, said, tuning.sentence_window - 1)
        push(state.said_at, step.index, tuning.sentence_window - 1)
        if len(found) + 1 < tuning.sentence_times:
            return ()
        if found and any(turn.wrote and turn.asked >= found[0] for turn in self.history.turns):
            found = []  # "Let's run the test again" after a change refers to something new
        if found and self._differ(step, found):
            found = []  # the same words about different calls: a new attempt each time
        times = len(found) + 1
        severity = tuning.severity(times - tuning.sentence_times + tuning.medium_after)
        if severity is None:
            return ()
        return (
            self.issue(
                step.index,
                f'The agent keeps saying "{cut(again, QUOTED).decode("utf-8", "replace")}" ({times} times within '
                f"{tuning.sentence_window} turns). Say what has changed since, or take a different approach.",
                key="said",
                severity="medium",
                confidence=tuning.confidence(times),
                evidence=[*found, step.index],
                details={"count": times},
                stuck=Stuck(kind="pattern", key="said"),
            ),
        )

    def _differ(self, step: Step, said: list[int]) -> bool:
        """Whether the calls after the repeated sentence were rejected for their form, and each was different."""
        call = self.history.call
        made = [turn for turn in self.history.turns if turn.asked in said]
        if call is None or call.step != step.index or len(made) < len(said):
            return False
        keys = {call.key, *(turn.key for turn in made)}
        return len(keys) == len(made) + 1 and all(turn.failed and refused_for_form(turn.message) for turn in made)

    def _near(self, turn: CompletedCall) -> tuple[Issue, ...]:
        """Nearly the same request repeated without a change in between and without new information."""
        tuning = self.tuning
        if turn.wrote or turn.news > tuning.no_news or turn.effect == "answer" or turn.waiting:
            return ()
        steps, noise, batches = [turn.step], 0, {turn.batch}
        since = max(self.state.since or 0, self.history.past.prompt_step)
        for before in self.history.turns[-2 : -2 - tuning.loop_span : -1]:
            if before.wrote or before.asked < since:
                break
            if (turn.echo and before.echo and before.like(turn)) or (
                before.outcome == turn.outcome and before.near(turn)
            ):
                if before.batch not in batches:
                    steps.append(before.step)
                    batches.add(before.batch)
            elif (noise := noise + 1) > tuning.loop_noise:
                break
        severity = (
            None if turn.waits else tuning.severity(len(steps) - (tuning.patience if turn.effect == "think" else 0))
        )
        if severity is None:
            return ()
        return (
            self.issue(
                turn.step,
                f"{turn.tool} was asked nearly the same question {len(steps)} times and returned nothing new. "
                "Ask something different, or continue with what is known.",
                key=f"{turn.tool}:near",
                severity="medium",
                confidence=tuning.confidence(len(steps)),
                evidence=steps[::-1],
                details={"count": len(steps), "tool": turn.tool},
                stuck=Stuck(kind="pattern", key=f"near {turn.tool}", tool=turn.tool),
            ),
        )


def _check(turn: CompletedCall) -> str:
    return f"{turn.program or turn.tool} {' '.join(turn.targets)}"


def _failing(turn: CompletedCall, count: int) -> dict[str, object]:
    """Details of a failing call, for the hint."""
    details: dict[str, object] = {"count": count, "error": turn.message, "tool": turn.tool}
    return details | {"place": turn.place} if turn.place else details


detector = Loop
