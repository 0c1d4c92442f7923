"""Launch: everything needed to run a command."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from ...config import Config
from ...core import Context, RunSpec
from ..hooks.wiring import Wiring
from ..proxy import Proxied

StepSource = Literal["auto", "stdout", "off"]
"""Source of the steps of a command without hooks: its socket and, if its first line is a step, its output
(`auto`); its output (`stdout`); its socket only (`off`)."""


class Launch(Struct, frozen=True, kw_only=True):
    """Everything needed to start a run."""

    spec: RunSpec
    config: Config
    context: Context
    store: Path
    needs_approval: bool = False
    removed_actions: tuple[str, ...] = ()
    wiring: Wiring | None = None
    proxied: Proxied | None = None
    steps: StepSource = "auto"
