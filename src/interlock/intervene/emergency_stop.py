"""Emergency stop: stop first; the incident, the report and the options follow. Pause: used if the stop is disabled."""

from __future__ import annotations

from ..config import Interventions
from ..core import Hold, Issue, Notify, RunState, Stop
from .incident import make_incident, make_plan
from .message import one_line
from .options import recovery_options
from .outcome import RecoveryNeeded, Stopped
from .report import make_report

NAME = "emergency_stop"


def emergency_stop(issue: Issue, state: RunState, config: Interventions, now: float) -> Stopped:
    """End the run. Works even with an empty state; the runtime saves, reports and notifies on a best-effort basis."""
    incident = make_incident(issue, state, now)
    report = make_report(incident, state)
    return Stopped(
        issue=incident.issue,
        incident_id=incident.id,
        report=report,
        incident=incident,
        recovery_options=recovery_options(incident.id, issue, state, config.checkpoint_rollback, now),
        log=report.summary,
        directives=(
            Stop(NAME, incident_id=incident.id),
            Notify(f"Emergency stop of run {state.run_id or 'unknown'}", report.summary, level="critical"),
        ),
    )


def pause_for_person(issue: Issue, state: RunState, now: float, why: str) -> RecoveryNeeded:
    """Block everything until a person decides, and list the options."""
    text = f"{why}: {one_line(issue.description or issue.type)}"
    return RecoveryNeeded(
        state=state,
        plan=make_plan(issue, state, now, why),
        log=f"paused for a person: {why}",
        directives=(Hold(text, kind="pause"), Notify(f"Run {state.run_id} needs a person", text, level="warning")),
    )
