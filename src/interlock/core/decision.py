"""Decision: the answer to "may this step continue?", as a value that the adapter acts on."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .message import Message

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
