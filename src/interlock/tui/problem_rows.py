"""A run's problems and requests, as rows and in full; and its incident in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ..core import Issue
from ..link import SentRequest
from ..report import ControlCommand, Problem, Tried
from .line import Line, Piece, fit, flat, severity_style, spread
from .pager import text_lines
from .words import clock_time, date_time, span

if TYPE_CHECKING:
    from ..runtime import StoredIncident


SIGNS = {"worked": ("✓", "good"), "did not work": ("✗", "bad"), "not applied": ("–", "dim"), "postponed": ("…", "dim")}
"""The outcome of an intervention; others are pending, or ended the run."""


def problem_heading(width: int) -> Line:
    return ((fit("STEP", 6, right=True), ""), (fit("  STUCK ON", 34), ""), (fit("ACHIEVED", 24), ""), ("TRIED", ""))


def draw_problem(problem: Problem | Issue, width: int) -> Line:
    """One row."""
    style = severity_style(problem.severity)
    if isinstance(problem, Issue):
        name, achieved, step = problem.type.replace("_", " "), str(problem.severity or "medium"), problem.step
        rest: tuple[Piece, ...] = ((flat(problem.description), ""),)
    else:
        name, achieved, step, rest = problem.what, problem.achieved, problem.opened_step, _tried(problem.tried)
    return (
        (fit(str(step), 6, right=True), "dim"),
        (fit(f"  {flat(name, 60)}", 32) + "  ", f"{style}!"),
        (fit(flat(achieved, 23), 24), _achieved_style(problem)),
        *rest,
    )


def draw_briefly(problem: Problem | Issue, width: int) -> Line:
    """One row in the side panel."""
    style = severity_style(problem.severity)
    if isinstance(problem, Issue):
        name, note = problem.type.replace("_", " "), f"{problem.severity or 'medium'} @{problem.step}"
    else:
        name, note = problem.what, problem.achieved.partition(":")[0]
    return spread(((f"! {flat(name, 60)}", style),), ((f" {note}", _achieved_style(problem)),), width)


def problem_lines(problem: Problem | Issue, width: int) -> list[Line]:
    """Everything known about a problem."""
    if isinstance(problem, Issue):
        return _issue_lines(problem, width)
    until = f", for {span((problem.closed_at or problem.updated_at) - problem.opened_at)}"
    lines: list[Line] = [
        ((flat(problem.what), f"{severity_style(problem.severity)}!"), (f"  {problem.severity}", "")),
        (("type     ", "dim"), (problem.type.replace("_", " "), "")),
        (("since    ", "dim"), (f"step {problem.opened_step}, {date_time(problem.opened_at)}{until}", "")),
        (("achieved ", "dim"), (problem.achieved, _achieved_style(problem))),
        (("cost     ", "dim"), (problem.cost, "")),
        (("mute it  ", "dim"), (f"interlock mute {flat(problem.issue_id)}", "")),
    ]
    if problem.agent:
        lines.append((("agent    ", "dim"), (flat(problem.agent), "")))
    if problem.place:
        lines.append((("place    ", "dim"), (flat(problem.place), "")))
    if problem.relapses:
        lines.append((("came back", "dim"), (f" {problem.relapses}×", "")))
    lines += [(), *text_lines(problem.description, width, "strong"), (), (("tried", "link"),)]
    for each in problem.tried:
        sign, style = SIGNS.get(each.outcome, ("→", ""))
        lines.append(((fit(str(each.step), 6, right=True), "dim"), (f"  {sign} {each.name}: {each.outcome}", style)))
        lines += [((" " * 10, ""), *line) for line in text_lines(each.reason, width - 10)] if each.reason else []
    return lines if problem.tried else [*lines, (("nothing", "dim"),)]


def _tried(tried: tuple[Tried, ...]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for each in tried:
        sign, style = SIGNS.get(each.outcome, ("", ""))
        pieces.append((f"{each.name}{sign and ' '}{sign}  ", style))
    return tuple(pieces)


def _achieved_style(problem: Problem | Issue) -> str:
    if isinstance(problem, Issue):
        return severity_style(problem.severity)
    return "warn" if problem.open else "good" if problem.worked else ""


def _issue_lines(issue: Issue, width: int) -> list[Line]:
    sure = f"{issue.confidence:.0%}" if issue.confidence is not None else "not given"
    since = f", since step {issue.started_step}" if issue.started_step is not None else ""
    lines: list[Line] = [
        ((issue.type.replace("_", " "), f"{severity_style(issue.severity)}!"), (f"  {issue.severity or 'medium'}", "")),
        (("found at ", "dim"), (f"step {issue.step}{since}", "")),
        (("sure     ", "dim"), (sure, "")),
        (("mute it  ", "dim"), (f"interlock mute {flat(issue.id)}", "")),
        (),
        *text_lines(issue.description, width, "strong"),
    ]
    if issue.evidence:
        lines += [(), (("evidence", "link"),), *text_lines("steps " + ", ".join(map(str, issue.evidence)), width)]
    for name, value in issue.details.items():
        lines += [(), ((flat(name.replace("_", " ")), "link"),), *text_lines(str(value), width)]
    return lines


def incident_lines(stored: StoredIncident, width: int) -> list[Line]:
    """The options with their commands, then the report."""
    lines: list[Line] = []
    if stored.status != "open":
        by = f", as run {stored.continued_by}" if stored.continued_by else ""
        lines += [((f"Settled: {stored.option}{by}.", "good"),), ()]
    else:
        lines += [(("OPTIONS", "link!"), ("  in a terminal: the agent continues where you start it", "dim"))]
        for option in stored.options:
            mark, style = ("•", "strong") if option.applicable else ("✗", "dim")
            lines += [((f" {mark} {option.name}", style),)]
            lines += text_lines(option.description, width, indent="   ")
            said = option.command if option.applicable else f"not possible: {option.reason}"
            lines += text_lines(said, width, "link" if option.applicable else "dim", indent="   ")
        lines += [()]
    return [*lines, (("REPORT", "link!"),), *text_lines(stored.report.to_text(), width)]


OUTCOMES = {
    "sent": ("…", "warn"),
    "pending": ("…", "warn"),
    "success": ("✓", "good"),
    "failure": ("✗", "bad"),
    "unknown": ("?", "level3"),
}


class ControlEntry(Struct, frozen=True, kw_only=True):
    """A request as it is shown: who sent it when, whether it was acknowledged, and the reply."""

    request_id: str
    command: str
    when: float
    actor: str = ""
    reason: str = ""
    acked: float | None = None
    answered: float | None = None
    outcome: str = "pending"
    message: str = ""


def gather(controls: Iterable[ControlCommand], ours: Sequence[SentRequest], *, owned: bool) -> list[ControlEntry]:
    """The journal's requests and ours that it does not have yet, newest first."""
    mine = {sent.request_id: sent for sent in ours}
    entries = [_entry(control, mine.pop(control.request_id, None), owned=owned) for control in controls]
    entries += [_unheard(sent) for sent in mine.values()]
    return sorted(entries, key=lambda entry: entry.when, reverse=True)


def control_heading(width: int) -> Line:
    return (
        (fit("TIME", 10), ""),
        (fit("COMMAND", 11), ""),
        (fit("ACK", 10), ""),
        (fit("RESULT", 12), ""),
        ("MESSAGE", ""),
    )


def draw_control(entry: ControlEntry, width: int) -> Line:
    sign, style = OUTCOMES[entry.outcome]
    ack: Piece = (clock_time(entry.acked), "") if entry.acked else ("–" if entry.outcome != "sent" else "sent", "dim")
    result = clock_time(entry.answered) if entry.answered else "unknown" if entry.outcome == "unknown" else "waiting"
    words = "  ".join(filter(None, (entry.message, f"“{entry.reason}”" if entry.reason else "", entry.actor)))
    return (
        (fit(clock_time(entry.when), 10), "dim"),
        (fit(entry.command, 11), "strong"),
        (fit(ack[0], 10), ack[1]),
        (fit(f"{sign} {result}", 12), style),
        (flat(words), "" if entry.outcome != "success" else "dim"),
    )


def control_lines(entry: ControlEntry, width: int) -> list[Line]:
    """Everything known about a request."""
    sign, style = OUTCOMES[entry.outcome]
    acked = clock_time(entry.acked) if entry.acked else "the journal has none"
    answered = clock_time(entry.answered) if entry.answered else "the journal has none"
    return [
        (("REQUEST  ", "dim"), (f"{entry.command} at {clock_time(entry.when)}", "strong")),
        (("by       ", "dim"), (flat(entry.actor or "–"), "")),
        (("reason   ", "dim"), (flat(entry.reason or "–"), "")),
        (("ACK      ", "dim"), (acked, "")),
        (("RESULT   ", "dim"), (answered, "")),
        (("outcome  ", "dim"), (f"{sign} {entry.outcome}", style)),
        (),
        *text_lines(entry.message or "No reply yet.", width),
    ]


def _entry(control: ControlCommand, sent: SentRequest | None, *, owned: bool) -> ControlEntry:
    result, outcome = control.result, str(control.outcome(owned=owned))
    message = result.message if result is not None else ""
    if result is None and sent is not None and sent.state == "unknown":
        outcome, message = "unknown", sent.message
    elif outcome == "unknown":
        message = "the run has no owner: it may or may not have been carried out"
    return ControlEntry(
        request_id=control.request_id,
        command=control.command,
        when=control.requested_at,
        actor=control.actor,
        reason=control.reason,
        acked=control.ack.time if control.ack is not None else None,
        answered=result.time if result is not None else None,
        outcome=outcome,
        message=message if result is None or not result.code else f"{result.code}: {message}",
    )


def _unheard(sent: SentRequest) -> ControlEntry:
    """A request of ours that the journal does not have."""
    return ControlEntry(
        request_id=sent.request_id,
        command=sent.command,
        when=sent.time,
        reason=sent.reason or "",
        outcome=sent.state,
        message=sent.message or sent.notice,
        actor="you",
    )
