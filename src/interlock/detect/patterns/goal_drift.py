"""Goal drift: the run departs from its task, or skips the plan that it made."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Context, Issue, Seen, Step, Stuck
from ..agent_history import file_name, push
from ..completed_call import PendingCall
from ..detector import Setting, StatefulDetector
from ..fingerprint import bounded, words
from ..goal import SHORT, STEM, goal_stems, path_stems

SUBJECT = 400
"""Maximum number of stems about the goal: those of the task and of the work done for it."""
READ = 300
"""Characters read of the text before a call."""


class Course(Struct):
    """(step, alignment) of the last calls; stems of the subject, oldest first; whether a skipped plan was reported."""

    recent: list[tuple[int, float]] = field(default_factory=list)
    subject: dict[bytes, None] = field(default_factory=dict)
    begun: bool = False
    skipped: bool = False


class GoalDrift(StatefulDetector[Course]):
    """Compares the calls with the task and the plan."""

    type = "goal_drift"
    kinds = frozenset(("tool_call", "message"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Course())

    def learn_task(self, context: Context) -> None:
        super().learn_task(context)
        self.state.begun = False
        self.state.recent.clear()

    def observe(self, seen: Seen) -> Iterable[Issue]:
        found = self._drifted(seen, self.history.call) if self.history.call is not None else ()
        if self.history.answers and not self.state.skipped:
            found += self._skipped(seen.step.index)
        return found

    def _drifted(self, seen: Seen, call: PendingCall) -> tuple[Issue, ...]:
        """Calls that have less and less to do with the task and with the work done for it."""
        state, tuning = self.state, self.tuning
        if not state.begun:
            state.begun = True
            # The location of the workspace is in every path and says nothing about the task.
            lies = set(path_stems(self.context.workspace or ""))
            goal = goal_stems(self.context, self.history.past.prompt)
            state.subject = dict.fromkeys(stem for stem in goal if stem not in lies) if lies else dict.fromkeys(goal)
        if len(state.subject) < tuning.goal_words:
            return ()
        if call.garble or self._says_little(call):
            return ()
        alignment = self._alignment(seen.step, call)
        if alignment >= 1.0 and call.paths:
            # Paths touched for the goal count as part of it from now on.
            for path in call.paths:
                state.subject.update(dict.fromkeys(path_stems(self._inside(path))))
            while len(state.subject) > SUBJECT:
                del state.subject[next(iter(state.subject))]
        push(state.recent, (seen.step.index, alignment), tuning.drift_window)
        if len(state.recent) < tuning.drift_window:
            return ()
        values = [value for _, value in state.recent]
        mean = sum(values) / len(values)
        if mean >= tuning.drift_mean or (slope := _slope(values)) >= tuning.drift_slope:
            return ()
        return (
            self.issue(
                seen.step.index,
                "The last calls have less and less to do with the task. Say how the next step serves the goal, "
                "or return to the task.",
                key="course",
                confidence=min(1.0, (1 - mean) * 0.9),
                evidence=[step for step, value in state.recent if value < tuning.drift_mean][-8:],
                details={"alignment": round(mean, 2), "slope": round(slope, 2)},
                stuck=Stuck(kind="pattern", key="the course", needed=2),
            ),
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        """Whether this call has nothing to do with the goal; one shared word is enough to count as a return to it."""
        if stuck.needed == 1:
            return standing
        call = self.history.call
        step, alignment = self.state.recent[-1] if self.state.recent else (-1, 1.0)
        return call is not None and step == call.step and alignment == 0.0

    def _says_little(self, call: PendingCall) -> bool:
        """Whether a call names too little to be about anything: `ls`, `git status`, a check that is run again."""
        said, enough = 0, self.tuning.drift_says
        for word in call.words:
            if len(word) >= SHORT:
                said += 1
                if said >= enough:
                    return False
        return True

    def _alignment(self, step: Step, call: PendingCall) -> float:
        """How closely a call, or the text before it, relates to the task."""
        subject, enough, shared = self.state.subject, self.tuning.drift_words, 0
        written = self.history.ledger.written
        if written and any(file_name(path) in written for path in call.paths):
            return 1.0  # the run's own files are part of its work
        for word in call.words:
            if word[:STEM] in subject:
                shared += 1
                if shared >= enough:
                    return 1.0
        if step.content:
            # The subject has no short or common words, so they need not be filtered out here.
            thought = {word[:STEM] for word in words(bounded(step.content, READ, 0))}
            shared = max(shared, len(subject.keys() & thought))
        return min(shared / enough, 1.0)

    def _inside(self, path: str) -> str:
        return path.removeprefix(self.context.workspace) if self.context.workspace else path

    def _skipped(self, step: int) -> tuple[Issue, ...]:
        """The agent answers before it has carried out its plan."""
        past = self.history.past
        speech = past.speech
        broken = speech.broken()
        if past.informed or not (broken or speech.retrieval is not None):
            return ()
        self.state.skipped = True
        said = [speech.promised[name] for name in broken] or [speech.retrieval or 0]
        what = f"it names {', '.join(broken[:3])}" if broken else "it says to look things up"
        return (
            self.issue(
                step,
                f"The plan was skipped: {what}, but the answer came without it. Carry out the plan first.",
                key="plan",
                severity="low",
                confidence=0.7 if broken else 0.6,
                evidence=[*said[:3], step],
                details={"promised": broken},
            ),
        )


def _slope(values: list[float]) -> float:
    """How much a fitted line rises or falls from the first value to the last."""
    count = len(values)
    middle = (count - 1) / 2
    mean = sum(values) / count
    spread = sum((at - middle) ** 2 for at in range(count))
    return sum((at - middle) * (value - mean) for at, value in enumerate(values)) / spread * (count - 1)


detector = GoalDrift
