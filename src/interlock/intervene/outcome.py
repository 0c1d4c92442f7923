"""The outcome of an intervention: Continue, RecoveryNeeded or Stopped."""

from __future__ import annotations

from msgspec import Struct

from ..core import Directive, Issue, Plan, RollbackEntry, RunState
from .incident import Incident
from .options import RecoveryOption
from .report import IncidentReport


class Continue(Struct, frozen=True, tag_field="gives", tag="continue", kw_only=True, omit_defaults=True):
    """The run continues in this state."""

    state: RunState
    log: str
    directives: tuple[Directive, ...] = ()
    history: tuple[RollbackEntry, ...] = ()


class RecoveryNeeded(Struct, frozen=True, tag_field="gives", tag="recovery_needed", kw_only=True, omit_defaults=True):
    """The run needs a person: it waits until someone carries out the plan."""

    state: RunState
    plan: Plan
    log: str
    directives: tuple[Directive, ...] = ()


class Stopped(Struct, frozen=True, tag_field="gives", tag="stop", kw_only=True, omit_defaults=True):
    """The run ends now, with a report and four options. The first directive is the stop itself."""

    issue: Issue
    incident_id: str
    report: IncidentReport
    incident: Incident
    recovery_options: tuple[RecoveryOption, ...]
    log: str
    directives: tuple[Directive, ...]
    reason: str = "emergency_stop"


InterventionResponse = Continue | RecoveryNeeded | Stopped
