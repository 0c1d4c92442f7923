"""PipelineState: the stored state of a decision pipeline."""

from __future__ import annotations

from msgspec import Struct

from ..core import Issue, RunState
from ..decide import ControllerState
from .pipeline_values import StepClock


class PipelineState(Struct):
    """Everything that later decisions depend on."""

    controller: ControllerState
    clock: StepClock
    run: RunState
    ledger: bytes
    meter: bytes
    reviewer: bytes
    detectors: bytes
    marks: dict[str, bytes]
    throttled_for: set[str] = set()
    model: str | None = None
    proof: bytes = b""
    raised: list[Issue] = []
