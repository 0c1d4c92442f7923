"""Approvals: steps that wait for a person, and the person's answers to exactly those calls."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import Struct

from ..core import Decision, InvalidState, Review, Step

ApprovalAnswer = Literal["approved", "rejected"]

HOUR = 3600.0

REMEMBERED = 1024
"""How many calls have their digest remembered."""


class WaitingCall(Struct, frozen=True):
    """A waiting call: what it would do, a digest of its tool and arguments, and how long it can be answered."""

    what: str
    digest: str
    until: float


class Approvals:
    """Which steps have to wait, and the answers so far. Off unless the run was continued after an incident.

    `needed`: writes, deletes and commands wait for a person, reads do not. `removed`: actions that are blocked. A call
    whose review asks for a person always waits. An answer applies only to the call that it was given for: a call that
    comes again with other arguments waits again, and one that nobody answers within `hours` is blocked.
    """

    def __init__(self, needed: bool = False, removed: frozenset[str] = frozenset()) -> None:
        self.needed = needed
        self.removed = removed
        self.hours = 12.0
        self.clock: Callable[[], float] = time.time
        self._digests: dict[int, str] = {}
        self._waiting: dict[int, WaitingCall] = {}
        self._answers: dict[int, tuple[ApprovalAnswer, str, str]] = {}

    @property
    def waiting(self) -> dict[int, str]:
        """The waiting steps, and what each would do."""
        return {step: call.what for step, call in self._waiting.items()}

    @property
    def next_waiting(self) -> str | None:
        """What the longest-waiting step would do."""
        return next(iter(self.waiting.values()), None)

    def call(self, step: int) -> WaitingCall | None:
        """The call that is waiting at a step."""
        return self._waiting.get(step)

    def remember(self, step: Step) -> bool:
        """Remember a call before redaction; returns whether it differs from the previous one of this step.

        An agent whose connection broke may reuse a number for a different call.
        """
        digest = call_digest(step)
        before = self._digests.pop(step.index, digest)
        self._digests[step.index] = digest
        while len(self._digests) > REMEMBERED:
            del self._digests[next(iter(self._digests))]
        return before != digest

    def check(self, step: Step, review: Review | None) -> Decision | None:
        """Hold until a person answers, deny if they rejected it; None if the step may continue."""
        action = review.action if review is not None else "unknown"
        if action in self.removed:
            return Decision("deny", reason=f"This run was continued without dangerous tools: {action} is blocked.")
        asked = review is not None and review.ask
        if not asked and (not self.needed or action == "read"):
            return None
        answer = self._answer_to(step)
        if answer is None:
            why = f": {review.reason}" if asked and review is not None else ""
            return Decision("hold", reason=f"step {step.index} needs approval{why}")
        said, why = answer
        if said == "approved":
            return None
        if why == EXPIRED:
            return Decision("deny", reason=why)
        return Decision("deny", reason=f"{REJECTED}{f': {why}' if why else '.'}")

    def has_approved(self, step: Step) -> bool:
        """Whether a person has approved the step."""
        answer = self._answers.get(step.index)
        return answer is not None and answer[0] == "approved"

    def answer(self, step: int, said: ApprovalAnswer, reason: str = "", digest: str | None = None) -> str:
        """Record a person's answer to a call (the one with this digest, if given); returns what the call would do."""
        call = self._waiting.get(step)
        if call is None:
            known = ", ".join(str(index) for index in self._waiting) or "none"
            raise InvalidState(f"step {step} does not need approval", todo=f"Waiting: {known}")
        if digest and digest != call.digest:
            raise InvalidState(CHANGED.format(step=step))
        if self.clock() > call.until:
            raise InvalidState(f"the approval request for step {step} has expired", todo="The call is blocked.")
        self._answers[step] = (said, reason, call.digest)
        del self._waiting[step]
        return call.what

    def withdraw(self, step: int) -> bool:
        """Stop waiting for an answer to a step; returns whether it waited."""
        return self._waiting.pop(step, None) is not None

    def _answer_to(self, step: Step) -> tuple[ApprovalAnswer, str] | None:
        """The answer to exactly this call; None if it is still waiting."""
        digest = self._digests.get(step.index) or call_digest(step)
        answer = self._answers.get(step.index)
        if answer is not None and answer[2] == digest:
            return answer[:2]
        self._answers.pop(step.index, None)
        call = self._waiting.get(step.index)
        if call is None or call.digest != digest:
            self._waiting[step.index] = WaitingCall(describe(step), digest, self.clock() + self.hours * HOUR)
        elif self.clock() > call.until:
            del self._waiting[step.index]
            self._answers[step.index] = ("rejected", EXPIRED, digest)
            return "rejected", EXPIRED
        return None


CHANGED = "the call of step {step} has changed since you were asked. Review it again"
REJECTED = "A person rejected this step"
EXPIRED = "This step was not approved in time and is blocked. Continue without it, or try again later."


def call_digest(step: Step) -> str:
    """A digest of exactly what a call does: its tool and its arguments."""
    tool = step.tool
    body = (tool.name, tool.arguments) if tool is not None else ("", step.content)
    try:
        data = msgspec.json.encode(body, order="deterministic")
    except (TypeError, ValueError, RecursionError):
        # Values that JSON does not have: names of files that are not UTF-8, objects, numbers as keys.
        data = repr(body).encode("utf-8", "backslashreplace")
    return sha256(data).hexdigest()[:16]


def describe(step: Step) -> str:
    """One line about what a step would do: the command itself, other arguments quoted."""
    if step.tool is None:
        return one_line(step.content, CONTENT_SHOWN)
    arguments = dict(step.tool.arguments)
    key = next((key for key in COMMANDS if isinstance(arguments.get(key), str | list | tuple) and arguments[key]), "")
    said = arguments.pop(key) if key else ""
    command = shlex.join(str(word) for word in said) if isinstance(said, list | tuple) else str(said)
    others = [f"{name}={_quote(value)}" for name, value in arguments.items()]
    if command:
        others = [f"({', '.join(others)})"] if others else []
    return one_line(" ".join([step.tool.name, *filter(None, [command]), *others]), CALL_SHOWN)


COMMANDS = ("command", "cmd")
"""Arguments that contain a whole command line."""

CONTENT_SHOWN = 200
CALL_SHOWN = 400


def one_line(text: str, shown: int) -> str:
    """The text on one line, without control characters, which could hide part of it; says how much is omitted."""
    more = f" … and {len(text) - shown:,} more characters" if len(text) > shown else ""
    line = text[:shown].replace("\r\n", " ⏎ ").replace("\n", " ⏎ ")
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line) + more


def _quote(value: object) -> str:
    return shlex.quote(value) if isinstance(value, str) else msgspec.json.encode(value).decode()
