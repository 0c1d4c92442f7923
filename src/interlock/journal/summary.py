"""RunSummary: one run in one row, kept up to date so that a list of runs need not read their records."""

from __future__ import annotations

import signal
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from ..core import AGENT, SIGNAL, Ending, Liveness, RunSpec, Status

SummaryStatus = Status | Literal["unreadable"]

TASK_LENGTH = 300
"""Characters of a task that a list may need; the run's spec has all of it."""


REASONS = {
    "EMERGENCY_STOP": "stopped by Interlock",
    "USER_CANCELLED": "cancelled by you",
    "ERROR": "ended with an error",
    "CRITICAL_FAILURE": "failed",
    "MAX_ITERATIONS": "ended by a limit",
    "STUCK": "ended because it was stuck",
    "UNPROVEN": "ended without proof",
    "MAX_ISSUES": "ended after too many issues",
}
"""Why a run ended, in words, if it did not simply complete."""


WHOLE = ("proven", "done", "unproven", "contradicted", "broken", "refused")
"""The endings that say all that a list needs; for others it is who or what ended the run."""

STALE = ({"working", "paused"}, {"paused", "running"})
"""What a run does and its status, where one is older than the other."""

SHORT = {"ERROR": "failed", "STUCK": "stuck", "UNPROVEN": "unproven", "MAX_ISSUES": "too many issues"}
"""The same in a word or two."""


CONTRADICTS: dict[str, tuple[str, ...]] = {
    "running": ("paused",),
    "pausing": ("paused",),
    "paused": ("working", "waiting for the model", "waiting for a tool"),
}
"""What a run of this status cannot be doing."""


class RunSummary(Struct, frozen=True, kw_only=True):
    """What lists show of a run.

    `owner_pid` is the process that owns the run now, or None. `problem` says why a run cannot be read, `reason` why it
    has ended, as a reason of the protocol, `ending` how it ended. `stuck` says what it is stuck on now and how the
    newest intervention went: empty if every episode is over, None if issues have no episodes. `tampering` says how
    supervision was tampered with last, `unstopped` which processes the last pause or end did not reach.
    `unpriced_tokens` are not in `cost_usd`: their price is unknown. `liveness` is what the run was doing when its owner
    checked last: see `doing`. `exit_status` is the command's, negative for a signal. `cancelled_by` requested the end.
    Without a task, `task` is the command.
    """

    run_id: str
    name: str = ""
    task: str = ""
    status: SummaryStatus = "running"
    iter: int = 0
    max: int | None = None
    model: str | None = None
    adapter: str = ""
    workspace: str | None = None
    started: float = 0.0
    updated: float = 0.0
    ended: float | None = None
    steps: int = 0
    issues: int = 0
    interventions: int = 0
    last_issue: str | None = None
    stuck: str | None = None
    cost_usd: float = 0.0
    tokens: int = 0
    unpriced_tokens: int = 0
    max_cost_usd: float | None = None
    waiting: str | None = None
    owner_pid: int | None = None
    problem: str | None = None
    reason: str | None = None
    tampering: str | None = None
    liveness: Liveness | None = None
    exit_status: int | None = None
    cancelled_by: str | None = None
    unstopped: str | None = None
    ending: Ending | None = None

    def __post_init__(self) -> None:
        if len(self.task) > TASK_LENGTH:
            force_setattr(self, "task", self.task[: TASK_LENGTH - 1] + "…")
        # The owner checks what a run is doing from time to time: until then, its new status has the last word.
        if self.liveness is not None and self.liveness.word in CONTRADICTS.get(self.status, ()):
            force_setattr(self, "liveness", None)

    @classmethod
    def of(cls, spec: RunSpec, now: float) -> RunSummary:
        """The summary of a run that starts now."""
        return cls(
            run_id=spec.run_id,
            name=spec.name,
            task=spec.task or _command(spec),
            model=spec.model,
            adapter=spec.adapter,
            workspace=spec.workspace,
            started=now,
            updated=now,
        )

    @property
    def shown(self) -> str:
        """The status for people: a live run without an owner is `lost`, one that a limit ended `limit`."""
        if self.status in ("running", "pausing") and self.owner_pid is None:
            return "lost"
        return "limit" if self.status == "done" and self.reason == "MAX_ITERATIONS" else self.status

    @property
    def doing(self) -> Liveness | None:
        """The run's liveness; None if it is unknown: the run has ended, its owner is gone, or it was just paused."""
        if self.ended is not None or self.shown in ("lost", "unreadable"):
            return None
        if self.liveness is not None and {self.liveness.word, self.status} in STALE:
            return None
        return self.liveness

    @property
    def ended_by(self) -> str:
        """Who or what ended the run; empty while it continues, and if it ended by itself."""
        if self.ended is None:
            return ""
        if self.reason == "ERROR" and self.exit_status:
            return exit_words(self.exit_status)
        if self.reason == "USER_CANCELLED" and self.cancelled_by is not None:
            if self.cancelled_by.startswith(AGENT):
                return "cancelled by the agent"
            if self.cancelled_by.endswith(SIGNAL):
                return "terminated"
        return REASONS.get(self.reason or "", "")

    @property
    def outcome(self) -> str:
        """A word or two for the run's state or how it ended: `running`, `proven`, `failed (7)`, `cancelled by you`."""
        if self.ending in WHOLE:
            return self.ending
        if self.shown == "limit" or not self.ended_by:
            return self.shown
        if self.reason == "ERROR" and self.exit_status:
            return self.ended_by
        return SHORT.get(self.reason or "", self.ended_by)


def exit_words(status: int) -> str:
    """An exit status of a failed command in words; negative for a signal."""
    if status == -signal.SIGINT:
        return "interrupted"
    if status < 0:
        try:
            return f"killed ({signal.Signals(-status).name})"
        except ValueError:
            return f"killed (signal {-status})"
    return f"failed ({status})"


def _command(spec: RunSpec) -> str:
    import shlex

    from ..redact import one_line, redact_argv

    return one_line(shlex.join(redact_argv(spec.argv)), TASK_LENGTH) if spec.argv else ""
