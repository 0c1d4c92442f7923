"""IncidentReport: what a person reads after an emergency stop."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from ..core import Issue, Outcome, RunState, Spend
from .advice import advice_for
from .incident import Incident
from .templates import growth_of, usage_of

TIMELINE = 30
"""Maximum number of timeline entries; the incident and the journal have more."""


OUTCOMES: dict[Outcome, str] = {
    "success": "worked",
    "failure": "did not work",
    "pending": "(effect not known yet)",
    "not_judged": "(no effect can be told)",
    "held_back": "was postponed",
    "not_applied": "could not be applied",
}


class TimelineEntry(Struct, frozen=True, omit_defaults=True):
    """One entry of the timeline."""

    step: int
    text: str
    time: float | None = None


class Impact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The files and resources that the run used; `duration_s` is None if its start is unknown."""

    files: tuple[str, ...] = ()
    file_operations: int = 0
    resources: Spend = Spend()
    duration_s: float | None = None


class Recommendations(Struct, frozen=True, kw_only=True):
    """What to do now, how to prevent it, and what to configure."""

    immediate: tuple[str, ...]
    preventive: tuple[str, ...]
    configuration: tuple[str, ...]


class IncidentReport(Struct, frozen=True, kw_only=True):
    """The report on an emergency stop."""

    incident_id: str
    run_id: str
    time: float
    summary: str
    severity: str
    timeline: tuple[TimelineEntry, ...]
    impact: Impact
    root_cause: str
    contributing_factors: tuple[str, ...]
    recommendations: Recommendations

    def to_text(self) -> str:
        """The report as plain text."""
        return "\n".join(_text_lines(self)) + "\n"


def make_report(incident: Incident, state: RunState) -> IncidentReport:
    """The report of an incident, from whatever is known."""
    issue, advice = incident.issue, advice_for(incident.issue)
    return IncidentReport(
        incident_id=incident.id,
        run_id=incident.run_id,
        time=incident.time,
        summary=f"The run was stopped at step {max(state.step, issue.step)}: {issue.description or issue.type}",
        severity=severity_of(issue),
        timeline=timeline(incident, state),
        impact=Impact(
            files=files_of(issue),
            file_operations=state.spend.file_operations,
            resources=state.spend,
            duration_s=None if state.started is None else max(0.0, incident.time - state.started),
        ),
        root_cause=f"{issue.type}: {advice.cause}",
        contributing_factors=contributing_factors(incident, state),
        recommendations=Recommendations(
            immediate=advice.immediate, preventive=advice.preventive, configuration=advice.configuration
        ),
    )


def timeline(incident: Incident, state: RunState) -> tuple[TimelineEntry, ...]:
    """Issues, interventions and failed actions in the order of steps, ending with the stop."""
    moments = [TimelineEntry(known.step, f"{known.type}: {known.description}") for known in incident.patterns]
    moments += [
        TimelineEntry(made.step, f"{made.type} {OUTCOMES[made.outcome]}", made.time) for made in state.interventions
    ]
    moments += [TimelineEntry(action.step, action.text, action.time) for action in incident.actions if action.error]
    if incident.issue.began < incident.issue.step:
        moments.append(TimelineEntry(incident.issue.began, f"{incident.issue.type} began here"))
    moments.sort(key=lambda moment: moment.step)
    stop = TimelineEntry(max(state.step, incident.issue.step), "emergency_stop", incident.time)
    return (*moments[-TIMELINE + 1 :], stop)


def contributing_factors(incident: Incident, state: RunState) -> tuple[str, ...]:
    """What made the issue worse, according to the state."""
    factors = []
    others = sorted({known.type for known in incident.patterns} - {incident.issue.type})
    if others:
        factors.append(f"Other patterns were seen too: {', '.join(others)}")
    failed = [made for made in state.interventions if made.outcome == "failure"]
    if failed:
        factors.append(f"{_many(len(failed), 'earlier intervention')} did not work")
    errors = sum(1 for action in incident.actions if action.error)
    if errors:
        factors.append(f"{errors} of the last {len(incident.actions)} actions failed")
    if growth := growth_of(state):
        factors.append(f"Resource use grew: {growth}")
    if state.throttled:
        factors.append("The run had been throttled before")
    if state.rollbacks:
        factors.append(f"The run had been rolled back {_many(state.rollbacks, 'time')}")
    return tuple(factors)


def severity_of(issue: Issue) -> str:
    """The severity; for a blocked call, of the harm that it would have done."""
    return issue.severity or "medium"


NAMING_FILES = (
    "path", "file", "file_path", "paths", "files", "outside_path", "out_of_scope_path", "outside", "deleted", "written",
)  # fmt: skip
"""Details of an issue that name files."""

MOST_FILES = 50


def files_of(issue: Issue) -> tuple[str, ...]:
    """The files that the issue names."""
    found: list[str] = []
    for key in NAMING_FILES:
        value = issue.details.get(key)
        values = value if isinstance(value, list | tuple) else (value,)
        found += [item for item in values if isinstance(item, str) and item]
    return tuple(dict.fromkeys(found))[:MOST_FILES]


def with_files(report: IncidentReport, changed: Iterable[str]) -> IncidentReport:
    """The report with the files that the run changed, in addition to those that the issue names."""
    files = tuple(dict.fromkeys((*report.impact.files, *changed)))[:MOST_FILES]
    return replace(report, impact=replace(report.impact, files=files))


def _text_lines(report: IncidentReport) -> list[str]:
    impact = report.impact
    duration = "unknown" if impact.duration_s is None else f"{impact.duration_s:,.0f} s"
    lines = [
        f"Emergency stop {report.incident_id}",
        "",
        f"Summary: {report.summary}",
        f"Severity: {report.severity}",
        f"Run: {report.run_id or 'unknown'}",
        f"Time: {_clock(report.time)}",
        "",
        "Timeline:",
        *(f"  step {m.step}{f' at {_clock(m.time)}' if m.time is not None else ''}: {m.text}" for m in report.timeline),
        "",
        "Impact:",
        f"  files: {', '.join(impact.files) or 'none named'} ({impact.file_operations:,} file operations)",
        f"  resources: {usage_of(impact.resources) or 'nothing measured'}",
        f"  duration: {duration}",
        "",
        f"Root cause: {report.root_cause}",
        "Contributing factors:",
        *(_items(report.contributing_factors)),
        "",
    ]
    for title, items in (
        ("immediate", report.recommendations.immediate),
        ("preventive", report.recommendations.preventive),
        ("configuration", report.recommendations.configuration),
    ):
        lines += [f"Recommendations, {title}:", *_items(items)]
    return lines


def _items(items: tuple[str, ...]) -> list[str]:
    return [f"  - {item}" for item in items] or ["  - none known"]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _clock(time: float) -> str:
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return f"{time}"
