"""Launch: everything that makes a run of a command."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from ...config import Config
from ...core import Context, RunSpec
from ..hooks.wiring import Wiring
from ..proxy import Proxied

StepSource = Literal["auto", "stdout", "off"]
"""Where the steps of a command without hooks come from: its socket and, if its first line is a step, what it prints
(`auto`); all that it prints (`stdout`); its socket alone (`off`)."""


class Launch(Struct, frozen=True, kw_only=True):
    """Everything that makes a run."""

    spec: RunSpec
    config: Config
    context: Context
    store: Path
    needs_approval: bool = False
    removed_actions: tuple[str, ...] = ()
    wiring: Wiring | None = None
    proxied: Proxied | None = None
    steps: StepSource = "auto"
