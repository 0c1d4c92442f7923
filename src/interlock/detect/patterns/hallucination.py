"""Hallucination: files that are said to be written and are not on the disk; as notes, answers without a look-up."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from ...core import Issue, Seen
from ..agent_history import file_name, push
from ..detector import Setting, StatefulDetector
from ..fingerprint import words

FOUND = 8
"""Contradictions kept."""


class Contradictions(Struct):
    """Contradictions as (step, sentence); whether an unfounded answer was reported."""

    found: list[tuple[int, str]] = field(default_factory=list)
    answered: bool = False


class Hallucination(StatefulDetector[Contradictions]):
    """Collects contradictions; two raise an alarm."""

    type = "hallucination"
    kinds = frozenset(("tool_call", "message"))

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, Contradictions())

    def observe(self, seen: Seen) -> Iterable[Issue]:
        step = seen.step
        if step.role != "assistant":
            return ()
        if self.history.answers and not self.state.answered:
            unfounded = self._answer(step.index)
            if unfounded:
                return unfounded
        # A file that a call named may have been removed again.
        lost = next((path for path in seen.absent or () if not self._called(path)), None)
        if lost is None:
            return ()
        push(self.state.found, (step.index, f"{lost} is said to have been written, but it was not"), FOUND)
        return self._tell(step.index)

    def _answer(self, step: int) -> tuple[Issue, ...]:
        """An answer that relies on a lookup which never happened."""
        past = self.history.past
        plan = past.speech.unfounded(past.informed)
        if plan is None:
            return ()
        self.state.answered = True
        return (
            self.issue(
                step,
                f"The answer is not based on anything that the run has seen: {plan.promises}, and nothing like it was "
                "done. Look it up before answering.",
                key="answer",
                severity="low",
                confidence=0.7,
                evidence=[*plan.steps, step],
                details={"promised": plan.names, "claim": "answer without evidence"},
            ),
        )

    def _tell(self, step: int) -> tuple[Issue, ...]:
        found = self.state.found
        if len(found) < self.tuning.contradictions:
            return ()
        return (
            self.issue(
                step,
                f"Your words do not match what happened: {'; '.join(dict.fromkeys(what for _, what in found[-2:]))}. "
                "Check before you continue, and say what is really there.",
                key="contradiction",
                severity=self.tuning.severity(len(found)) or "medium",
                confidence=self.tuning.confidence(len(found) + 1),
                evidence=[at for at, _ in found],
                details={"contradictions": [what for _, what in found]},
            ),
        )

    def _called(self, path: str) -> bool:
        """Whether a call named this file or wrote it; one in the same message counts as well."""
        past, name = self.history.past, file_name(path)
        if name in self.history.ledger.written or words(name.encode("utf-8", "replace")) <= past.knowledge.named.keys():
            return True
        return any(name in map(file_name, call.paths) for call in past.pending)


detector = Hallucination
