"""RunSpec: what a run is; status: how it is."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Status = Literal["running", "pausing", "paused", "done", "aborted"]

AGENT, SIGNAL = "the agent", "a signal"
"""Who can cancel a run and is not a person: a process of the run itself, and whoever ended its front by a signal."""

ENDED: frozenset[Status] = frozenset(("done", "aborted"))


class RunSpec(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Everything needed to know, show and start a run again."""

    run_id: str
    name: str = ""
    task: str = ""
    workspace: str | None = None
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    adapter: str = "direct"
    session_id: str | None = None
    continues: str | None = None
    model: str | None = None
    issue_id: str | None = None
    labels: tuple[str, ...] = ()
