"""Directive: what a decision asks of the outside. The runtime carries it out through the adapter."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .limits import Limits
from .message import Message


class Inject(Struct, frozen=True, tag_field="do", tag="inject"):
    """Put a message into the conversation at the next place where the provider accepts one."""

    message: Message


class SetLimits(Struct, frozen=True, tag_field="do", tag="set_limits"):
    """Hold the run to these limits from now on; those named in `windowed` count per `window_s`, not per run."""

    limits: Limits
    reason: str = ""
    windowed: tuple[str, ...] = ()
    window_s: float = 60.0


class Delay(Struct, frozen=True, tag_field="do", tag="delay"):
    """Wait before the next call."""

    seconds: float
    reason: str = ""


class Deny(Struct, frozen=True, tag_field="do", tag="deny"):
    """Refuse this call and say what to do instead."""

    reason: str
    instead: str = ""


class Rewrite(Struct, frozen=True, tag_field="do", tag="rewrite"):
    """Run the call with these arguments instead."""

    arguments: dict[str, object]
    reason: str = ""


class Hold(Struct, frozen=True, tag_field="do", tag="hold"):
    """Let nothing through until a person says so, or `until` the time when a parked run resumes by itself."""

    reason: str
    kind: Literal["pause", "approval", "recovery", "limit", "parked"] = "pause"
    until: float = 0.0


class Defer(Struct, frozen=True, tag_field="do", tag="defer"):
    """End the process now and take this very call up again later."""

    reason: str


class Restore(Struct, frozen=True, tag_field="do", tag="restore"):
    """Take files, conversation and context back to a checkpoint."""

    checkpoint_id: str
    paths: tuple[str, ...] = ()
    reason: str = ""


class Stop(Struct, frozen=True, tag_field="do", tag="stop"):
    """End the run now."""

    reason: str
    incident_id: str | None = None


class Notify(Struct, frozen=True, tag_field="do", tag="notify"):
    """Tell people."""

    title: str
    text: str
    level: Literal["info", "warning", "critical"] = "warning"


class SwitchModel(Struct, frozen=True, tag_field="do", tag="switch_model"):
    """Continue with another model."""

    model: str
    reason: str = ""


Directive = Inject | SetLimits | Delay | Deny | Rewrite | Hold | Defer | Restore | Stop | Notify | SwitchModel
