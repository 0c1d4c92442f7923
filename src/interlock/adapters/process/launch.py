"""Launch: everything that makes a run of a command."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ...config import Config
from ...core import Context, RunSpec
from ..hooks.wiring import Wiring
from ..proxy import Proxied


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
