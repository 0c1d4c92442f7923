"""Review: the verdict on a step; Decision: whether it may continue; Directive: an order that follows; Message."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from .limits import Limits
from .step import Step


class MessageMeta(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Why a message was injected. Never shown to the model unless an adapter has nowhere else to put it."""

    intervention: str
    issue: str
    time: float
    run_id: str
    step: int
    type: str = "intervention"
    limits: Limits | None = None
    checkpoint_id: str | None = None


class Message(Struct, frozen=True, omit_defaults=True):
    """One message to the agent; each adapter gives it the role that its provider accepts."""

    content: str
    meta: MessageMeta | None = None


DecisionAction = Literal["proceed", "deny", "rewrite", "hold", "defer", "stop"]


class Decision(Struct, frozen=True, omit_defaults=True):
    """What the adapter does with the step.

    `delay_s` is waited before proceeding; `arguments` replace the call's on rewrite; `messages` go to the agent.
    """

    action: DecisionAction = "proceed"
    messages: tuple[Message, ...] = ()
    delay_s: float = 0.0
    arguments: dict[str, object] | None = None
    model: str | None = None
    reason: str = ""


PROCEED = Decision()


class Inject(Struct, frozen=True, tag_field="do", tag="inject"):
    """Add a message to the conversation at the next point where the provider accepts one."""

    message: Message


class SetLimits(Struct, frozen=True, tag_field="do", tag="set_limits"):
    """Enforce these limits from now on; those in `windowed` count per `window_s`, not per run."""

    limits: Limits
    reason: str = ""
    windowed: tuple[str, ...] = ()
    window_s: float = 60.0


class Delay(Struct, frozen=True, tag_field="do", tag="delay"):
    """Wait before the next call."""

    seconds: float
    reason: str = ""


class Deny(Struct, frozen=True, tag_field="do", tag="deny"):
    """Block this call and say what to do instead."""

    reason: str
    instead: str = ""


class Rewrite(Struct, frozen=True, tag_field="do", tag="rewrite"):
    """Run the call with these arguments instead."""

    arguments: dict[str, object]
    reason: str = ""


class Hold(Struct, frozen=True, tag_field="do", tag="hold"):
    """Block every call until a person resumes the run, or `until` a parked run resumes by itself."""

    reason: str
    kind: Literal["pause", "approval", "recovery", "limit", "parked"] = "pause"
    until: float = 0.0


class Defer(Struct, frozen=True, tag_field="do", tag="defer"):
    """End the process now and repeat exactly this call later."""

    reason: str


class Restore(Struct, frozen=True, tag_field="do", tag="restore"):
    """Restore files, conversation and context to a checkpoint."""

    checkpoint_id: str
    paths: tuple[str, ...] = ()
    reason: str = ""


class Stop(Struct, frozen=True, tag_field="do", tag="stop"):
    """End the run now."""

    reason: str
    incident_id: str | None = None


class Notify(Struct, frozen=True, tag_field="do", tag="notify"):
    """Notify people."""

    title: str
    text: str
    level: Literal["info", "warning", "critical"] = "warning"


class SwitchModel(Struct, frozen=True, tag_field="do", tag="switch_model"):
    """Continue with another model."""

    model: str
    reason: str = ""


Directive = Inject | SetLimits | Delay | Deny | Rewrite | Hold | Defer | Restore | Stop | Notify | SwitchModel


Verdict = Literal["allow", "warn", "modify", "block"]
Level = Literal["low", "medium", "high", "critical"]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From the mildest to the strictest: the strictest rule wins."""


class Review(Struct, frozen=True, omit_defaults=True):
    """A verdict, its reasons, and what to do instead.

    `rewrite` holds the tool's arguments in a safe form where one is known; `action` is the strongest effect of the
    step: read, create, modify, network, delete, unknown or unparsable. With `ask` the call waits for a person; the
    verdict holds if no person can be asked.
    """

    verdict: Verdict
    risk: float = 0.0
    rationality: float = 1.0
    rules: tuple[str, ...] = ()
    reason: str = ""
    instead: str = ""
    rewrite: dict[str, object] | None = None
    action: str = ""
    ask: bool = False


class Seen(Struct, frozen=True):
    """What a detector observes: a step and the review that it got, if any.

    `absent` are the files that it claims to have written and that are not on the disk; None if that was not checked.
    `refused`: the step stands for the result of a call that Interlock did not let run. Only a detector that sets
    `refusals` sees it: what Interlock refuses is not the agent's failure.
    """

    step: Step
    review: Review | None = None
    absent: tuple[str, ...] | None = None
    refused: bool = False
