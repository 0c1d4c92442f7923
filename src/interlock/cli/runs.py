"""What the commands on runs share: the store, and how a run is shown."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..config import Config, load_anyway
from ..journal import RunSummary, Store
from .output import say_error

if TYPE_CHECKING:
    from ..link import HubClient

STATUS = {
    "running": "green",
    "pausing": "yellow",
    "paused": "yellow",
    "done": "dim",
    "limit": "yellow",
    "aborted": "red",
    "failed": "red",
    "killed": "red",
    "stopped": "red",
    "unreadable": "red",
    "lost": "red",
    "unknown": "red",
}


def the_store(config: Config | None = None) -> Store:
    """The store of the configuration in force."""
    # Not by way of runtime, whose import takes longer than what these commands do.
    place = (config or load_anyway(say_error)).store.dir
    return Store(Path(place).expanduser() if place else None)


def open_hub(url: str) -> HubClient:
    """A connection to the hub at this address, with the credentials of the configuration."""
    from msgspec.structs import replace

    from ..config import load
    from ..link import HubClient

    return HubClient(replace(load().hub, url=url))


def shown_status(run: RunSummary) -> str:
    """How the run is, or why it ended; a live one without an owner is `lost`, for nobody supervises it."""
    return run.outcome


def shown_run(run: RunSummary) -> dict[str, object]:
    """A run for machines, in the words that people see."""
    return {**msgspec.to_builtins(run), "status": run.shown, "outcome": run.outcome}


def style_of(status: str) -> str:
    """The colour of a status or of an outcome."""
    return STATUS.get(status) or STATUS.get(status.partition(" ")[0], "yellow")


def moment(time: float) -> str:
    """A time for people."""
    return datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M") if time else ""
