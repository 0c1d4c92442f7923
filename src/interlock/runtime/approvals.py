"""Approvals: steps that wait for a person, and what the person said."""

from __future__ import annotations

from typing import Literal

from ..core import Decision, InvalidState, Review, Step

Answer = Literal["approved", "rejected"]


class Approvals:
    """Which steps have to wait, and the answers that came. Off unless the run was continued after an incident.

    `needed`: writes, deletes and commands wait for a person, reads do not. `removed`: actions that are refused. A call
    whose review asks for a person waits in any case.
    """

    def __init__(self, needed: bool = False, removed: frozenset[str] = frozenset()) -> None:
        self.needed = needed
        self.removed = removed
        self._waiting: dict[int, str] = {}
        self._answers: dict[int, tuple[Answer, str]] = {}

    @property
    def waiting(self) -> dict[int, str]:
        """The steps that wait, with what each wants to do."""
        return dict(self._waiting)

    @property
    def next_waiting(self) -> str | None:
        """What the step that waits longest wants to do."""
        return next(iter(self._waiting.values()), None)

    def check(self, step: Step, review: Review | None) -> Decision | None:
        """Hold until a person answers, deny where the answer was no, None where the step may go on."""
        action = review.action if review is not None else "unknown"
        if action in self.removed:
            return Decision("deny", reason=f"This run was continued without dangerous tools: {action} is refused.")
        asked = review is not None and review.ask
        if not asked and (not self.needed or action == "read"):
            return None
        answer = self._answers.get(step.index)
        if answer is None:
            self._waiting[step.index] = describe(step)
            why = f": {review.reason}" if asked and review is not None else ""
            return Decision("hold", reason=f"step {step.index} waits for a person to approve or reject it{why}")
        said, why = answer
        if said == "approved":
            return None
        return Decision("deny", reason=f"A person rejected this step{f': {why}' if why else '.'}")

    def has_approved(self, step: Step) -> bool:
        """Whether a person has approved the step."""
        answer = self._answers.get(step.index)
        return answer is not None and answer[0] == "approved"

    def answer(self, step: int, said: Answer, reason: str = "") -> str:
        """Take a person's answer; gives what the step wanted to do."""
        if step not in self._waiting:
            known = ", ".join(str(index) for index in self._waiting) or "none"
            raise InvalidState(f"step {step} does not wait for a person", todo=f"Waiting: {known}")
        self._answers[step] = (said, reason)
        return self._waiting.pop(step)

    def withdraw(self, step: int) -> bool:
        """A step waits no longer; whether it did."""
        return self._waiting.pop(step, None) is not None


def describe(step: Step) -> str:
    """What a step wants to do, for the person who is asked."""
    if step.tool is None:
        return step.content[:200]
    arguments = ", ".join(f"{key}={value!r}" for key, value in step.tool.arguments.items())
    return f"{step.tool.name}({arguments})"[:400]
